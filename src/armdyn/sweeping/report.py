"""What a sweep found, in words."""

from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.sections import Section, unrounded
from armdyn.sweeping.found import Found
from armdyn.sweeping.reductions import Part, Reduction

MOST_ROWS = 60
"""Entries of a result that are printed."""
MOST_TOLD = 7
"""Columns of a state that are printed."""


def sections_of(result: Found) -> tuple[Section, ...]:
    """The report of a sweep: over all cells, and the numbers of each as data where they are few."""
    subject = result.subject
    name = subject.robot.model.title or subject.robot.name
    lines = [f"over {result.space.words()}"]
    if result.computed:
        lines.append(
            f"{counted(result.computed, 'state', ',')} in {result.seconds:.3g} s, "
            f"{result.rate:.3g} states a second"
        )
    if result.shares:
        shares = (f"{what} {100 * share:.0f} %" for what, share in result.shares.items())
        lines.append(f"of the time of a block {', '.join(shares)}")
    if kept := result.count - result.computed:
        lines.append(f"{counted(kept, 'state', ',')} {'was' if kept == 1 else 'were'} in the store")
    if result.cells:
        cells = " by ".join(f"{name} {len(values)}" for name, values in result.kept.items())
        lines.append(f"kept for each of {cells}; below over all of them")
    data = {
        "robot": subject.robot.name,
        "quantity": subject.quantity.name,
        "over": result.space.words(),
        "states": result.count,
        "computed": result.computed,
        "seconds": result.seconds,
        "rate": result.rate,
        "shares": dict(result.shares),
        "entries": list(subject.labels),
    }
    title = f"{name}: {subject.quantity.name.replace('_', ' ')}"
    found = [Section(title, tuple(lines), data=data)]
    for reduction, part in zip(result.reductions, result.totals, strict=True):
        found.append(_WRITERS[reduction.name](result, reduction, over_all(reduction, part)))
    return tuple(found)


def over_all(reduction: Reduction, part: Part) -> Part:
    """What is kept of all cells together: neighbours are merged until one is left."""
    while (cells := len(next(iter(part.values())))) > 1:
        pairs = {k: v[: cells // 2 * 2 : 2].copy() for k, v in part.items()}
        reduction.merge(pairs, {k: v[1::2] for k, v in part.items()})
        odd = {k: v[cells // 2 * 2 :] for k, v in part.items()}
        part = {k: np.concatenate([v, odd[k]]) for k, v in pairs.items()}
    return part


def _extremes(result: Found, _: Any, part: Part) -> Section:
    labels = result.subject.labels
    scale = _largest(part["min"][0], part["max"][0])
    rows, data = [], []
    for e, label in enumerate(labels):
        ends = {}
        cells = [label]
        for side in ("min", "max"):
            value, index = float(part[side][0, e]), int(part["arg" + side][0, e])
            state = result.state(index) if index >= 0 else {}
            ends[side] = {"value": value, "state": {k: v.tolist() for k, v in state.items()}}
            ends[side]["index"] = index
            cells += [f"{unrounded(value, scale):.5g}", _varying(result, index)]
        lost = int(part["lost"][0, e])
        data.append({"entry": label, **ends, "lost": lost})
        rows.append((*cells, *([str(lost)] if part["lost"].any() else [])))
    columns = (
        "entry",
        "minimum",
        "at",
        "maximum",
        "at",
        *(["no number"] * bool(part["lost"].any())),
    )
    return Section("Extremes", (), columns, tuple(rows[:MOST_ROWS]), 1, {"extremes": data})


def _largest(*values: Array) -> float:
    """The largest magnitude, beside which rounding is told from a value."""
    finite = np.abs(np.concatenate(values))
    return float(finite[np.isfinite(finite)].max(initial=0.0))


def _varying(result: Found, index: int) -> str:
    """The columns of a state that vary, short."""
    if index < 0:
        return "-"
    row = result.space.at(np.array([index]))[0]
    names = result.space.columns.names
    told = [f"{names[c]} {row[c]:.3g}" for c in result.space.varying]
    more = f", {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    return ", ".join(told[:MOST_TOLD]) + more or "-"


def _moments(result: Found, _: Any, part: Part) -> Section:
    count = part["count"][0]
    std = np.sqrt(part["squares"][0] / np.maximum(count, 1))
    mean = part["mean"][0]
    rms = np.hypot(std, mean)
    labels = result.subject.labels
    rows = zip(labels, mean, std, rms, strict=True)
    data = [
        {"entry": label, "mean": float(m), "std": float(s), "rms": float(r), "count": int(n)}
        for label, m, s, r, n in zip(labels, mean, std, rms, count, strict=True)
    ]
    scale = _largest(rms)
    table = tuple(
        (label, *(f"{unrounded(x, scale):.5g}" for x in numbers)) for label, *numbers in rows
    )
    columns = ("entry", "mean", "standard deviation", "RMS")
    return Section("Moments", (), columns, table[:MOST_ROWS], 1, {"moments": data})


def _histogram(result: Found, how: Any, part: Part) -> Section:
    counts: Array = part["counts"][0]
    data, rows = [], []
    for label, low, high, found in zip(
        result.subject.labels, np.asarray(how.low), np.asarray(how.high), counts, strict=True
    ):
        inside = found[1:-2]
        data.append({
            "entry": label, "low": float(low), "high": float(high), "counts": inside.tolist(),
            "below": int(found[0]), "above": int(found[-2]), "lost": int(found[-1]),
        })  # fmt: skip
        at = int(inside.argmax())
        width = (high - low) / how.bins
        fullest = f"{low + at * width:.4g} to {low + (at + 1) * width:.4g}"
        outside = f"{int(found[0])} below, {int(found[-2])} above"
        rows.append((label, f"{low:.4g}", f"{high:.4g}", fullest, outside))
    columns = ("entry", "from", "to", "fullest bin", "outside")
    title = f"Histograms of {how.bins} bins"
    return Section(title, (), columns, tuple(rows[:MOST_ROWS]), 1, {"histogram": data})


def _quantiles(result: Found, how: Any, part: Part) -> Section:
    values = how.values(part["counts"])[0]
    labels = result.subject.labels
    rows = [(label, *(f"{x:.4g}" for x in row)) for label, row in zip(labels, values, strict=True)]
    columns = ("entry", *(f"{100 * level:g} %" for level in how.levels))
    data = {"levels": list(how.levels), "values": values.tolist()}
    lines = ("to 0.4 % of the value",)
    return Section("Quantiles", lines, columns, tuple(rows[:MOST_ROWS]), 1, {"quantiles": data})


def _exceeded(result: Found, how: Any, part: Part) -> Section:
    rows, data = [], []
    limits = np.asarray(how.limits)
    for e, label in enumerate(result.subject.labels):
        count = int(part["count"][0, e])
        first = [int(k) for k in part["states"][0, e] if k >= 0]
        states = [{k: v.tolist() for k, v in result.state(i).items()} for i in first]
        data.append({"entry": label, "limit": float(limits[e]), "count": count, "first": first,
                     "states": states})  # fmt: skip
        share = f"{100 * count / result.count:.3g} %" if count else "0"
        at = _varying(result, first[0]) if first else ""
        limit = f"{limits[e]:.4g}" if np.isfinite(limits[e]) else "none"
        rows.append((label, limit, f"{count:,}", share, at))
    columns = ("entry", "limit", "states beyond", "share", "first at")
    title = "Where limits are exceeded"
    return Section(title, (), columns, tuple(rows[:MOST_ROWS]), 1, {"exceeded": data})


_WRITERS = {
    "extremes": _extremes,
    "moments": _moments,
    "histogram": _histogram,
    "quantiles": _quantiles,
    "exceeded": _exceeded,
}
