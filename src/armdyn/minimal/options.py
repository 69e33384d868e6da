"""What can be chosen in the minimal formulation of one robot, and a good start."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from armdyn.canonical.frames import CanonicalRobot, is_quarter
from armdyn.canonical.regroup import axis_in_parent, divides, is_zero
from armdyn.minimal.choices import Choices, LinkChoice, Unit
from armdyn.minimal.constants import reduced

LENGTHS = ("gravity", "across", "r")

MOST_PAIRS = 80
"""Pairs of units above which they are chosen one after the other: with so many different constants
few can become 1 together."""


@dataclass(frozen=True, slots=True)
class Options:
    """A space of choices: places, each with a few values. In a planar robot axes are parallel."""

    robot: CanonicalRobot
    start: Choices
    links: tuple[dict[str, tuple[Any, ...]], ...]
    """For each link the values of each choice that make a difference."""
    planar: bool

    @property
    def size(self) -> int:
        """How many places there are to choose in."""
        return sum(map(len, self.links)) + 4

    @property
    def quick(self) -> Choices:
        """The best that is known without a search: most robots save by passing offsets on."""
        choices = self.start
        for i, ways in enumerate(self.links):
            if "passes_on" in ways:
                choices = choices.with_link(i, passes_on=True)
        return choices

    def vary(self, at: Choices, place: int) -> list[Choices]:
        """Every value in one place: the links from the tips, then the units."""
        places = [(i, name) for i in reversed(range(len(self.links))) for name in self.links[i]]
        if place < len(places):
            i, name = places[place]
            return [at.with_link(i, **{name: value}) for value in self.links[i][name]]
        place -= len(places)
        if place == 0:
            apart = (False, True) if self.planar else (False,)
            return [replace(at, weight_apart=value) for value in apart]
        units: list[Unit | None] = [None, *self._units(at)]
        if place == 1:
            return [replace(at, length=unit) for unit in units]
        if place == 2:
            return [replace(at, force=unit) for unit in units]
        return self._pairs(at, units)

    @staticmethod
    def _pairs(at: Choices, units: list[Unit | None]) -> list[Choices]:
        """Every pair of units; a first moment is a unit of force only if it has one entry."""
        entries = Counter(unit[:2] for unit in units if unit is not None)
        lengths = [unit for unit in units if unit is None or unit[0] in LENGTHS]
        forces = [u for u in units if u is None or u[0] != "u" or entries[u[:2]] == 1]
        if len(lengths) * len(forces) > MOST_PAIRS:
            return [at]
        return [replace(at, length=length, force=force) for length in lengths for force in forces]

    def _units(self, at: Choices) -> list[Unit]:
        """The constants that are there to be units."""
        units: list[Unit] = []
        for i, link in enumerate(reduced(self.robot, at).links):
            entries: list[tuple[str, int, Any]] = [("r", 0, link.r), ("M", 0, link.M)]
            for k in range(3):
                entries += [("across", k, link.across[k]), ("u", k, link.u[k])]
                entries += [("gravity", k, link.gravity[k])]
            units += [(kind, i, k) for kind, k, value in entries if not is_zero(value)]
        return units


def options(robot: CanonicalRobot, wide: bool = False) -> Options:
    """What can be chosen for a robot; for a long, `wide` search also what seldom saves anything."""
    ways = tuple(_ways(robot, i, wide) for i in range(len(robot.links)))
    start = tuple(
        LinkChoice(
            rotated="rotated" not in way,
            column=is_quarter(link.alpha),
            tangent=not is_quarter(link.alpha) and "rotated" not in way,
            isotropic="xx" if "isotropic" in way else "",
        )
        for link, way in zip(robot.links, ways, strict=True)
    )
    planar = all(
        not link.type.slides and (link.parent < 0 or is_flat(robot, i))
        for i, link in enumerate(robot.links)
    )
    return Options(robot, Choices(start), ways, planar)


def _ways(robot: CanonicalRobot, i: int, wide: bool) -> dict[str, tuple[Any, ...]]:
    """The choices that make a difference for link i."""
    link = robot.links[i]
    if link.parent < 0:
        return {}
    quarter, both = is_quarter(link.alpha), (True, False)
    ways: dict[str, tuple[Any, ...]] = {"squares": ("xz", "yz", "xyz")}
    if not quarter:
        ways["tangent"] = both
    if link.type.slides:
        return ways
    carries, flat, behind_root = i in robot.parents, is_flat(robot, i), _behind_root(robot, i)
    p = axis_in_parent(link)[1]
    cleared = [entry for k, entry in enumerate("xyz") if divides(p, k)]
    offered: tuple[tuple[bool, str, tuple[Any, ...]], ...] = (
        (True, "doubled", ("", "x", "y", "xy")),
        (bool(cleared), "point_mass", ("", *cleared)),
        (wide or not quarter, "column", both),
        (wide or flat or behind_root, "first_axes", ("", "J", "u", "f", "Ju", "Jf", "uf", "Juf")),
        (flat, "shared", both),
        (flat, "out_first", both),
        (flat, "in_first", both),
        (behind_root, "isotropic", ("", "xx", "yy")),
        (carries and (flat or not is_zero(link.r)), "passes_on", both),
        (not carries, "rotated", both),
    )
    return ways | {name: values for matters, name, values in offered if matters}


def is_flat(robot: CanonicalRobot, i: int) -> bool:
    """Whether the axis of joint i is parallel to that of its parent."""
    link = robot.links[i]
    exact = is_quarter(link.alpha) and is_quarter(link.gamma)
    return link.parent >= 0 and exact and link.alpha == 0 and link.gamma == 0


def _behind_root(robot: CanonicalRobot, i: int) -> bool:
    """Whether joint i is in the first group of parallel joints after a revolute one on the base."""
    while is_flat(robot, i):
        i = robot.links[i].parent
    up = robot.links[i].parent
    return up >= 0 and robot.links[up].parent < 0 and not robot.links[up].type.slides
