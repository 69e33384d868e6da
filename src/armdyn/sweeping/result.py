"""What a sweep found, told, drawn and written."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SweepError, WriteError, counted
from armdyn.forks import cached_property
from armdyn.report.figures import save_picture
from armdyn.report.result import Result, Section, unrounded
from armdyn.sweeping.columns import Subject
from armdyn.sweeping.grid import GridSpace
from armdyn.sweeping.picture import draw
from armdyn.sweeping.reductions import (
    Exceeded,
    Extremes,
    Histogram,
    Moments,
    Part,
    Quantiles,
    Reduction,
)
from armdyn.sweeping.space import Space
from armdyn.sweeping.store import entry_names, write_parquet

Kind = TypeVar("Kind", bound=Reduction)


@dataclass(frozen=True, slots=True)
class FoundExtremes:
    """Arrays (cells..., entries...)."""

    min: Array
    max: Array
    argmin: Array
    """Number of the first state with the minimum; -1 if there is none."""
    argmax: Array
    lost: Array
    """How many results were no number."""

    @property
    def worst(self) -> Array:
        """The largest magnitude."""
        return np.maximum(np.abs(self.min), np.abs(self.max))

    @property
    def argworst(self) -> Array:
        """Number of the state that has it."""
        return np.where(np.abs(self.min) > np.abs(self.max), self.argmin, self.argmax)


@dataclass(frozen=True, slots=True)
class FoundMoments:
    """Arrays (cells..., entries...)."""

    count: Array
    mean: Array
    std: Array
    """Of all states, not an estimate from a sample."""
    rms: Array


@dataclass(frozen=True, slots=True)
class FoundHistogram:
    """Counts (cells..., entries..., bins), and edges (entries, bins + 1)."""

    counts: Array
    edges: Array
    below: Array
    above: Array
    lost: Array


@dataclass(frozen=True, slots=True)
class FoundQuantiles:
    """Values (cells..., entries..., levels)."""

    levels: tuple[float, ...]
    values: Array


@dataclass(frozen=True, slots=True)
class FoundExceeded:
    """Counts (cells..., entries...), and the first states, (..., keep), -1 for none."""

    limits: Array
    count: Array
    states: Array


@dataclass(frozen=True, eq=False)
class SweepResult(Result):
    """What a sweep kept, and how long it took."""

    subject: Subject = field(repr=False)
    space: Space
    reductions: tuple[Reduction, ...]
    totals: tuple[Part, ...] = field(repr=False)
    seconds: float
    computed: int
    """States that were computed now; others were in the store."""
    path: Path | None = None
    timing: Callable[[], Mapping[str, float]] = field(default=dict, repr=False)
    """Measures `shares`."""

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """Of the time of a block: "generating", "evaluating" and "reducing"; none for few states.

        They are measured when they are first asked for, in a tenth of a second.
        """
        return self.timing()

    @property
    def count(self) -> int:
        """States in all."""
        return self.space.count

    @property
    def rate(self) -> float:
        """States a second."""
        return self.computed / self.seconds if self.seconds else math.inf

    @property
    def cells(self) -> tuple[int, ...]:
        """How many values each kept column has."""
        return self.space.cells if isinstance(self.space, GridSpace) else ()

    @property
    def kept(self) -> dict[str, Array]:
        """The values of the kept columns."""
        if not isinstance(self.space, GridSpace):
            return {}
        axes = {self.space.columns.names[c]: self.space.axes[c] for c in self.space.kept}
        return {name: axis.values(0, axis.count) for name, axis in axes.items()}

    def state(self, index: int) -> dict[str, Array]:
        """The state of a number, by arguments."""
        if not 0 <= index < self.count:
            raise SweepError(
                f"there is no state {index}: they are numbered from 0 to {self.count - 1}"
            )
        row = self.space.at(np.array([index]))[0]
        return self.space.columns.split(row)

    def states(self, indices: Array) -> dict[str, Array]:
        """The states of an array of numbers, by arguments, (..., length)."""
        return self.space.columns.split(self.space.at(np.asarray(indices)))

    # what was kept

    @property
    def extremes(self) -> FoundExtremes:
        """Minima and maxima."""
        _, part = self._found(Extremes)
        return FoundExtremes(*(self._shaped(part[k]) for k in FoundExtremes.__slots__))

    @property
    def moments(self) -> FoundMoments:
        """Means and standard deviations."""
        _, part = self._found(Moments)
        count, mean = part["count"], part["mean"]
        variance = part["squares"] / np.maximum(count, 1)
        mean = np.where(count > 0, mean, np.nan)
        found = count, mean, np.sqrt(variance), np.sqrt(variance + mean * mean)
        return FoundMoments(*map(self._shaped, found))

    @property
    def histogram(self) -> FoundHistogram:
        """Counts by bins."""
        how, part = self._found(Histogram)
        low, high = np.asarray(how.low), np.asarray(how.high)
        edges = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, how.bins + 1)
        counts = self._shaped(part["counts"])
        n = how.bins
        outside = (counts[..., k] for k in (0, n + 1, n + 2))
        return FoundHistogram(counts[..., 1 : n + 1], edges, *outside)

    @property
    def quantiles(self) -> FoundQuantiles:
        """Values by levels."""
        how, part = self._found(Quantiles)
        return FoundQuantiles(tuple(how.levels), self._shaped(how.values(part["counts"])))

    @property
    def exceeded(self) -> FoundExceeded:
        """Where limits are exceeded."""
        how, part = self._found(Exceeded)
        found = self._shaped(part["count"]), self._shaped(part["states"])
        return FoundExceeded(np.asarray(how.limits), *found)

    def _found(self, kind: type[Kind]) -> tuple[Kind, Part]:
        for reduction, part in zip(self.reductions, self.totals, strict=True):
            if isinstance(reduction, kind):
                return reduction, part
        kept = ", ".join(r.name for r in self.reductions) or "nothing, everything was stored"
        raise SweepError(f"{kind.name} were not asked for; this sweep kept {kept}")

    def _shaped(self, values: Array) -> Array:
        """Cells and entries by their axes."""
        return values.reshape((*self.cells, *self.subject.kernel.shape, *values.shape[2:]))

    def sections(self) -> tuple[Section, ...]:
        """The report."""
        return sections_of(self)

    def plot(self, path: str | Path, *, workspace: bool = False) -> None:
        """Draw what was kept to a .png, .pdf or .svg file.

        Extremes over one or two kept columns are lines or maps; with `workspace`, over the radius
        and the height of the tool in those states. Otherwise histograms or ranges are drawn.
        """
        save_picture(path, draw, self, workspace)

    def arrays(self) -> dict[str, Array]:
        """Everything that was kept, by names as extremes_max, (cells..., entries..., ...)."""
        found: dict[str, Array] = {}
        for reduction in self.reductions:
            kept = getattr(self, reduction.name)
            for name in type(kept).__slots__:
                found[f"{reduction.name}_{name}"] = np.asarray(getattr(kept, name))
        return found

    def write(self, path: Path) -> None:
        """Write what was kept to a Zarr store, or as a table with a row for each cell."""
        try:
            if path.suffix.lower() == ".zarr":
                import zarr  # noqa: PLC0415 (an extra)

                told = {"robot": self.subject.robot.name, "quantity": self.subject.quantity.name}
                group = zarr.create_group(path, zarr_format=3, overwrite=True, attributes=told)
                for name, values in (self.kept | self.arrays()).items():
                    group.create_array(name, data=np.ascontiguousarray(values))
            else:
                self._write_table(path)
        except OSError as reason:
            raise WriteError(f"cannot write {str(path)!r}: {reason.strerror or reason}") from None

    def _write_table(self, path: Path) -> None:
        mesh = np.meshgrid(*self.kept.values(), indexing="ij")
        columns = {name: values.ravel() for name, values in zip(self.kept, mesh, strict=True)}
        rows = math.prod(self.cells)
        entries = entry_names("", self.subject.kernel.shape)
        for reduction, part in zip(self.reductions, self.totals, strict=True):
            for key, values in part.items():
                flat = values.reshape(rows, len(entries), -1)
                for e, entry in enumerate(entries):
                    for k in range(flat.shape[2]):
                        more = f"_{k + 1}" if values.ndim > 2 else ""
                        columns[f"{reduction.name}_{key}{entry}{more}"] = flat[:, e, k]
        write_parquet(path, columns, {"armdyn": self.subject.quantity.name})


MOST_ROWS = 60
"""Entries of a result that are printed."""
MOST_TOLD = 7
"""Columns of a state that are printed."""


def sections_of(result: SweepResult) -> tuple[Section, ...]:
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


def _extremes(result: SweepResult, _: Any, part: Part) -> Section:
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


def _varying(result: SweepResult, index: int) -> str:
    """The columns of a state that vary, short."""
    if index < 0:
        return "-"
    row = result.space.at(np.array([index]))[0]
    names = result.space.columns.names
    told = [f"{names[c]} {row[c]:.3g}" for c in result.space.varying]
    more = f", {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    return ", ".join(told[:MOST_TOLD]) + more or "-"


def _moments(result: SweepResult, _: Any, part: Part) -> Section:
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


def _histogram(result: SweepResult, how: Any, part: Part) -> Section:
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


def _quantiles(result: SweepResult, how: Any, part: Part) -> Section:
    values = how.values(part["counts"])[0]
    labels = result.subject.labels
    rows = [(label, *(f"{x:.4g}" for x in row)) for label, row in zip(labels, values, strict=True)]
    columns = ("entry", *(f"{100 * level:g} %" for level in how.levels))
    data = {"levels": list(how.levels), "values": values.tolist()}
    lines = ("to 0.4 % of the value",)
    return Section("Quantiles", lines, columns, tuple(rows[:MOST_ROWS]), 1, {"quantiles": data})


def _exceeded(result: SweepResult, how: Any, part: Part) -> Section:
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
