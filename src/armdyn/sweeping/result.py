"""What a sweep found, told, drawn and written."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SweepError, counted
from armdyn.forks import cached_property
from armdyn.io.atomic import writing
from armdyn.io.csv.table import write_parquet
from armdyn.report.figures import save_picture
from armdyn.report.result import Result, Section, number, unrounded
from armdyn.sweeping.columns import Subject
from armdyn.sweeping.grid import GridSpace
from armdyn.sweeping.picture import draw
from armdyn.sweeping.reductions import (
    Exceeded,
    Extremes,
    FoundExceeded,
    FoundExtremes,
    FoundHistogram,
    FoundMoments,
    FoundQuantiles,
    Histogram,
    Moments,
    Part,
    Quantiles,
    Reduction,
)
from armdyn.sweeping.space import Space
from armdyn.sweeping.store import entry_names, labelled_group


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
        return self.space.cells

    @property
    def kept(self) -> dict[str, Array]:
        """The values of the kept columns."""
        if not isinstance(self.space, GridSpace):
            return {}
        axes = {self.space.columns.names[c]: self.space.axes[c] for c in self.space.kept}
        return {name: axis.at(np.arange(axis.count)) for name, axis in axes.items()}

    def state(self, index: int) -> dict[str, Array]:
        """The state of a number, by arguments."""
        if not 0 <= index < self.count:
            raise SweepError(
                f"there is no state {index}: they are numbered from 0 to {self.count - 1}"
            )
        return self.states(np.array(index))

    def states(self, indices: Array) -> dict[str, Array]:
        """The states of an array of numbers, by arguments, (..., length)."""
        return self.space.columns.split(self.space.at(np.asarray(indices)))

    # what was kept

    @property
    def extremes(self) -> FoundExtremes:
        """Minima and maxima."""
        return self._found(Extremes)

    @property
    def moments(self) -> FoundMoments:
        """Means and standard deviations."""
        return self._found(Moments)

    @property
    def histogram(self) -> FoundHistogram:
        """Counts by bins."""
        return self._found(Histogram)

    @property
    def quantiles(self) -> FoundQuantiles:
        """Values by levels."""
        return self._found(Quantiles)

    @property
    def exceeded(self) -> FoundExceeded:
        """Where limits are exceeded."""
        return self._found(Exceeded)

    def _found(self, kind: type[Reduction]) -> Any:
        for reduction, part in zip(self.reductions, self.totals, strict=True):
            if isinstance(reduction, kind):
                return reduction.found(part, self._shaped)
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
        with writing(repr(str(path))):
            if path.suffix.lower() != ".zarr":
                self._write_table(path)
                return
            with labelled_group(path, self.subject, {}) as group:
                for name, values in (self.kept | self.arrays()).items():
                    data = np.ascontiguousarray(values)
                    axes = self._axes(name, values)
                    group.create_array(name, data=data, dimension_names=axes)

    def _axes(self, name: str, values: Array) -> tuple[str, ...]:
        """Names for the axes of an array that was kept: cells, entries, and what is its own."""
        if name in self.kept:
            return (name,)
        entries = self.subject.axes[self.subject.quantity.name]
        shape = self.cells + self.subject.kernel.shape
        axes = (*self.kept, *entries) if values.shape[: len(shape)] == shape else ()
        return *axes, *(f"{name}_axis{k}" for k in range(len(axes) + 1, values.ndim + 1))

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
"""Rows of a table that are printed."""


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
        whole = reduction.found(over_all(reduction, part), lambda values: values[0])
        section = _WRITERS[reduction.name](result, whole)
        if (count := len(section.rows)) > MOST_ROWS:
            notes = *section.lines, f"the first {MOST_ROWS} of {count} rows; the data have all"
            section = replace(section, lines=notes, rows=section.rows[:MOST_ROWS])
        found.append(section)
    return tuple(found)


def over_all(reduction: Reduction, part: Part) -> Part:
    """What is kept of all cells together: neighbours are merged until one is left."""
    while (cells := len(next(iter(part.values())))) > 1:
        pairs = {k: v[: cells // 2 * 2 : 2].copy() for k, v in part.items()}
        reduction.merge(pairs, {k: v[1::2] for k, v in part.items()})
        odd = {k: v[cells // 2 * 2 :] for k, v in part.items()}
        part = {k: np.concatenate([v, odd[k]]) for k, v in pairs.items()}
    return part


def _extremes(result: SweepResult, found: FoundExtremes) -> Section:
    scale = _largest(found.min, found.max)
    rows, data = [], []
    lost = np.ravel(found.lost)
    for e, label in enumerate(result.subject.labels):
        ends: dict[str, Any] = {}
        for side in ("min", "max"):
            value = float(getattr(found, side)[e])
            index = int(getattr(found, f"arg{side}")[e])
            state = result.state(index) if index >= 0 else {}
            plain = {k: v.tolist() for k, v in state.items()}
            ends[side] = {"value": value, "state": plain, "index": index}
            at = map(number, _varying(result, index).values())
            rows.append((label, f"{side}imum", f"{unrounded(value, scale):.5g}", *at))
        data.append({"entry": label, **ends, "lost": int(lost[e])})
    notes = (f"{lost.sum():,} results are no number",) if lost.any() else ()
    columns = ("entry", "", "value", *_varying(result, 0))
    title = "Extremes, and the states that have them"
    return Section(title, notes, columns, rows, 2, {"extremes": data})


def _largest(*values: Array) -> float:
    """The largest magnitude, beside which rounding is told from a value."""
    finite = np.abs(np.concatenate(values))
    return float(finite[np.isfinite(finite)].max(initial=0.0))


def _varying(result: SweepResult, index: int) -> dict[str, float]:
    """The columns of a state that vary; not a number if there is no such state."""
    row = result.space.at(np.array([max(index, 0)]))[0] + (0.0 if index >= 0 else np.nan)
    return {result.space.columns.names[c]: row[c] for c in result.space.varying}


def _moments(result: SweepResult, found: FoundMoments) -> Section:
    keys, scale = ("mean", "std", "rms", "count"), _largest(found.rms)
    data = [
        {"entry": label} | {key: getattr(found, key)[e].item() for key in keys}
        for e, label in enumerate(result.subject.labels)
    ]
    rows = [
        (row["entry"], *(f"{unrounded(row[key], scale):.5g}" for key in keys[:3])) for row in data
    ]
    columns = ("entry", "mean", "standard deviation", "RMS")
    return Section("Moments", (), columns, rows, data={"moments": data})


def _histogram(result: SweepResult, found: FoundHistogram) -> Section:
    data, rows = [], []
    for e, label in enumerate(result.subject.labels):
        counts, edges = found.counts[e], found.edges[e]
        low, high, at = float(edges[0]), float(edges[-1]), int(counts.argmax())
        outside = {key: int(getattr(found, key)[e]) for key in ("below", "above", "lost")}
        data.append(
            {"entry": label, "low": low, "high": high, "counts": counts.tolist(), **outside}
        )
        fullest = f"{edges[at]:.4g} to {edges[at + 1]:.4g}"
        beyond = f"{outside['below']} below, {outside['above']} above"
        rows.append((label, f"{low:.4g}", f"{high:.4g}", fullest, beyond))
    columns = ("entry", "from", "to", "fullest bin", "outside")
    title = f"Histograms of {found.counts.shape[-1]} bins"
    return Section(title, (), columns, rows, data={"histogram": data})


def _quantiles(result: SweepResult, found: FoundQuantiles) -> Section:
    pairs = zip(result.subject.labels, found.values, strict=True)
    rows = [(label, *(f"{x:.4g}" for x in values)) for label, values in pairs]
    columns = ("entry", *(f"{100 * level:g} %" for level in found.levels))
    data = {"levels": list(found.levels), "values": found.values.tolist()}
    lines = ("to 0.4 % of the value",)
    return Section("Quantiles", lines, columns, rows, data={"quantiles": data})


def _exceeded(result: SweepResult, found: FoundExceeded) -> Section:
    rows, data = [], []
    for e, label in enumerate(result.subject.labels):
        count, limit = int(found.count[e]), float(found.limits[e])
        first = [int(k) for k in found.states[e] if k >= 0]
        states = [{k: v.tolist() for k, v in result.state(i).items()} for i in first]
        data.append(
            {"entry": label, "limit": limit, "count": count, "first": first, "states": states}
        )
        share = f"{100 * count / result.count:.3g} %" if count else "0"
        at = _varying(result, first[0] if first else -1)
        told = f"{limit:.4g}" if np.isfinite(limit) else "none"
        rows.append((label, told, f"{count:,}", share, *map(number, at.values())))
    columns = ("entry", "limit", "states beyond", "share", *_varying(result, 0))
    title = "Where limits are exceeded, and the first such states"
    return Section(title, (), columns, rows, data={"exceeded": data})


_WRITERS: dict[str, Callable[[SweepResult, Any], Section]] = {
    "extremes": _extremes,
    "moments": _moments,
    "histogram": _histogram,
    "quantiles": _quantiles,
    "exceeded": _exceeded,
}
