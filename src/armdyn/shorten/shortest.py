"""The shortest programs known for the parts that quantities are made of.

A part (torques of links, their mass matrix, their accelerations) is searched for on a robot that
stands for all with the same pattern of zeros: the choices of the minimal formulation are searched
for the lowest count, the graph is shortened, and the result is proved equal to Renaud's recursion
or to composite bodies on the same symbols, and looked at for what rounding does to it. So a program
depends on pattern and effort alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache, partial
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import GraphError
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.solve import solve_ltdl
from armdyn.graph.count import count
from armdyn.graph.evaluate import ROUNDED
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Graph, Node, trace
from armdyn.graph.program import Program
from armdyn.graph.visit import unguarded
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.choice_search import searched_choices, searched_origins
from armdyn.shorten.constant import constant_mass_matrix, product
from armdyn.shorten.minimal.options import options
from armdyn.shorten.parts import BIAS, MASS_MATRIX, WEIGHT, Part, PartWriter, guarded
from armdyn.shorten.program_store import key_of, shipped, user_programs
from armdyn.shorten.run_time import heavier, weightless
from armdyn.shorten.search import Progress
from armdyn.shorten.shorten import shortest_of
from armdyn.shorten.symbolic import entries, generic, pattern, symbolic, valued
from armdyn.thresholds import (
    FEWEST_ARTICULATED,
    MOST_COMPOSITE,
    MOST_PROVED_JOINTS,
    SEARCHED_JOINTS,
)

RANDOM_ROUNDING = 1e-8
"""Largest difference to a textbook in floats, relative to the largest of each output, where that
is the only proof."""
SMALL_COUNT, TRIED_OF_SMALL, TRIED_IN_DEEP_SEARCH = 300, 4, 12
"""How many of the best points of a search are shortened, which may order them anew: four where
the count is at most 300, twelve in a deep search, one otherwise."""
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
MOST_PROGRAMS = 100
"""Programs of parts that a process keeps; one of a thousand operations has about 150 kB."""


@record
class SearchBudget:
    """How hard to look."""

    deep: bool = False
    """Whether to anneal after the descent: minutes instead of tenths of a second."""
    progress: Progress | None = None
    """Told steps done, steps in all and the lowest count so far of a deep search."""


QUICK = SearchBudget()


_programs: dict[tuple[str, bool], Program] = {}
"""Programs of this process, by their keys and whether the search was deep; the oldest first."""


def _once(key: tuple[str, bool], search: Callable[[], Program]) -> Program:
    """A program that is looked for once, as long as it is not one of too many."""
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = search()
        for oldest in list(_programs)[:-MOST_PROGRAMS]:
            _programs.pop(oldest, None)
    return program


def shortest(robot: CanonicalRobot, part: Part, budget: SearchBudget = QUICK) -> Program:
    """The program of a part for a prepared robot of numbers, and for all with its pattern."""
    key = key_of(asdict(part), pattern(robot))

    def search() -> Program:
        kept = user_programs() if budget.deep else None
        program = shipped(key) or (kept.find(key) if kept else None)
        if program is None:
            program = searched(generic(robot), part, budget)
            if kept:
                kept.store(key, program)
        return program

    return _once((key, budget.deep), search)


def shortest_sound(
    robot: CanonicalRobot, part: Part, budget: SearchBudget, rotors: Array
) -> Program:
    """The shortest program that computes a part of a prepared robot without loss of digits.

    The program of a pattern may divide by a number that is not zero but nearly so in this robot.
    Then one is searched for that looks at the numbers, and at last there is one that divides by no
    constant. Rotors are their inertias.
    """
    undivided = cache(partial(_undivided, robot, part))
    for way in (shortest, _searched_for_numbers):
        program = way(robot, part, budget)
        if keeps_digits(program, robot, part, rotors, undivided):
            return program
    return undivided()


def _searched_for_numbers(robot: CanonicalRobot, part: Part, budget: SearchBudget) -> Program:
    key = key_of([asdict(part), list(entries(robot).values())], pattern(robot))
    return _once((key, budget.deep), partial(searched, robot, part, budget))


def _undivided(robot: CanonicalRobot, part: Part) -> Program:
    """A longer program that divides by no constant."""
    writer = PartWriter(generic(robot))
    choices = options(writer.robot).start
    for i in range(len(robot.links)):
        choices = choices.with_link(i, tangent=False)
    if part.name == "torques":
        return writer.recorded(part, writer.torques(part, choices))
    if part.name == "forward_dynamics" and max(map(len, robot.paths)) > MOST_COMPOSITE.value:
        return writer.recorded(part, writer.articulated(part, choices))
    M = writer.mass_matrix()
    if part.name == "mass_matrix":
        return writer.recorded(part, M)
    return writer.recorded(part, writer.solved(part, M, writer.torques(BIAS, choices)))


def searched(robot: CanonicalRobot, part: Part, budget: SearchBudget) -> Program:
    """The program of a part found by a search on a robot of numbers, and proved."""
    writer = PartWriter(robot)
    long = len(robot.links) > SEARCHED_JOINTS.value and not budget.deep
    ways = _ways(writer, part, budget, long)
    if long:
        outputs = min(ways, key=lambda way: count(way).total)
    else:
        outputs = shortest_of(ways, budget.deep, budget.progress)
    program = writer.recorded(part, outputs)
    if len(robot.links) <= MOST_PROVED_JOINTS.value:
        proved = exact(robot, part, outputs)
    else:
        rotors = np.array(part.rotors, dtype=float)
        proved = difference(program, robot, part, rotors) <= RANDOM_ROUNDING
    if not proved:
        raise GraphError(
            f"the program for {part.name} of {robot.name!r} is not what it should be; this is a "
            "defect of armdyn, report it with the robot"
        )
    return program


def _ways(writer: PartWriter, part: Part, budget: SearchBudget, long: bool) -> list[list[Node]]:
    """A part by the choices that are best before it is shortened; of a long robot by few of them.

    Accelerations are written by the mass matrix and by articulated bodies.
    """
    robot, tried = writer.robot, TRIED_IN_DEEP_SEARCH if budget.deep else 1
    if part.name == "torques":
        if long:
            return [writer.torques(part, options(robot).quick)]
        found = searched_choices(robot, part.vectors, deep=budget.deep, progress=budget.progress)
        if found[0][1] <= SMALL_COUNT:
            tried = max(tried, TRIED_OF_SMALL)
        return [writer.torques(part, choices) for choices, _ in found[:tried]]
    if part.name == "mass_matrix":
        best = searched_origins(robot, "mass_matrix")
        return [writer.mass_matrix(choices) for choices, _ in best[:tried]]
    depth, ways = max(map(len, robot.paths)), []
    if depth <= MOST_COMPOSITE.value:
        # without gravity there are fewer parameters
        light, none = regroup(weightless(writer.symbols)), np.zeros(0)
        M = writer.replayed(shortest_sound(valued(light), MASS_MATRIX, budget, none), light)
        bias = writer.replayed(shortest_sound(robot, BIAS, budget, none))
        ways.append(writer.solved(part, M, bias))
    if depth >= FEWEST_ARTICULATED.value:
        choices, _ = searched_origins(robot, "forward_dynamics", part.rotors)[0]
        ways.append(writer.articulated(part, choices))
    return ways


# parts beside textbooks


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


# parts of a robot


@record
class BaseBranch:
    """The links that one joint on the base carries, their numbers parameters of a graph."""

    members: list[int]
    """The places of its links in the robot."""
    numbers: CanonicalRobot
    """Its numbers, prepared for `shortest`."""
    symbols: dict[str, Any]
    """Its entries in the graph, by the names of parameters."""
    matrix: Array | None
    """Its mass matrix, if that is the same in every configuration."""
    book: RobotModel | None = None
    """The links as textbooks take them, where parts are written as these do."""

    @staticmethod
    def all_of(robot: CanonicalRobot, graph: Graph) -> "tuple[BaseBranch, ...]":
        """The branches of a robot of numbers."""
        parts = ((m, regroup(part)) for m, part in branches(symbolic(robot, graph)).items())
        numbered = (([*members], valued(part), entries(part)) for members, part in parts)
        return tuple(BaseBranch(*three, constant_mass_matrix(three[1])) for three in numbered)

    @staticmethod
    def of_books(robot: CanonicalRobot) -> "tuple[BaseBranch, ...]":
        """The branches of a robot of nodes, whose parts are written as in textbooks."""
        parts = branches(robot).items()
        return tuple(BaseBranch([*m], x, {}, None, model_from_canonical(x)) for m, x in parts)

    def times(self, factor: float) -> "BaseBranch":
        """The branch with inertias multiplied by a number."""
        if self.book is not None:
            return replace(self, book=model_from_canonical(heavier(self.numbers, factor)))
        symbols = {k: factor * v if k[0] in "JM" else v for k, v in self.symbols.items()}
        matrix = None if self.matrix is None else factor * self.matrix
        return replace(self, symbols=symbols, matrix=matrix)

    def shortest(
        self, part: Part, vectors: Mapping[str, Array], rotors: Array, budget: SearchBudget
    ) -> list[Node]:
        """The shortest program of a part, on vectors and inertias of rotors of the whole robot.

        Or the part as textbooks write it, if the branch is of books.
        """
        if self.book is not None:
            state = {name: vector[self.members] for name, vector in vectors.items()}
            none = np.zeros(len(self.members))
            return list(_equation(self.book, part, state, none, rotors[self.members])[1])
        leaves, own = dict(self.symbols), rotors[self.members]
        for k, i in enumerate(self.members, start=1):
            leaves |= {f"{name}{k}": vectors[name][i] for name in part.vectors}
            leaves[f"Ia{k}"] = rotors[i]
        graph: Graph = rotors[0].graph
        searched = part if self.matrix is None else WEIGHT
        felt = [graph.values.get(rotor.name, 0.0) for rotor in own] if searched.rotors else []
        program = shortest_sound(self.numbers, searched, budget, np.array(felt))
        outputs = program.nodes(graph, leaves)
        if self.matrix is None:
            return outputs
        if part.name == "mass_matrix":
            return [graph.number(x) for x in self.matrix[np.tril_indices(len(own))].tolist()]
        if part.name == "forward_dynamics":
            tau = np.array([leaves[f"tau{k}"] for k in range(1, len(own) + 1)]) - np.array(outputs)
            M = self.matrix + np.diag(own)
            paths = self.numbers.paths
            return list(trace(graph, lambda: solve_ltdl(paths, M, tau, guarded(graph))))
        if "qdd" not in part.vectors:
            return outputs
        moved = product(self.matrix)
        leaves |= {c.name: c.value for c in moved.constants if c.op == "parameter"}
        return [a + b for a, b in zip(moved.nodes(graph, leaves), outputs, strict=True)]
