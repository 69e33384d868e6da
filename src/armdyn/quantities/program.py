"""Every quantity by name, and the way from a request to its program; each step can be printed.

    record    `checked`: what the request names, with options that this robot can have
    robot     `trace_robot`: numbers as parameters, arguments as inputs of a graph
    written   `Quantity.build`: nodes, with symbols for friction, which is put aside
    short     `shortened`: passes, search and proof
    product   `jacobian_product`, if the request is for a derivative
    program   `TracedRobot.program`: what was aside is put in, and counted apart
    machine   `armdyn.kernels.build`: plan, module and machine code of the program

A new quantity is a record in a file that is named here. Torques and mass matrices come from the
minimal formulation, whatever follows from them by differentiation comes from the graph, and
kinematics from the pages of `armdyn.formulations`.
"""

import gc
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError, check_known, is_one_of
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.quantities import (
    center_of_mass,
    derivatives,
    dynamics,
    elastic,
    free_base,
    kinematics,
    momentum,
    reactions,
    regressors,
)
from armdyn.quantities.derivatives import jacobian_product
from armdyn.quantities.design import check_design
from armdyn.quantities.quantity import Quantity, quantity
from armdyn.quantities.request import Request, check_options
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE
from armdyn.shorten.search import Progress
from armdyn.shorten.shorten import shortened
from armdyn.shorten.shortest import SearchBudget


@quantity(
    symbol="P",
    result="cosine and sine of the angle of each passive joint, or its position [m] and 0",
    shape=("P", 2),
)
def _passive_joints(s: TracedRobot, q: Array) -> Array:
    """Where the passive joints of loops are. Not a number where a loop cannot be closed."""
    found = [(s.model.joints[i], x) for i, x in enumerate(s.nodes(s.here(q).q))]
    passive = [(joint.type.only_turns, x) for joint, x in found if not joint.actuated]
    rows = [(x.cos(), x.sin()) if turns else (x, 0.0) for turns, x in passive]
    return s.nodes(np.array(rows, dtype=object).reshape(-1, 2))


PASSIVE_JOINTS = _passive_joints
"""What kernels are told of a robot whose loops are solved beforehand."""
QUANTITIES: dict[str, Quantity] = {
    record.name: record
    for file in (
        *(dynamics, kinematics, reactions),
        *(regressors, derivatives, momentum, center_of_mass, free_base, elastic),
    )
    for record in vars(file).values()
    if isinstance(record, Quantity)
}


def checked(request: Request, model: RobotModel) -> Quantity:
    """The quantity of a request; an error if this robot has no such quantity or option."""
    if is_one_of(request.quantity, (PASSIVE_JOINTS.name,)) and model.passive:
        return PASSIVE_JOINTS
    check_known("quantity", request.quantity, QUANTITIES)
    quantity = QUANTITIES[request.quantity]
    if not quantity.floats:
        model.check_held()
    reason = quantity.absent(model)
    if not reason:
        check_options(request, model, quantity)
        reason = quantity.refused(model, request.friction)
    if reason:
        raise ModelError(f"{quantity.name} of {model.name!r}: {reason}")
    if request.design:
        check_design(model, request)
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
    checked(request, model)  # what cannot be looked up is refused in words
    make = _program if progress is None else _program.__wrapped__
    return make(model, request, progress, snap)


@lru_cache(maxsize=4)  # it is compiled for one state and for batches, counted and exported
def _program(
    model: RobotModel, request: Request, progress: Progress | None, snap: float
) -> Program:
    quantity = checked(request, model)
    collects = gc.isenabled()
    gc.disable()  # it would look at all nodes again and again: a sixth of the time
    try:
        robot = trace_robot(model, request, progress, snap)
        inputs = robot.inputs
        if request.derivative is None:
            nodes = shortest_nodes(robot, quantity)
        else:
            nodes, inputs = jacobian_product(robot, lambda: shortest_nodes(robot, quantity))
        return robot.program(request.title, nodes, inputs)
    finally:
        if collects:
            gc.enable()


def trace_robot(
    model: RobotModel,
    request: Request,
    progress: Progress | None = None,
    snap: float = ZERO_TOLERANCE,
    as_in_books: bool = False,
) -> TracedRobot:
    """The robot of a request: its numbers as parameters, arguments as inputs of a graph."""
    budget = SearchBudget(request.effort == "deep", progress)
    arguments = checked(request, model).arguments
    return TracedRobot(model, request, arguments, budget=budget, snap=snap, as_in_books=as_in_books)


def shortest_nodes(robot: TracedRobot, quantity: Quantity) -> Array:
    """The entries of a quantity as nodes, friction aside, by the fewest operations.

    What consists of parts that are searched for is short as it is written, and so stays what is
    asked for as a book writes it.
    """
    vectors = [robot.vector(name) for name in quantity.arguments]
    written = quantity.name, lambda: quantity.build(robot, *vectors)
    alone = len(robot.inputs) == len(robot.arguments)
    assembled = quantity.assembled and alone and robot.at.is_linear and robot.at.G is None
    if robot.request.formulation or robot.request.method or assembled or robot.as_in_books:
        return robot.built(*written)
    return shortened(robot.ways(*written), robot.budget.deep)
