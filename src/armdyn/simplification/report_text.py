"""The report of a design in sections of lines and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armdyn.arrays import Array
from armdyn.simplification.comparison import CONFIGURATIONS, Comparison, Range
from armdyn.simplification.counterweights import Build, Shape
from armdyn.simplification.design_variables import NUMBERS, Free

if TYPE_CHECKING:
    from armdyn.simplification.simplify import Simplification

MOST_LINES = 40
"""Conditions and obstacles that are printed; all are in the data."""
_LINK_COLUMNS = (
    *("link", "", "mass [kg]", "x [m]", "y", "z"),
    *("I1 [kg m²]", "I2", "I3", "box x [m]", "y", "z", ""),
)
_ROUNDING = 1e-9
"""What is printed as zero, relative to what it is measured in."""
_TILTED = 0.996
"""Cosine of the angle from which on a box is called tilted: five degrees."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report."""

    title: str
    lines: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    texts: int = 1
    """How many columns, from the left, hold text."""

    def text(self) -> str:
        """The section in plain text."""
        return "\n".join([self.title, *(f"  {line}" for line in (*self.lines, *self._table()))])

    def _table(self) -> Iterator[str]:
        if not self.rows:
            return
        cells = [self.columns, *self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.columns))]
        for row in cells:
            aligned = (
                cell.ljust(width) if k < self.texts else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield "  ".join(aligned).rstrip()


def sections(
    found: Simplification, builds: Sequence[Build], comparison: Comparison
) -> tuple[Section, ...]:
    """The whole report."""
    parts = [_headline(found), *_ways(found), *_changes(found, builds), *_effect(comparison)]
    steps = {**found.seconds, "comparison": comparison.seconds}
    times = ", ".join(f"{name} {seconds:.3g} s" for name, seconds in steps.items())
    return (*parts, Section("Time", (times,)))


def _headline(found: Simplification) -> Section:
    model = found.before.model
    name = model.title or model.name
    lines = [f"goal: {found.goals}", f"free: {freedom(found.free)}"]
    if found.feasible:
        return Section(f"{name}: {found.reason}", tuple(lines))
    remaining = [v for v in found.design.variations if v.remains]
    remaining.sort(key=lambda v: -v.after / v.scale)
    lines.append(
        f"nearest design: root mean square of what should vanish {found.design.residual:.3g}"
    )
    lines += [
        f"{v.element} {'varies by' if v.constant else 'reaches'} {v.after:.4g} "
        f"({_percent(v.after, v.scale)} of its scale; before {_percent(v.before, v.scale)})"
        for v in remaining[:MOST_LINES]
    ]
    return Section(f"{name}: not reached; {found.reason}", tuple(lines))


def freedom(free: Free) -> str:
    """What may change, in words."""
    parts = {"mass": NUMBERS[:1], "com": NUMBERS[1:4], "inertia": NUMBERS[4:]}
    asked = set(free.symbols)
    links = range(1, len(free.numbers) + 1)
    words: list[str] = []
    for part, names in parts.items():
        whole = [i for i in links if all(f"{name}{i}" in asked for name in names)]
        words += [f"*.{part}"] if len(whole) == len(links) else [f"link{i}.{part}" for i in whole]
        asked -= {f"{name}{i}" for name in names for i in whole}
    return ", ".join([*words, *(symbol for symbol in free.symbols if symbol in asked)])


def _ways(found: Simplification) -> Iterator[Section]:
    if found.obstacles:
        lines = [line for o in found.obstacles for line in (o.reason, f"    {o.law}")]
        yield Section("Obstacles", _cut(lines, 2 * MOST_LINES))
    equations = [
        f"{c.polynomial} = 0".replace("**2", "²").replace("*", " ") for c in found.equations
    ]
    if equations:
        yield Section(f"Conditions ({len(equations)})", _cut(equations, MOST_LINES))
    else:
        yield Section("Conditions", (found.note or "none: the goal holds for any numbers",))
        return
    for number, branch in enumerate(found.branches, start=1):
        state = {True: "feasible", False: "not feasible", None: "not tried"}[branch.feasible]
        because = f": {branch.reason}" if branch.reason and branch.feasible is not True else ""
        yield Section(f"Branch {number}, {state}{because}", branch.equations)
    if found.solved.impossible and not found.branches:
        yield Section("No branch", _cut(list(found.solved.impossible), MOST_LINES))


def _cut(lines: list[str], most: int) -> tuple[str, ...]:
    more = (f"... and {len(lines) - most} more",) if len(lines) > most else ()
    return (*lines[:most], *more)


def _changes(found: Simplification, builds: Sequence[Build]) -> Iterator[Section]:
    lengths = found.design.lengths
    if lengths:
        rows = tuple((x.symbol, f"{x.before:.4g}", f"{x.after:.4g}") for x in lengths)
        yield Section("Lengths [m]", (), ("length", "before", "after"), rows)
    if not builds:
        yield Section("Links", ("no link changes",))
        return
    yield Section(
        "Links",
        ("in canonical frames: z on the joint of the link, x towards the next joint",),
        _LINK_COLUMNS,
        tuple(row for build in builds for row in _link_rows(build)),
        2,
    )
    weighted = [build for build in builds if build.weights]
    if weighted:
        yield Section(
            "Counterweights",
            ("point masses that are the whole change of their link",),
            ("link", "mass [kg]", "x [m]", "y", "z", "own frame x", "y", "z"),
            tuple(
                (
                    build.name,
                    f"{weight.mass:.4g}",
                    *_numbers(weight.position),
                    *_numbers(build.in_model(weight.position)),
                )
                for build in weighted
                for weight in build.weights
            ),
        )
    notes = dict.fromkeys(build.note for build in builds if build.note)
    if notes:
        lines = (
            f"{', '.join(build.name for build in builds if build.note == note)}: {note}"
            for note in notes
        )
        yield Section("Not by counterweights alone", tuple(lines))


def _link_rows(build: Build) -> Iterator[tuple[str, ...]]:
    for name, word, shape in ((build.name, "before", build.before), ("", "after", build.after)):
        yield (
            name,
            word,
            f"{shape.mass:.4g}",
            *_numbers(shape.com),
            *(f"{value:.3g}" for value in shape.principal),
            *_box(shape),
        )


def _box(shape: Shape) -> tuple[str, ...]:
    if shape.sides is None:
        return ("-", "-", "-", "no body")
    tilted = np.abs(shape.axes.diagonal()).min() < _TILTED
    return (*(f"{side:.3g}" for side in shape.sides), "tilted" if tilted else "")


def _effect(comparison: Comparison) -> Iterator[Section]:
    yield Section(
        "Mass matrix",
        (f"over {CONFIGURATIONS} configurations; varies: highest less lowest, over √(Dii Djj)",),
        ("", "before", "varies", "after", "varies"),
        tuple(
            (e.name, *_span(e.before, e.scale), *_span(e.after, e.scale))
            for e in comparison.elements
        ),
    )
    before, after = comparison.condition
    operations = comparison.operations
    rows = zip(
        comparison.joints, comparison.units, *comparison.gravity, *comparison.peaks, strict=True
    )
    largest = max(float(pair.max()) for pair in comparison.gravity) or 1.0
    motion = comparison.torques[0].trajectory
    along = motion.source or "quintic moves between far corners of the workspace"
    yield Section(
        "Torques",
        (f"gravity: largest over the workspace; peak: along {along}, {np.ptp(motion.t):.4g} s",),
        ("joint", "", "gravity before", "after", "peak before", "after"),
        tuple(
            (name, unit, *(_zero(g, largest) for g in (g0, g1)), f"{p0:.4g}", f"{p1:.4g}")
            for name, unit, g0, g1, p0, p1 in rows
        ),
        2,
    )
    yield Section(
        "Cost and conditioning",
        (
            f"operations of the torque (mul + add): {operations[0]} before, {operations[1]} after",
            f"condition number of the mass matrix: {_between(before)} before, "
            f"{_between(after)} after",
        ),
    )


def _span(values: Range, scale: float) -> tuple[str, str]:
    low, high = (_zero(value, scale) for value in (values.low, values.high))
    return low if low == high else f"{low} to {high}", _percent(values.variation, scale)


def _between(values: Range) -> str:
    low, high = f"{values.low:.4g}", f"{values.high:.4g}"
    return low if low == high else f"{low} to {high}"


def _percent(value: float, scale: float) -> str:
    share = abs(value) / scale if scale else 0.0
    return "0" if share <= _ROUNDING else f"{100 * share:.3g} %"


def _zero(value: float, scale: float) -> str:
    return "0" if abs(value) <= _ROUNDING * scale else f"{value:.4g}"


def _numbers(position: Array) -> tuple[str, ...]:
    """Coordinates [m]; nothing smaller than a nanometre."""
    return tuple(_zero(float(value), 1.0) for value in position)
