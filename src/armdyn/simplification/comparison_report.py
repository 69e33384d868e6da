"""The report of both arms compared: mass matrix, torques, operations and conditioning."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from armdyn.simplification.comparison import CONFIGURATIONS, Comparison, ValueRange
from armdyn.simplification.section import Section, percent, zero


def comparison_sections(comparison: Comparison) -> tuple[Section, ...]:
    """The sections of a comparison."""
    return _mass_matrix(comparison), _torques(comparison), _costs(comparison)


def _mass_matrix(comparison: Comparison) -> Section:
    elements = comparison.elements
    return Section(
        "Mass matrix",
        (f"over {CONFIGURATIONS} configurations; varies: highest less lowest, over √(Dii Djj)",),
        ("", "before", "varies", "after", "varies"),
        tuple((e.name, *_span(e.before, e.scale), *_span(e.after, e.scale)) for e in elements),
        data={
            "mass_matrix": [
                {"element": e.name, "scale": e.scale, **_pair(_range, (e.before, e.after))}
                for e in elements
            ],
        },
    )


def _torques(comparison: Comparison) -> Section:
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


def _costs(comparison: Comparison) -> Section:
    operations = comparison.operations
    before, after = (_between(f"{x.low:.4g}", f"{x.high:.4g}") for x in comparison.condition)
    return Section(
        "Cost and conditioning",
        (
            f"operations of the torque (mul + add): {operations[0]} before, {operations[1]} after",
            f"condition number of the mass matrix: {before} before, {after} after",
        ),
        data={
            "condition_number": _pair(_range, comparison.condition),
            "operations": _pair(
                lambda x: {key: getattr(x, key) for key in ("mul", "add", "trig", "total")},
                operations,
            ),
        },
    )


def _pair(describe: Any, pair: tuple[Any, Any]) -> dict[str, Any]:
    return {"before": describe(pair[0]), "after": describe(pair[1])}


def _range(values: ValueRange) -> dict[str, float | None]:
    numbers = asdict(values) | {"variation": values.variation}
    return {key: value if np.isfinite(value) else None for key, value in numbers.items()}


def _span(values: ValueRange, scale: float) -> tuple[str, str]:
    ends = _between(zero(values.low, scale), zero(values.high, scale))
    return ends, percent(values.variation, scale)


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
