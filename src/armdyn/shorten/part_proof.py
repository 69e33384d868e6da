"""Parts beside textbooks: Renaud's recursion for torques, composite bodies for the mass matrix.

And what rounding does to them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.graph.evaluate import ROUNDED
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Node, trace
from armdyn.graph.program import Program
from armdyn.graph.visit import unguarded
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.canonical.model import model_from_canonical
from armdyn.shorten.parts import Part, PartWriter
from armdyn.shorten.symbolic import entries

SMALLEST_OUTPUT = 1e-3
"""Size of an output, relative to the largest, below which it is compared as if it had this size."""
MOST_PLAIN_JOINTS = 24
"""Joints beyond which the Coriolis torques of a random state are so large that the torques which
accelerations shall cause are rounding beside them."""
EXPECTED_ROUNDING = 1e-12
"""Largest standard deviation of the rounding of an output, relative to its largest value, that is
no loss of digits; a hundred operations that divide by nothing have 1e-15."""
MOST_LOST = 100.0
"""How many times that of a program which divides by no constant it may be beyond."""
COMPARED_STATES = 8
"""Random states at which floats are compared and rounding is expected."""


def exact(robot: CanonicalRobot, part: Part, outputs: list[Node]) -> bool:
    """Whether the outputs are those of a textbook, for every robot with the same pattern."""
    writer = PartWriter(robot, outputs[0].graph)
    found = np.array(unguarded(outputs), dtype=object)
    states = {name: writer.vector(name) for name in part.vectors}
    model = model_from_canonical(writer.symbols)
    sides = trace(
        writer.graph,
        lambda: np.stack(_equation(model, part, states, found, writer.rotors(part))),
    )
    return proved_equal(sides[0], sides[1])


def difference(program: Program, robot: CanonicalRobot, part: Part, rotors: Array) -> float:
    """How far a program is from a textbook for a prepared robot of numbers.

    Over some random states, relative to the largest of each output; rotors are their inertias.
    """
    n, (states, known) = len(robot.links), _random_states(robot, part, rotors)
    with np.errstate(all="ignore"):
        values = program.evaluated([known[k] for k in program.symbols], parameters=known)
        found = np.stack([np.broadcast_to(x, COMPARED_STATES) for x in values], -1)
        model = model_from_canonical(robot, float)
        ours, theirs = _equation(model, part, states, found, np.asarray(rotors))
        size = np.abs(theirs).max(axis=0)
        if part.name == "forward_dynamics" and n > MOST_PLAIN_JOINTS:
            rest, _ = _equation(model, part, states, np.zeros((1, n)), np.asarray(rotors))
            size = np.maximum(size, np.abs(rest).max(axis=0))
        size = np.maximum(size, SMALLEST_OUTPUT * size.max(initial=0.0))
        error = np.abs(ours - theirs).max(axis=0) / np.where(size, size, 1.0)
    return float(np.nan_to_num(error, nan=np.inf).max(initial=0.0))


def keeps_digits(
    program: Program,
    robot: CanonicalRobot,
    part: Part,
    rotors: Array,
    undivided: Callable[[], Program],
) -> bool:
    """Whether a program loses no digits by divisions, for a prepared robot of numbers.

    Either each output is expected to have nearly all digits, or not many less than in a program
    that divides by no constant. What rounding is expected, not what rounding there is: the last
    bits of the numbers, and of a processor, have no say in which program is taken.
    """
    known = _random_states(robot, part, rotors)[1]
    size, error = _expected_rounding(program, known)
    lost = error > EXPECTED_ROUNDING * np.maximum(size, SMALLEST_OUTPUT * size.max(initial=0.0))
    if not lost.any():
        return True
    least = _expected_rounding(undivided(), known)[1]
    return bool(np.all(error[lost] <= MOST_LOST * least[lost]))


def _expected_rounding(program: Program, known: Mapping[str, Any]) -> tuple[Array, Array]:
    """The largest value of each output over random states, and of its expected rounding."""
    with np.errstate(all="ignore"):
        inputs = [(known[name], 0.0) for name in program.symbols]
        parameters = {name: (known[name], 0.0) for name in program.parameters}
        pairs = program.evaluated(inputs, ROUNDED, parameters)
        largest = np.array([[np.max(np.abs(x)) for x in pair] for pair in pairs]).reshape(-1, 2)
    return np.nan_to_num(largest[:, 0]), np.nan_to_num(largest[:, 1], nan=np.inf)


def _random_states(
    robot: CanonicalRobot, part: Part, rotors: Array
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Vectors of random states, and the values of all leaves of a program there."""
    n, draw = len(robot.links), np.random.default_rng(0)
    states = {name: draw.uniform(-1.0, 1.0, (COMPARED_STATES, n)) for name in part.vectors}
    known = entries(robot) | {f"Ia{i + 1}": value for i, value in enumerate(rotors)}
    known |= {f"{name}{i + 1}": v[:, i] for name, v in states.items() for i in range(n)}
    return states, known


def _equation(
    model: RobotModel, part: Part, states: Mapping[str, Array], found: Array, rotors: Array
) -> tuple[Array, Array]:
    """Two vectors that are equal if what was found is right, by textbook formulations."""
    q, n = states["q"], len(model.joints)
    if part.name == "mass_matrix":
        rows, columns = np.tril_indices(n)
        return found, mass_matrix(model, q)[..., rows, columns]
    if part.name == "forward_dynamics":
        tau = augmented_body(model, q, states["qd"], found).tau
        return tau + rotors * found, states["tau"]
    rest = np.zeros(n)
    return found, augmented_body(model, q, states.get("qd", rest), states.get("qdd", rest)).tau
