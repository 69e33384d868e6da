"""A search over the choices of the minimal formulation, by counts that need no graph."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SingularityError
from armdyn.graph.values import Definitions, ValueTable
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.minimal.articulated import minimal_articulated_body
from armdyn.shorten.minimal.axes import Scalar
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.constants import Constants, Units, constants_of_reduced, reduced
from armdyn.shorten.minimal.mass import minimal_mass_matrix
from armdyn.shorten.minimal.options import is_flat, options
from armdyn.shorten.minimal.torques import LinkLoad, MovingLink, Rate, inward, states_of_joints
from armdyn.shorten.search import POINTS_TRIED, Progress, search
from armdyn.shorten.symbolic import symbolic
from armdyn.thresholds import SEARCHED_ORIGINS

T = TypeVar("T")


class Prices:
    """The operations of the torques of one robot, as a function of the choices.

    The motion of a link depends on its own choices and the motion of its parent, its wrench on its
    own choices and the wrenches it carries: values that are the same however they are computed. So
    a link whose choices, constants and neighbours' values were met before is not traced again.
    """

    def __init__(self, robot: CanonicalRobot, table: ValueTable, q: Array, qd: Rate, qdd: Rate):
        """Take a robot and its state, whose entries are values of a table."""
        self.robot = robot
        self.table = table
        self.states = states_of_joints(robot, q, qd, qdd)
        self.flat = [is_flat(robot, i) for i in range(len(robot.links))]
        self._met: dict[Hashable, tuple[Any, Definitions]] = {}
        self._traces: list[Definitions] = []
        self._reduced: dict[Hashable, CanonicalRobot] = {}
        self._fixed: dict[Hashable, tuple[list[Constants], Units]] = {}

    def __call__(self, choices: Choices) -> int:
        """Multiplications and additions, equal values being computed once."""
        self._traces = []
        return self.table.count(self.torques(choices), self._traces)

    def torques(self, choices: Choices) -> list[Scalar]:
        """The torques, and on the way their definitions, a link at a time."""
        robot, fixed, units = self._constants(choices)
        links: list[MovingLink] = []
        for i, (link, choice) in enumerate(zip(robot.links, choices.links, strict=True)):
            up = links[link.parent] if link.parent >= 0 else None
            seen = up if up is None or self.flat[i] else (up.rates, up.al)
            key = i, choice.outward, fixed[i].outward, units, seen
            moved = self._once(key, MovingLink, link, choice, fixed[i], units, up, self.states[i])
            links.append(moved)
        carried: list[tuple[LinkLoad, ...]] = [()] * len(links)
        torques: list[Scalar] = [0.0] * len(links)
        for i, moving in reversed(list(enumerate(links))):
            args = moving, choices.links[i], fixed[i], carried[i]
            torques[i], load = self._once(args, inward, *args)
            if (parent := robot.links[i].parent) >= 0:
                carried[parent] = *carried[parent], load
        return torques

    def _constants(self, choices: Choices) -> tuple[CanonicalRobot, list[Constants], Units]:
        """The reduced robot and its constants, found once for the choices that they depend on."""
        gauge, key = choices.gauge, choices.scales
        if gauge not in self._reduced:
            self._reduced[gauge] = reduced(self.robot, choices)
        robot = self._reduced[gauge]
        if key not in self._fixed:
            self._fixed[key] = constants_of_reduced(robot, choices)
        return robot, *self._fixed[key]

    def _once(self, key: Hashable, make: Callable[..., T], *args: Any) -> T:
        """The result of a function, which is traced unless the key was met before."""
        met = self._met.get(key)
        if met is None:
            self.table.definitions = {}
            met = self._met[key] = make(*args), self.table.definitions
        made, definitions = met
        self._traces.append(definitions)
        result: T = made
        return result


POINTS_PER_JOINT = 75
"""Points that are tried for each joint of a short chain."""
WORTH_REORDERING = 2
"""Operations above the lowest count up to which the best with other units come first."""


def searched_choices(
    robot: CanonicalRobot,
    arguments: tuple[str, ...] = ("q", "qd", "qdd"),
    *,
    deep: bool = False,
    progress: Progress | None = None,
) -> list[tuple[Choices, int]]:
    """The best choices found for torques that are functions of the arguments named.

    Each comes with its count and has other constants than those before it: choices that differ only
    in the way to compute the same values end alike after resubstitution. The best with each kind of
    units come first, the overall best at the head, because resubstitution may order them anew. The
    counts take equal values once, however they are written, so a graph traced with the choices may
    need a few operations more until it is reduced.
    """
    table, n = ValueTable(), len(robot.links)
    symbols = symbolic(robot, table)
    given = {name: table.inputs(name, n) for name in arguments}
    prices = Prices(symbols, table, given["q"], given.get("qd", 0.0), given.get("qdd", 0.0))
    space = options(robot, wide=deep)
    points = min(POINTS_TRIED, POINTS_PER_JOINT * n)
    found = search(space.starts, space.places, prices, deep=deep, progress=progress, points=points)
    best: dict[Hashable, Choices] = {}
    for choices in found:
        best.setdefault(choices.scales, choices)
    sound = [choices for choices in best.values() if space.sound(choices)]
    first: dict[Hashable, Choices] = {}
    for choices in sound:
        if found[choices] <= found[sound[0]] + WORTH_REORDERING:
            kind = choices.length is None, choices.force is None, choices.length == choices.force
            first.setdefault(kind, choices)
    others = [choices for choices in sound if choices not in first.values()]
    return [(choices, found[choices]) for choices in (*first.values(), *others)]


def searched_origins(
    robot: CanonicalRobot,
    quantity: Literal["mass_matrix", "forward_dynamics"],
    rotors: Sequence[bool] = (),
) -> list[tuple[Choices, int]]:
    """The best choices of origins found, the best first, with their counts.

    Counted are the lower triangle of the mass matrix by composite bodies, or the accelerations by
    articulated bodies. Of a long robot every origin is moved, without a search. Joints that have
    rotors are told for robots that they alone keep from being singular.
    """
    table, n = ValueTable(), len(robot.links)
    symbols, q, qd, tau = symbolic(robot, table), *(table.inputs(v, n) for v in ("q", "qd", "tau"))

    def cost(choices: Choices) -> int:
        table.definitions = {}
        if quantity == "mass_matrix":
            outputs = minimal_mass_matrix(symbols, q, choices)[np.tril_indices(n)]
        else:
            bodies = partial(minimal_articulated_body, symbols, q, qd, tau, choices=choices)
            try:
                outputs = bodies(np.zeros(n))
            except SingularityError:
                table.definitions = {}
                inertias = [table.parameter(f"Ia{k}") if x else 0.0 for k, x in enumerate(rotors)]
                outputs = bodies(np.array(inertias or np.zeros(n), dtype=object))
        return table.count(outputs, [table.definitions])

    space = options(robot)
    starts = [space.quick, space.start]
    places = space.of_links([("passes_on",)])[::-1]
    if n > SEARCHED_ORIGINS.value:
        starts, places = starts[:1], []
    return list(search(starts, places, cost, points=0).items())
