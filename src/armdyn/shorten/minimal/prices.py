"""What choices of the minimal formulation cost, traced link by link.

The motion of a link depends on its own choices and the motion of its parent, its wrench on its own
choices and the wrenches it carries: values that are the same however they are computed. So a link
whose choices, constants and neighbours' values were met before is not traced again.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from armdyn.arrays import Array
from armdyn.graph.values import Definitions, ValueTable
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.minimal.axes import Scalar
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.constants import Constants, Units, constants_of_reduced, reduced
from armdyn.shorten.minimal.link import MovingLink
from armdyn.shorten.minimal.options import is_flat
from armdyn.shorten.minimal.torques import Rate, states_of_joints
from armdyn.shorten.minimal.wrench import Load, inward

T = TypeVar("T")


class Prices:
    """The operations of the torques of one robot, as a function of the choices."""

    def __init__(self, robot: CanonicalRobot, table: ValueTable, q: Array, qd: Rate, qdd: Rate):
        """Take a robot and its state, whose entries are values of a table."""
        self.robot, self.table = robot, table
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
        carried: list[tuple[Load, ...]] = [()] * len(links)
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
        if key not in self._met:
            self.table.definitions = {}
            self._met[key] = make(*args), self.table.definitions
        made, definitions = self._met[key]
        self._traces.append(definitions)
        result: T = made
        return result
