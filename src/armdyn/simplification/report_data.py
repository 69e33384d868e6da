"""The report of a design as plain data."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from armdyn.compiler.count import Operations
from armdyn.simplification.comparison import Comparison, Range
from armdyn.simplification.counterweights import Build, Shape
from armdyn.simplification.result import Design


def change_data(design: Design, builds: Sequence[Build]) -> dict[str, Any]:
    """What changes; positions in the canonical frame of the link, and in its own."""
    return {
        "residual": design.residual,
        "cost": design.cost,
        "rank": design.rank,
        "remaining": [
            {"element": v.element, "before": v.before, "after": v.after, "scale": v.scale}
            for v in design.variations
            if v.remains
        ],
        "lengths": [asdict(length) for length in design.lengths],
        "links": [
            {
                "link": build.link + 1,
                "name": build.name,
                "canonical_frame": build.frame.tolist(),
                "before": _shape(build.before),
                "after": _shape(build.after),
                "counterweights": [
                    {
                        "mass": weight.mass,
                        "position": build.in_model(weight.position).tolist(),
                        "canonical_position": weight.position.tolist(),
                    }
                    for weight in build.weights
                ],
                "note": build.note,
            }
            for build in builds
        ],
    }


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """What the change does."""
    torques, peaks = comparison.torques, comparison.peaks
    rms = [[joint["rms"] for joint in report.summary()["joints"]] for report in torques]
    return {
        "mass_matrix": [
            {
                "element": element.name,
                "scale": element.scale,
                "before": _range(element.before),
                "after": _range(element.after),
            }
            for element in comparison.elements
        ],
        "condition_number": _pair(*map(_range, comparison.condition)),
        "gravity": _joints(comparison, *(g.tolist() for g in comparison.gravity)),
        "operations": _pair(*map(_operations, comparison.operations)),
        "trajectory": {
            "file": torques[0].trajectory.source or None,
            "duration": float(np.ptp(torques[0].trajectory.t)),
        },
        "torque_peaks": _joints(comparison, *(p.tolist() for p in peaks)),
        "torque_rms": _joints(comparison, *rms),
    }


def _pair(before: Any, after: Any) -> dict[str, Any]:
    return {"before": before, "after": after}


def _joints(comparison: Comparison, before: list[float], after: list[float]) -> list[Any]:
    rows = zip(comparison.joints, comparison.units, before, after, strict=True)
    return [{"joint": name, "unit": unit, "before": a, "after": b} for name, unit, a, b in rows]


def _range(values: Range) -> dict[str, float | None]:
    numbers = asdict(values) | {"variation": values.variation}
    return {key: value if np.isfinite(value) else None for key, value in numbers.items()}


def _operations(operations: Operations) -> dict[str, int]:
    counts = {key: getattr(operations, key) for key in ("mul", "add", "trig")}
    return counts | {"total": operations.total}


def _shape(shape: Shape) -> dict[str, Any]:
    return {
        "mass": float(shape.mass),
        "com": shape.com.tolist(),
        "principal_inertias": shape.principal.tolist(),
        "axes": shape.axes.T.tolist(),
        "box": None if shape.sides is None else shape.sides.tolist(),
    }
