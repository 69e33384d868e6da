"""Every quantity by name. A new one is a file with its record, and a name here."""

from armdyn.errors import ModelError, UnknownNameError
from armdyn.model import RobotModel
from armdyn.quantities import derivatives, energies, equation_terms, kinematics, regressors
from armdyn.quantities.forward_dynamics import FORWARD_DYNAMICS
from armdyn.quantities.inverse_dynamics import INVERSE_DYNAMICS
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.request import OPTIONS, Request

QUANTITIES: dict[str, Quantity] = {
    quantity.name: quantity
    for quantity in (
        INVERSE_DYNAMICS,
        FORWARD_DYNAMICS,
        equation_terms.MASS_MATRIX,
        equation_terms.CORIOLIS_MATRIX,
        equation_terms.CORIOLIS_VECTOR,
        equation_terms.GRAVITY_VECTOR,
        equation_terms.BIAS,
        equation_terms.FRICTION_TORQUE,
        equation_terms.LEDGER,
        energies.KINETIC_ENERGY,
        energies.POTENTIAL_ENERGY,
        kinematics.FORWARD_KINEMATICS,
        kinematics.JACOBIAN,
        kinematics.JACOBIAN_DOT,
        regressors.REGRESSOR,
        regressors.BASE_REGRESSOR,
        derivatives.INVERSE_DYNAMICS_DERIVATIVES,
        derivatives.INVERSE_DYNAMICS_SLOPE,
        derivatives.FORWARD_DYNAMICS_DERIVATIVES,
    )
}


def checked(request: Request, model: RobotModel) -> Quantity:
    """The quantity of a request; an error if this robot has no such quantity or option."""
    if request.quantity not in QUANTITIES:
        raise UnknownNameError("quantity", request.quantity, QUANTITIES)
    quantity = QUANTITIES[request.quantity]
    request.check_truths()
    offered = (*quantity.options, "friction")
    for name, option in OPTIONS.items():
        if not option.is_given(request):
            continue
        if name not in offered:
            raise ModelError(
                f"{request.quantity} has no option {name!r}; it has {', '.join(offered)}"
            )
        option.check(request, model, quantity)
    return quantity
