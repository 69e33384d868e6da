"""Every quantity by name, and its program. A new one is a record in a file that is named here.

Torques and mass matrices come from the minimal formulation, whatever follows from them by
differentiation comes from the graph, and kinematics from the pages of `armdyn.formulations`.
"""

from armdyn.compiler.program import Program
from armdyn.errors import check_known
from armdyn.model import RobotModel
from armdyn.quantities import (
    cartesian,
    configuration_space,
    derivatives,
    equation_terms,
    forward_dynamics,
    inverse_dynamics,
    kinematics,
    regressors,
)
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.request import Request, check_options
from armdyn.quantities.traced_robot import TracedRobot

QUANTITIES: dict[str, Quantity] = {
    record.name: record
    for file in (
        *(inverse_dynamics, forward_dynamics, equation_terms, configuration_space),
        *(kinematics, cartesian, regressors, derivatives),
    )
    for record in vars(file).values()
    if isinstance(record, Quantity)
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
