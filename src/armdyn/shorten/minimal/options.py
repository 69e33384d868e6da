"""What can be chosen in the minimal formulation of one robot, and a good start."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from armdyn.shorten.canonical.frames import CanonicalRobot, is_quarter
from armdyn.shorten.canonical.regroup import (
    DIVISIBLE_SHARE,
    axis_in_parent,
    divides,
    is_zero,
    reach,
    regroup,
)
from armdyn.shorten.minimal.choices import Choices, LinkChoice, Unit
from armdyn.shorten.minimal.constants import moved_origins, reduced
from armdyn.shorten.search import Place

UNITS_TRIED, PAIRS_TRIED = 6, 8
"""How many units of length and of force, and how many pairs of both, are tried: those first that
save most products."""
SAVED_BY_UNIT = {
    "length": {"across": 3, "r": 3, "gravity": 2, "u": 2},
    "force": {"M": 3, "u": 3, "across": 2, "r": 2},
}
"""Products that a constant taken as unit saves at least, by its kind."""
TOGETHER = (
    ("squares",),
    ("tangent",),
    ("doubled",),
    ("point_mass",),
    ("column",),
    ("rotated", "first_axes"),
    ("shared",),
    ("out_first",),
    ("in_first",),
    ("passes_on",),
    ("isotropic",),
)
"""The choices of a link, and which of them are varied together."""
SMALLEST_COSINE = 1e-3
"""Cosine of a twist below which its tangent is not used."""


@dataclass(frozen=True, slots=True)
class Options:
    """A space of choices, in which to search. In a planar robot axes are parallel."""

    robot: CanonicalRobot
    start: Choices
    links: tuple[dict[str, tuple[Any, ...]], ...]
    """For each link the values of each choice that make a difference."""
    planar: bool
    _units: dict[Any, list[Unit]] = field(default_factory=dict, compare=False, repr=False)
    """Constants that can be units, by gauge."""

    @property
    def starts(self) -> list[Choices]:
        """Where to begin: with the robot as it is and regrouped, with gravity and with weights.

        No link begins with 2 w_z, because resubstitution has more values to choose from then.
        """
        links = tuple(
            replace(link, doubled="") if "doubled" in ways else link
            for link, ways in zip(self.start.links, self.links, strict=True)
        )
        start = replace(self.start, links=links)
        grouped = (False, True) if _regroups(self.robot) else (False,)
        return [at for g in grouped for at in self._vary_weight(replace(start, regrouped=g))]

    @property
    def quick(self) -> Choices:
        """The best that is known without a search: most robots save by passing offsets on."""
        choices = self.start
        for i, ways in enumerate(self.links):
            if "passes_on" in ways:
                choices = choices.with_link(i, passes_on=True)
        return choices

    @property
    def places(self) -> list[Place[Choices]]:
        """The places to choose in: the links from the tips, then the units."""
        units = (partial(self._vary_unit, of, saved) for of, saved in SAVED_BY_UNIT.items())
        return [*self.of_links(TOGETHER), self._vary_weight, *units, self._vary_both_units]

    def of_links(self, together: Iterable[tuple[str, ...]]) -> list[Place[Choices]]:
        """The places of some choices of the links, those in a tuple being varied together."""
        return [
            partial(self._vary_link, i, offered)
            for i, ways in reversed([*enumerate(self.links)])
            for names in together
            if (offered := {name: ways[name] for name in names if name in ways})
        ]

    def _vary_link(self, i: int, ways: dict[str, tuple[Any, ...]], at: Choices) -> list[Choices]:
        values = product(*ways.values())
        return [at.with_link(i, **dict(zip(ways, v, strict=True))) for v in values]

    def _vary_weight(self, at: Choices) -> list[Choices]:
        apart = (False, True) if self.planar else (False,)
        return [replace(at, weight_apart=value) for value in apart]

    def _vary_unit(self, of: str, saved: dict[str, int], at: Choices) -> list[Choices]:
        best = _most_saving(self.units(at), saved, getattr(at, of))
        changes: list[dict[str, Any]] = [{of: unit} for unit in (None, *best)]
        return [replace(at, **change) for change in changes]

    def _vary_both_units(self, at: Choices) -> list[Choices]:
        return [at, *(replace(at, length=a, force=b) for a, b in _pairs(self.units(at)))]

    def units(self, at: Choices) -> list[Unit]:
        """The constants that may be units: those that are not small among their kind."""
        if at.gauge not in self._units:
            entries: dict[Unit, Any] = {}
            for i, link in enumerate(reduced(self.robot, at).links):
                for kind in ("across", "r", "u", "M", "gravity"):
                    values = np.atleast_1d(np.array(getattr(link, kind), dtype=object))
                    entries |= {(kind, i, k): value for k, value in enumerate(values)}
            sizes = {unit: _size(value) for unit, value in entries.items()}
            largest: dict[str, float] = {}
            for (kind, _, _), size in sizes.items():
                largest[kind] = max(size, largest.get(kind, 0.0))
            self._units[at.gauge] = [
                unit for unit, size in sizes.items() if size > DIVISIBLE_SHARE * largest[unit[0]]
            ]
        return self._units[at.gauge]

    def sound(self, choices: Choices) -> bool:
        """Whether no constant is divided by that is small for these numbers, if not zero."""
        units = self.units(choices)
        if not all(unit is None or unit in units for unit in (choices.length, choices.force)):
            return False
        links = moved_origins(self.robot, choices).links
        clear = [choice.point_mass for choice in choices.links]
        cleared = [(link, "xyz".index(c)) for link, c in zip(links, clear, strict=True) if c]
        size = reach(self.robot)
        return all(divides(axis_in_parent(link)[1], entry, size) for link, entry in cleared)


def _size(value: Any) -> float:
    """The absolute value of a number; any expression that is not zero counts as 1."""
    return abs(float(value)) if isinstance(value, int | float) else float(not is_zero(value))


def _most_saving(units: list[Unit], saved: dict[str, int], present: Unit | None) -> list[Unit]:
    """The units to be tried, with the present one if it is possible."""
    offered = [unit for unit in units if unit[0] in saved]
    best = sorted(offered, key=lambda unit: -saved[unit[0]])[:UNITS_TRIED]
    return [*best, present] if present in offered and present not in best else best


def _pairs(units: list[Unit]) -> list[tuple[Unit, Unit]]:
    """Units of length and force that save together: one constant for both, a length and a mass."""
    both = [(unit, unit) for unit in units if unit[0] in ("across", "r", "u")]
    lengths = [unit for unit in units if unit[0] in ("across", "r")]
    masses = [unit for unit in units if unit[0] == "M"]
    return (both + [(length, mass) for length in lengths for mass in masses])[:PAIRS_TRIED]


def options(robot: CanonicalRobot, wide: bool = False) -> Options:
    """What can be chosen for a robot; for a long, `wide` search also what seldom saves anything."""
    size = reach(robot)
    ways = tuple(_ways(robot, i, wide, size) for i in range(len(robot.links)))
    start = tuple(
        LinkChoice(
            rotated="rotated" not in way,
            column=is_quarter(link.alpha),
            tangent="tangent" in way and "rotated" not in way,
            isotropic="xx" if "isotropic" in way else "",
        )
        for link, way in zip(robot.links, ways, strict=True)
    )
    planar = all(
        not link.type.slides and (link.parent < 0 or is_flat(robot, i))
        for i, link in enumerate(robot.links)
    )
    return Options(robot, Choices(start), ways, planar)


def _ways(robot: CanonicalRobot, i: int, wide: bool, size: float) -> dict[str, tuple[Any, ...]]:
    """The choices that make a difference for link i; the size is the reach of the robot."""
    link = robot.links[i]
    if link.parent < 0:
        return {}
    quarter, both = is_quarter(link.alpha), (True, False)
    ways: dict[str, tuple[Any, ...]] = {"squares": ("xz", "yz", "xyz")}
    steep = isinstance(link.alpha, float) and abs(math.cos(link.alpha)) <= SMALLEST_COSINE
    if not quarter and not steep:
        ways["tangent"] = both
    if link.type.slides:
        return ways
    carries = i in robot.parents
    flat = is_flat(robot, i)
    behind_root = _behind_root(robot, i)
    p = axis_in_parent(link)[1]
    cleared = [entry for k, entry in enumerate("xyz") if divides(p, k, size)]
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


def _regroups(robot: CanonicalRobot) -> bool:
    """Whether regrouping leaves fewer inertias than handing down."""
    plain = Choices(tuple(LinkChoice() for _ in robot.links))
    given, grouped = (
        sum(not is_zero(v) for link in form.links for v in (*link.J.flat, *link.u, link.M))
        for form in (reduced(robot, plain), regroup(robot))
    )
    return grouped < given
