"""What a sweep found, as data."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SweepError
from armdyn.forks import cached_property
from armdyn.sweeping.grid import GridSpace
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
from armdyn.sweeping.subject import Subject

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
class Found:
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
