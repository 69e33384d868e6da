"""Every quantity by name, and its program. A new one is a record in a file that is named here.

Torques and mass matrices come from the minimal formulation, whatever follows from them by
differentiation comes from the graph, and kinematics from the pages of `armdyn.formulations`.
"""

from functools import lru_cache

from armdyn.arrays import Array
from armdyn.errors import check_known
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.quantities import (
    cartesian,
    configuration_space,
    derivatives,
    equation_terms,
    forward_dynamics,
    inverse_dynamics,
    kinematics,
    momentum,
    reactions,
    regressors,
)
from armdyn.quantities.implicit import implicit_program, solves_short_chains
from armdyn.quantities.passive_joints import PASSIVE_JOINTS
from armdyn.quantities.products import product_program
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.request import Request, check_options
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE
from armdyn.shorten.search import Progress
from armdyn.shorten.shortest import SearchBudget

QUANTITIES: dict[str, Quantity] = {
    record.name: record
    for file in (
        *(inverse_dynamics, forward_dynamics, equation_terms, configuration_space),
        *(kinematics, cartesian, reactions, regressors, derivatives, momentum),
    )
    for record in vars(file).values()
    if isinstance(record, Quantity)
}


def checked(request: Request, model: RobotModel) -> Quantity:
    """The quantity of a request; an error if this robot has no such quantity or option."""
    if request.quantity == PASSIVE_JOINTS.name and model.passive:
        return PASSIVE_JOINTS
    check_known("quantity", request.quantity, QUANTITIES)
    quantity = QUANTITIES[request.quantity]
    check_options(request, model, quantity)
    return quantity


def quantity_program(
    model: RobotModel,
    request: Request,
    progress: Progress | None = None,
    snap: float = ZERO_TOLERANCE,
) -> Program:
    """The program of a quantity: the one that is counted, proved, compiled and exported.

    Its arguments are those of the quantity, then payload, gravity and wrenches if they are asked
    for, then those of `products` if the request has a derivative. It depends on the robot, the
    request and the version of armdyn alone. `progress` is told of a deep search; `snap` is what
    counts as an exact zero, see `canonical`.
    """
    checked(request, model)
    make = _recent if progress is None else _program
    return make(model, request, progress, snap)


def _program(
    model: RobotModel, request: Request, progress: Progress | None, snap: float
) -> Program:
    if request.derivative is not None:
        traced = _traced(model, request, progress, snap)
        if solves_short_chains(traced):
            return implicit_program(traced)
    traced, outputs = traced_quantity(model, request, progress, snap)
    if request.derivative is not None:
        return product_program(traced, outputs)
    return traced.program(request.quantity, outputs, traced.inputs)


_recent = lru_cache(maxsize=4)(_program)
"""One program is compiled for one state and for batches, counted and exported."""


def traced_quantity(
    model: RobotModel,
    request: Request,
    progress: Progress | None,
    snap: float,
    form: type[TracedRobot] = TracedRobot,
) -> tuple[TracedRobot, Array]:
    """A quantity as nodes, with the robot that they belong to."""
    traced, quantity = _traced(model, request, progress, snap, form), checked(request, model)
    vectors = [traced.vector(name) for name in quantity.arguments]
    whole = request.formulation is None and not (quantity.assembled and traced.is_plain)
    outputs = traced.outputs(
        quantity.name,
        lambda: quantity.build(traced, *vectors),
        whole=whole and form is TracedRobot,
    )
    return traced, outputs


def _traced(
    model: RobotModel,
    request: Request,
    progress: Progress | None,
    snap: float,
    form: type[TracedRobot] = TracedRobot,
) -> TracedRobot:
    arguments = checked(request, model).arguments
    budget = SearchBudget(request.effort == "deep", progress)
    return form(model, request, arguments, budget=budget, snap=snap)
