"""The parts that quantities are made of, as the minimal formulation writes them.

A part belongs to the links of a robot on one base joint, in canonical frames, with the fewest
inertial parameters.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.forks import cached_property
from armdyn.formulations.solve import Guard, solve_ltdl
from armdyn.graph.nodes import Graph, Node, trace
from armdyn.graph.program import Program
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.minimal.articulated import minimal_articulated_body
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.mass import minimal_mass_matrix
from armdyn.shorten.minimal.torques import minimal
from armdyn.shorten.symbolic import entries, symbolic


@record
class Part:
    """A function of joint vectors that is searched for."""

    name: str
    """One of "torques", "mass_matrix" and "forward_dynamics"."""
    vectors: tuple[str, ...]
    """The joint vectors that it is a function of."""
    rotors: tuple[bool, ...] = ()
    """Which joints have rotors whose inertia is in it, as parameters Ia1, Ia2, ..."""


TORQUES, BIAS, WEIGHT = (Part("torques", ("q", "qd", "qdd")[:k]) for k in (3, 2, 1))
"""Torques of a motion; without acceleration; at rest."""
MASS_MATRIX = Part("mass_matrix", ("q",))
"""The lower triangle, row by row."""


def forward_dynamics(rotors: Iterable[Any]) -> Part:
    """Accelerations, with the rotors whose inertia, or truth that there is one, is not zero."""
    return Part("forward_dynamics", ("q", "qd", "tau"), tuple(bool(x) for x in rotors))


@dataclass(eq=False)
class PartWriter:
    """Writes parts of a prepared robot of numbers into a graph, its numbers as parameters.

    Such a robot has base parameters alone, and its last links are turned.
    """

    robot: CanonicalRobot
    graph: Graph = field(default_factory=Graph)

    @cached_property
    def symbols(self) -> CanonicalRobot:
        """The robot of parameters."""
        return symbolic(self.robot, self.graph)

    def vector(self, name: str) -> Array:
        """A joint vector."""
        return self.graph.inputs(name, len(self.robot.links))

    def rotors(self, part: Part) -> Array:
        """Inertias of rotors; zero where a joint has none."""
        some = enumerate(part.rotors, start=1)
        return np.array(
            [self.graph.parameter(f"Ia{i}") if there else 0.0 for i, there in some], dtype=object
        )

    def torques(self, part: Part, choices: Choices) -> list[Node]:
        """Torques by the minimal formulation."""
        given = {name: self.vector(name) for name in part.vectors}
        q = given["q"]
        qd = given.get("qd", 0.0)
        qdd = given.get("qdd", 0.0)
        return list(trace(self.graph, lambda: minimal(self.symbols, q, qd, qdd, choices).tau))

    def mass_matrix(self, choices: Choices | None = None) -> list[Node]:
        """The lower triangle of the mass matrix."""
        M = trace(self.graph, lambda: minimal_mass_matrix(self.symbols, self.vector("q"), choices))
        return list(M[np.tril_indices(len(M))])

    def solved(self, part: Part, lower: list[Node], bias: list[Node]) -> list[Node]:
        """Accelerations from the mass matrix and the torques without acceleration."""
        M = symmetric(lower) + np.diag(self.rotors(part))
        tau = self.vector("tau") - np.array(bias, dtype=object)
        paths = self.robot.paths
        return list(trace(self.graph, lambda: solve_ltdl(paths, M, tau, guarded(self.graph))))

    def articulated(self, part: Part, choices: Choices) -> list[Node]:
        """Accelerations by articulated bodies."""
        q, qd, tau = map(self.vector, part.vectors)
        given = q, qd, tau, self.rotors(part), guarded(self.graph)
        bodies = partial(minimal_articulated_body, self.symbols, *given)
        return list(trace(self.graph, lambda: bodies(choices=choices)))

    def recorded(self, part: Part, outputs: list[Node]) -> Program:
        """The program of a part, as it is kept: with symbols for the numbers of the robot."""
        inputs = dict.fromkeys(part.vectors, len(self.robot.links))
        return Program.from_outputs(outputs, inputs, as_recorded=True)

    def replayed(self, program: Program, symbols: CanonicalRobot | None = None) -> list[Node]:
        """A program on the parameters of this robot, or of another one in the same graph."""
        known = {name: self.graph.input(name) for name in program.symbols}
        known |= {
            c.name: self.graph.parameter(c.name) for c in program.constants if c.op == "parameter"
        }
        return program.nodes(self.graph, known | entries(symbols or self.symbols))


def guarded(graph: Graph) -> Guard:
    """The guard of pivots that are nodes of a graph, or numbers."""
    return lambda *pair: graph.guard(*trace(graph, lambda: np.array(pair, dtype=object)))


def symmetric(lower: Sequence[Any] | Array) -> Array:
    """The matrix of a lower triangle, row by row."""
    n = math.isqrt(2 * len(lower))
    M = np.empty((n, n), dtype=object)
    rows, columns = np.tril_indices(n)
    M[rows, columns] = M[columns, rows] = lower
    return M
