"""The report of a design: the goal, its conditions, the changes of links, both arms compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.report.result import PRINTED_AS_ZERO, Section, zero
from armdyn.study.simplify.comparison import Comparison, ValueRange
from armdyn.study.simplify.conditions import Branches, plain
from armdyn.study.simplify.counterweights import Build, Shape
from armdyn.study.simplify.design import Design
from armdyn.study.states import CONFIGURATIONS


def mass_matrix_section(comparison: Comparison) -> Section:
    """The range of each element of the mass matrix."""
    elements = comparison.elements
    data = [
        {"element": e.name, "scale": e.scale, **before_after(_range, (e.before, e.after))}
        for e in elements
    ]
    return Section(
        "Mass matrix",
        (f"over {CONFIGURATIONS} configurations; varies: highest less lowest, over √(Dii Djj)",),
        ("", "before", "varies", "after", "varies"),
        tuple((e.name, *_span(e.before, e.scale), *_span(e.after, e.scale)) for e in elements),
        data={"mass_matrix": data},
    )


def torques_section(comparison: Comparison) -> Section:
    """The largest torques of gravity and along the motion."""
    motion = comparison.torques[0].trajectory
    along = motion.source or "quintic moves between far corners of the workspace"
    rms = [[joint["rms"] for joint in report.summary()["joints"]] for report in comparison.torques]
    joints = list(zip(comparison.joints, comparison.units, strict=True))
    largest = max(float(pair.max()) for pair in comparison.gravity) or 1.0
    columns = zip(joints, *comparison.gravity, *comparison.peaks, strict=True)

    def by_joint(pair: Sequence[Any]) -> list[dict[str, Any]]:
        rows = zip(joints, *(np.asarray(values).tolist() for values in pair), strict=True)
        return [{"joint": j, "unit": unit, "before": a, "after": b} for (j, unit), a, b in rows]

    return Section(
        "Torques",
        (f"gravity: largest over the workspace; peak: along {along}, {np.ptp(motion.t):.4g} s",),
        ("joint", "", "gravity before", "after", "peak before", "after"),
        tuple(
            (*joint, zero(g0, largest), zero(g1, largest), f"{p0:.4g}", f"{p1:.4g}")
            for joint, g0, g1, p0, p1 in columns
        ),
        2,
        {
            "gravity": by_joint(comparison.gravity),
            "trajectory": {"file": motion.source or None, "duration": float(np.ptp(motion.t))},
            "torque_peaks": by_joint(comparison.peaks),
            "torque_rms": by_joint(rms),
        },
    )


def shaking_section(comparison: Comparison) -> Iterator[Section]:
    """Force and moment on the base, if they were asked for."""
    if comparison.shaking is None:
        return
    before, after = comparison.shaking
    rows = list(zip(("force", "moment"), ("N", "N·m"), before, after, strict=True))
    weight = float(before.max()) or 1.0
    yield Section(
        "Shaking of the base",
        ("largest along the same motion: what the ground carries less what it carries at rest",),
        ("", "", "before", "after"),
        tuple((what, unit, zero(a, weight), zero(b, weight)) for what, unit, a, b in rows),
        2,
        {
            "shaking": [
                {"what": what, "unit": unit, "before": float(a), "after": float(b)}
                for what, unit, a, b in rows
            ]
        },
    )


def costs_section(comparison: Comparison) -> Section:
    """Operations and condition numbers."""
    operations = comparison.operations
    before, after = (_between(f"{x.low:.4g}", f"{x.high:.4g}") for x in comparison.condition)
    return Section(
        "Cost and conditioning",
        (
            f"operations of the torque (mul + add): {operations[0]} before, {operations[1]} after",
            f"condition number of the mass matrix: {before} before, {after} after",
        ),
        data={
            "condition_number": before_after(_range, comparison.condition),
            "operations": before_after(
                lambda count: {x: getattr(count, x) for x in ("mul", "add", "trig", "total")},
                operations,
            ),
        },
    )


def before_after(describe: Any, pair: tuple[Any, Any]) -> dict[str, Any]:
    """A pair of items as data."""
    return {"before": describe(pair[0]), "after": describe(pair[1])}


def _range(values: ValueRange) -> dict[str, float | None]:
    numbers = asdict(values) | {"variation": values.variation}
    return {key: value if np.isfinite(value) else None for key, value in numbers.items()}


def _span(values: ValueRange, scale: float) -> tuple[str, str]:
    ends = _between(zero(values.low, scale), zero(values.high, scale))
    return ends, _percent(values.variation, scale)


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


MOST_LINES = 40
"""Conditions and obstacles that are printed; the data has all of them."""
_TILTED_COSINE = 0.996
"""A box whose axes are turned by more than this cosine, five degrees, is called tilted."""


def sections(
    design: Design,
    solved: Branches,
    builds: Sequence[Build],
    comparison: Comparison,
    seconds: Mapping[str, float],
) -> tuple[Section, ...]:
    """The whole report."""
    times = ", ".join(f"{name} {time:.3g} s" for name, time in seconds.items())
    return (
        _headline(design),
        _obstacles(design),
        *_conditions(solved),
        _lengths(design),
        _links(builds),
        *_weights(builds),
        mass_matrix_section(comparison),
        torques_section(comparison),
        *shaking_section(comparison),
        costs_section(comparison),
        Section("Time", (times,), data={"seconds": dict(seconds)}),
    )


def _headline(design: Design) -> Section:
    name = design.before.title or design.before.name
    lines = [f"goal: {design.goals}", f"free: {design.variables}"]
    remaining = [v for v in design.variations if v.remains]
    data = {
        "goal": list(design.goals.words),
        "free": list(design.variables.symbols),
        "feasible": design.reached,
        "reason": design.reason,
        "residual": design.residual,
        "cost": design.cost,
        "rank": design.rank,
        "remaining": [_fields(v, "element", "before", "after", "scale") for v in remaining],
    }
    if design.reached:
        return Section(f"{name}: {design.reason}", tuple(lines), data=data)
    lines.append(f"nearest design: root mean square of what should vanish {design.residual:.3g}")
    lines += [
        f"{v.element} {'varies by' if v.constant else 'reaches'} {v.after:.4g} "
        f"({_percent(v.after, v.scale)} of its scale; before {_percent(v.before, v.scale)})"
        for v in sorted(remaining, key=lambda v: -v.after / v.scale)[:MOST_LINES]
    ]
    return Section(f"{name}: not reached; {design.reason}", tuple(lines), data=data)


def _obstacles(design: Design) -> Section:
    found = design.obstacles
    lines = [line for o in found for line in (o.reason, f"    {o.law}")]
    data = [{"joints": [i + 1 for i in o.joints], "law": o.law, "reason": o.reason} for o in found]
    title = "Obstacles" if found else ""
    return Section(title, _cut(lines, 2 * MOST_LINES), data={"obstacles": data})


def _conditions(solved: Branches) -> Iterator[Section]:
    equations, count = solved.conditions.equations, len(solved.conditions.equations)
    lines = _cut([f"{plain(c.polynomial)} = 0" for c in equations], MOST_LINES)
    yield Section(
        f"Conditions ({count})" if count else "Conditions",
        lines or (solved.note or "none: the goal holds for any numbers",),
        data={
            "conditions": [
                {"polynomial": str(c.polynomial), "sources": list(c.sources)} for c in equations
            ],
            "branches": [
                _fields(x, "equations", "needs", "feasible", "reason") for x in solved.branches
            ],
            "branches_complete": solved.complete,
            "impossible": list(solved.impossible),
            "note": solved.note,
        },
    )
    if not count:
        return
    for number, branch in enumerate(solved.branches, start=1):
        state = {True: "feasible", False: "not feasible", None: "not tried"}[branch.feasible]
        because = f": {branch.reason}" if branch.reason and branch.feasible is not True else ""
        yield Section(f"Branch {number}, {state}{because}", branch.equations)
    if solved.impossible and not solved.branches:
        yield Section("No branch", _cut(list(solved.impossible), MOST_LINES))


def _fields(item: Any, *names: str) -> dict[str, Any]:
    """Fields of a record as plain data."""
    values = ((name, getattr(item, name)) for name in names)
    return {name: list(x) if isinstance(x, tuple) else x for name, x in values}


def _cut(lines: list[str], most: int) -> tuple[str, ...]:
    more = (f"... and {len(lines) - most} more",) if len(lines) > most else ()
    return (*lines[:most], *more)


def _lengths(design: Design) -> Section:
    lengths = [(symbol, old, new) for symbol, (old, new) in design.lengths.items()]
    data = [{"symbol": symbol, "before": old, "after": new} for symbol, old, new in lengths]
    return Section(
        "Lengths [m]" if lengths else "",
        (),
        ("length", "before", "after"),
        tuple((symbol, f"{old:.4g}", f"{new:.4g}") for symbol, old, new in lengths),
        data={"lengths": data},
    )


def _links(builds: Sequence[Build]) -> Section:
    frames = "in canonical frames: z on the joint of the link, x towards the next joint"
    return Section(
        "Links",
        (frames if builds else "no link changes",),
        (
            *("link", "", "mass [kg]", "x [m]", "y", "z"),
            *("I1 [kg m²]", "I2", "I3", "box x [m]", "box y", "box z", ""),
        ),
        tuple(
            (name, word, *_shape_row(shape))
            for x in builds
            for name, word, shape in ((x.name, "before", x.before), ("", "after", x.after))
        ),
        2,
        {"links": [_link_data(build) for build in builds]},
    )


def _shape_row(shape: Shape) -> tuple[str, ...]:
    moments = (f"{value:.3g}" for value in shape.principal)
    box: tuple[str, ...] = ("-", "-", "-", "no body")
    if shape.sides is not None:
        tilted = np.abs(shape.axes.diagonal()).min() < _TILTED_COSINE
        box = (*(f"{side:.3g}" for side in shape.sides), "tilted" if tilted else "")
    return (f"{shape.mass:.4g}", *_metres(shape.com), *moments, *box)


def _link_data(build: Build) -> dict[str, Any]:
    """Positions are in the canonical frame of the link, and in its own frame in the model."""

    def shape_data(shape: Shape) -> dict[str, Any]:
        return {
            "mass": float(shape.mass),
            "com": shape.com.tolist(),
            "principal_inertias": shape.principal.tolist(),
            "axes": shape.axes.T.tolist(),
            "box": None if shape.sides is None else shape.sides.tolist(),
        }

    weights = [
        {
            "mass": weight.mass,
            "position": build.in_model(weight.position).tolist(),
            "canonical_position": weight.position.tolist(),
        }
        for weight in build.weights
    ]
    return {
        "link": build.link + 1,
        "name": build.name,
        "canonical_frame": build.frame.tolist(),
        **before_after(shape_data, (build.before, build.after)),
        "counterweights": weights,
        "note": build.note,
    }


def _weights(builds: Sequence[Build]) -> Iterator[Section]:
    rows = tuple(
        (build.name, f"{w.mass:.4g}", *_metres(w.position), *_metres(build.in_model(w.position)))
        for build in builds
        for w in build.weights
    )
    if rows:
        yield Section(
            "Counterweights",
            ("point masses that are the whole change of their link",),
            ("link", "mass [kg]", "x [m]", "y", "z", "own frame x", "y", "z"),
            rows,
        )
    names: dict[str, list[str]] = {}
    for build in builds:
        names.setdefault(build.note, []).append(build.name)
    lines = tuple(f"{', '.join(links)}: {note}" for note, links in names.items() if note)
    if lines:
        yield Section("Not by counterweights alone", lines)


def _percent(value: float, scale: float) -> str:
    """A value as a share of its scale."""
    share = abs(value) / scale if scale else 0.0
    return "0" if share <= PRINTED_AS_ZERO else f"{100 * share:.3g} %"


def _metres(position: Array) -> tuple[str, ...]:
    """Coordinates [m]; less than a nanometre is zero."""
    return tuple(zero(float(value), 1.0) for value in position)
