"""A robot about to be traced: its inputs as nodes, its numbers as parameters, and its forms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.forks import cached_property
from armdyn.formulations.coordinates import StandingMap
from armdyn.formulations.rotors import rotor_inertias
from armdyn.graph.differentiate import gradient, jvp
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.trace import trace
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.regroup import regrouped
from armdyn.model import RobotModel
from armdyn.model.edit import without_rounding
from armdyn.quantities.quantity import ARGUMENTS, WRENCH
from armdyn.quantities.recursion import Turning, moving
from armdyn.quantities.request import Request
from armdyn.shorten.branch import Branch
from armdyn.shorten.canonical.frames import (
    ZERO_TOLERANCE,
    CanonicalRobot,
    canonical,
    with_tip_phase,
)
from armdyn.shorten.run_time import loaded, weighed
from armdyn.shorten.shortest import QUICK, SearchBudget
from armdyn.shorten.symbolic import symbolic

NUMBERS = ("payload", "gravity", "base_motion")
"""Options that are arguments at run time, after those of the quantity."""


@dataclass(eq=False)
class TracedModel:
    """The robot of a request in a graph of its own, in the forms that quantities are made of.

    Vectors of the coordinates are nodes of shape (n,); what the formulations take and give belongs
    to all N moving joints, and `at` goes between the two.
    """

    model: RobotModel
    request: Request
    arguments: tuple[str, ...] = ()
    """The vectors of coordinates that the quantity is a function of."""
    graph: Graph = field(default_factory=Graph)
    budget: SearchBudget = QUICK
    snap: float = ZERO_TOLERANCE
    """What counts as an exact zero or quarter turn, see `canonical`."""

    def __post_init__(self) -> None:
        self.at = coordinates_of(self.model)
        self.n = len(self.model.independent)
        self.put_aside: dict[str, Node] = {}
        """Terms by the names of the symbols that stand for them: those of friction, and positions
        of passive joints that are solved for. A term may have symbols of earlier ones in it."""
        self.frictional: set[str] = set()
        """Names of the symbols that stand for friction, which is counted apart."""
        self.in_plane = False
        """Whether torques are written in axes of the plane that all links move in."""
        self._cut: dict[bool, tuple[Branch, ...]] = {}
        self._stood: dict[tuple[int, ...], StandingMap] = {}

    @cached_property
    def inputs(self) -> dict[str, int]:
        """Length of each argument, in order."""
        numbers = [name for name in NUMBERS if getattr(self.request, name)]
        sizes = {name: ARGUMENTS[name].length(self.n) for name in (*self.arguments, *numbers)}
        sizes |= {wrench_name(link): WRENCH.size or 0 for link in self.request.wrench}
        return sizes | ({"passive": 2 * len(self.model.passive)} if self.request.solved else {})

    @property
    def is_plain(self) -> bool:
        """Whether there are neither coupled joints nor arguments besides those of the quantity."""
        return self.at.is_identity and len(self.inputs) == len(self.arguments)

    def here(self, q: Array) -> StandingMap:
        """The map between coordinates and all joints at positions that are nodes."""
        key = tuple(node.index for node in self.nodes(q))
        if key not in self._stood:
            passive = self.vector("passive") if self.request.solved else None
            self._stood[key] = here = self.at.at(q, passive)
            self.put_aside |= here.solved
        return self._stood[key]

    def positions(self, q: Array) -> list[Node]:
        """The coordinates, and the symbols of passive joints that have some there."""
        return [*q, *self.here(q).unknown]

    def by_positions(self, outputs: Iterable[Node], q: Array) -> Array:
        """The derivatives of nodes by coordinates that are symbols, (m, n)."""
        nodes = list(outputs)
        columns = [self.along(nodes, q, list(unit)) for unit in np.eye(len(q))]
        found = np.empty((len(nodes), len(q)), dtype=object)
        for j, column in enumerate(columns):
            found[:, j] = column
        return found

    def along(self, outputs: Sequence[Node], q: Array, dq: Sequence[Any]) -> list[Node]:
        """The derivatives of nodes along a direction of coordinates that are symbols."""
        here, direction = self.here(q), list(dq)
        if here.unknown:
            direction += list(self.nodes(here.slopes @ np.array(direction, dtype=object)))
        return jvp(outputs, self.positions(q), direction)

    def gradient(self, output: Node, q: Array) -> Array:
        """The derivatives of one node by coordinates that are symbols, (n,)."""
        here, found = self.here(q), np.array(gradient(output, self.positions(q)), dtype=object)
        if not here.unknown:
            return found
        return self.nodes(found[: len(q)] + found[len(q) :] @ here.slopes)

    @property
    def solved_at(self) -> list[tuple[Array, StandingMap]]:
        """Where passive joints are solved for, with the coordinates there."""
        return [
            (np.array([self.graph.nodes[k] for k in key], dtype=object), here)
            for key, here in self._stood.items()
            if here.unknown
        ]

    def vector(self, name: str) -> Array:
        """An argument as nodes."""
        return self.graph.inputs(name, self.inputs[name])

    @cached_property
    def zero(self) -> Array:
        """Coordinates at rest."""
        return np.zeros(self.n)

    # the robot in its forms

    @cached_property
    def numbers(self) -> CanonicalRobot:
        """The robot in canonical frames."""
        return with_tip_phase(canonical(regrouped(self.model), self.snap))

    @cached_property
    def runtime(self) -> CanonicalRobot | None:
        """The robot with symbols for numbers that are arguments; None if there are none."""
        if not (self.request.payload or self.request.gravity):
            return None
        robot = symbolic(canonical(self.model), self.graph)
        if self.request.gravity:
            still = canonical(replace(self.model, gravity=frozen(np.zeros(3))))
            robot = weighed(self.model, symbolic(still, self.graph), self.vector("gravity"))
        if self.request.payload:
            robot = loaded(self.model, robot, self.vector("payload"))
        return robot

    @cached_property
    def plain(self) -> RobotModel:
        """The model with zeros where conversions left rounding, so that they fold."""
        return without_rounding(self.model)

    @property
    def described(self) -> RobotModel:
        """The plain model as it stands, with the arguments that are not inertias in it."""
        return self.standing[0]

    @cached_property
    def standing(self) -> tuple[RobotModel, Turning]:
        """The robot as `described`, and how its base turns."""
        model = self.plain
        if self.request.gravity:
            model = replace(model, gravity=self.vector("gravity"))
        if not self.request.base_motion:
            return model, None
        return moving(model, self.vector("base_motion"))

    @cached_property
    def rotors(self) -> Array:
        """Inertias in the order of `rotor_inertias` as parameters; zero stays a number."""
        nodes = []
        for i, inertia in enumerate(rotor_inertias(self.model).tolist(), start=1):
            nodes.append(self.graph.parameter(f"Ia{i}") if inertia else self.graph.number(0))
            self.graph.values |= {f"Ia{i}": inertia} if inertia else {}
        return np.array(nodes, dtype=object)

    def stand_in(self, term: Node, graph: Graph, *, frictional: bool) -> Node:
        """A symbol in a graph for a term that is put in at the end."""
        symbol = graph.input(f"aside {len(self.put_aside)}")
        self.put_aside[symbol.name] = term
        self.frictional |= {symbol.name} if frictional else set()
        return symbol

    def nodes(self, values: Array) -> Array:
        """Every entry a node."""
        return trace(self.graph, lambda: values)


def wrench_name(link: str) -> str:
    """Name of the argument that is the wrench on a link."""
    return f"wrench on {link!r}"
