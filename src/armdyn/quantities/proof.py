"""The program of a quantity beside the same quantity by textbooks, compared exactly.

A textbook writes the torques by Renaud's recursion, the mass matrix by composite bodies and
accelerations by both; whatever a quantity makes of these, and kinematics, are the same pages.
"""

from typing import Literal

import numpy as np

from armdyn.errors import GraphError
from armdyn.graph.evaluate import HALF_BIT, ROUNDED
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Node
from armdyn.graph.program import Program
from armdyn.graph.visit import reachable, unguarded
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.quantities.program import checked, shortest_nodes, trace_robot
from armdyn.quantities.request import Request
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE
from armdyn.shorten.search import Progress
from armdyn.thresholds import MOST_PROVED_NODES

Proof = Literal["field", "random"]
"""Exactly, over the finite field; or in floats at random states."""

RANDOM_STATES = 16
PROGRAM_ROUNDING = 1e-8
"""Largest difference at random states, relative to the largest entry, that is rounding."""


def proved_program(
    model: RobotModel,
    request: Request,
    progress: Progress | None = None,
    snap: float = ZERO_TOLERANCE,
) -> tuple[Program, Proof]:
    """The program of `quantity_program`, and how it is proved equal to textbooks.

    Over the field symbols are compared, so the proof holds for every robot with the same zeros; at
    random states the program itself is, with the numbers of this robot. A GraphError if they
    differ.
    """
    quantity = checked(request, model)
    ours = trace_robot(model, request, progress, snap)
    outputs = shortest_nodes(ours, quantity)
    program = ours.program(request.quantity, outputs, ours.inputs)
    theirs = trace_robot(model, request, snap=snap, as_in_books=True)
    expected = theirs.whole(shortest_nodes(theirs, quantity).flat)
    # closed forms of loops, and constant mass matrices, are those of the numbers of one robot
    general = ours.at.is_linear and not ours.is_constant
    exact = general and len(reachable(expected)) <= MOST_PROVED_NODES.value
    equal = not exact or proved_equal(unguarded(ours.whole(outputs.flat)), unguarded(expected))
    if not (equal and _agree(model, program, expected)):
        raise GraphError(
            f"the program for {request.quantity} of {model.name!r} is not what it should be; this "
            "is a defect of armdyn, report it with the robot"
        )
    return program, "field" if exact else "random"


def _agree(model: RobotModel, program: Program, expected: list[Node]) -> bool:
    """Whether a program gives the same numbers at random states, but for their rounding.

    Where all entries are differences of terms that cancel, the size of these terms counts.
    """
    draw = np.random.default_rng(0)
    given = [
        coordinates_of(model).drawn(draw, RANDOM_STATES)
        if i.name == "q"
        else draw.uniform(-1.0, 1.0, (RANDOM_STATES, len(i.symbols)))
        for i in program.inputs
    ]
    book = Program.from_outputs(expected, {i.name: i.size for i in program.inputs})
    values = {c.name: c.value or 0.0 for c in book.constants if c.op == "parameter"}
    known = {name: (value, HALF_BIT * value) for name, value in values.items()}
    with np.errstate(all="ignore"):
        found = program(*given).reshape(RANDOM_STATES, -1)
        pairs = book.evaluated([(x, 0.0) for x in np.concatenate(given, -1).T], ROUNDED, known)
        rows = [np.broadcast_arrays(*pair, np.zeros(RANDOM_STATES))[:2] for pair in pairs]
        wanted, rounding = np.stack(rows, -1)
        error = np.nan_to_num(np.abs(found - wanted))
        size = np.nan_to_num(np.maximum(np.abs(wanted), rounding / HALF_BIT))
    alike = np.array_equal(np.isnan(found), np.isnan(wanted))
    return alike and bool(error.max(initial=0.0) <= PROGRAM_ROUNDING * size.max(initial=0.0))
