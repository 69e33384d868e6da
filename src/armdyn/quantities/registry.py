"""Every quantity by name, and its program. A new one is a file with its record, and a name here.

Torques and mass matrices come from the minimal formulation, whatever follows from them by
differentiation comes from the graph, and kinematics from the pages of `armdyn.formulations`.
"""

from armdyn.compiler.program import Program
from armdyn.errors import check_known
from armdyn.model import RobotModel
from armdyn.quantities import derivatives, energies, equation_terms, kinematics, regressors
from armdyn.quantities.forward_dynamics import FORWARD_DYNAMICS
from armdyn.quantities.inverse_dynamics import INVERSE_DYNAMICS
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.request import Request, check_options
from armdyn.quantities.traced_robot import TracedRobot

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
    check_known("quantity", request.quantity, QUANTITIES)
    quantity = QUANTITIES[request.quantity]
    check_options(request, model, quantity)
    return quantity


def quantity_program(model: RobotModel, request: Request) -> Program:
    """The straight-line program of a quantity.

    Its arguments are those of the quantity, then payload, gravity and wrenches if they are asked
    for.
    """
    quantity = checked(request, model)
    traced = TracedRobot(model, request, quantity.arguments)
    vectors = [traced.vector(name) for name in quantity.arguments]
    return traced.program(quantity.name, lambda: quantity.build(traced, *vectors), traced.inputs)
