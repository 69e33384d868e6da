"""The comparison of an arm before and after a design, in sections of its report."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from armdyn.graph.count import Operations
from armdyn.sections import Section, percent, zero
from armdyn.study.simplify.comparison import CONFIGURATIONS, Comparison, ValueRange


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
            "operations": before_after(_operations, operations),
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
    return ends, percent(values.variation, scale)


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _operations(count: Operations) -> dict[str, int]:
    return {name: getattr(count, name) for name in ("mul", "add", "trig", "total")}
