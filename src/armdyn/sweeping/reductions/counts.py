"""Histograms, and quantiles from histograms of fine bins."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen
from armdyn.errors import SweepError, shown
from armdyn.kernels.llvm.sweep_results import FIRST_KEY, FRACTION_BITS, MAGNITUDES
from armdyn.sweeping.reductions.reduction import Part, Raw, Reduction

WIDER = 0.1
"""A range that is not given is that of some results, and so much wider on both sides."""
FRACTION_SHIFT = 52 - FRACTION_BITS


@dataclass(frozen=True)
class Counts(Reduction):
    """How many results are in each bin."""

    def bins_of(self, values: Array) -> Array:
        """The number of the bin of each result, (cells, m, entries)."""
        raise NotImplementedError

    @property
    def length(self) -> int:
        """How many bins there are, with those for what lies outside and for what is no number."""
        raise NotImplementedError

    def start(self, cells: int, entries: int) -> Part:
        """The part of no states."""
        return {"counts": np.zeros((cells, entries, self.length), dtype=np.int64)}

    def part(self, values: Array, first: Array) -> Part:
        """Of results."""
        cells, _, entries = values.shape
        result = self.start(cells, entries)
        which = np.arange(cells * entries).reshape(cells, 1, entries) * self.length
        flat = (self.bins_of(values) + which).ravel()
        result["counts"] += np.bincount(flat, minlength=cells * entries * self.length).reshape(
            cells, entries, self.length
        )
        return result

    def merge(self, one: Part, other: Part) -> None:
        """The sums."""
        one["counts"] += other["counts"]

    def cooked(self, raw: Raw, entries: int, states: int) -> Part:
        """The counts as they are."""
        return {"counts": raw.words.reshape(len(raw.words), entries, self.length)}

    def raw(self, cells: int, shift: Array) -> Raw:
        """Counts."""
        words = np.zeros((cells, shift.shape[1] * self.length), dtype=np.int64)
        return Raw(words, self.extra())

    def extra(self) -> Array:
        """What the compiled loop must know of the bins."""
        return np.zeros(1)


@dataclass(frozen=True)
class Histogram(Counts):
    """Bins of one width from `low` to below `high`, one number for all entries or one each.

    Without a range, it is that of some results spread over all states, a tenth wider on both sides.
    What lies outside is counted in a bin on either side, what is no number in the last one.
    """

    name: ClassVar[str] = "histogram"
    bins: int = 64
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None

    @property
    def open(self) -> bool:
        """Whether a range is left open."""
        return self.low is None or self.high is None

    def settled(self, entries: int, pilot: Array, limits: Array) -> "Histogram":
        """With ranges for all entries."""
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or self.bins < 1:
            raise SweepError(f"bins: expected a whole number from 1 on, got {shown(self.bins)}")
        finite = np.where(np.isfinite(pilot), pilot, np.nan)
        known = np.isfinite(finite).any(axis=0)
        finite = np.where(known, finite, 0.0)
        least, most = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
        room = np.where(most > least, WIDER * (most - least), np.maximum(1e-9, 0.5 * np.abs(most)))
        ends = []
        for given, found in ((self.low, least - room), (self.high, most + room)):
            try:
                end = found if given is None else np.asarray(given, dtype=float)
                ends.append(frozen(np.broadcast_to(end, (entries,))))
            except (TypeError, ValueError):
                raise SweepError(
                    "the range of a histogram is one number for all entries or one for each of "
                    f"the {entries}, got {shown(given)}"
                ) from None
        if not (np.isfinite(ends).all() and (ends[0] < ends[1]).all()):
            raise SweepError("the range of a histogram must be finite, with low below high")
        return replace(self, low=ends[0], high=ends[1])

    @property
    def length(self) -> int:
        """Below, the bins, above, no number."""
        return self.bins + 3

    @property
    def _scale(self) -> Array:
        return np.asarray(self.bins / (np.asarray(self.high) - np.asarray(self.low)))

    def bins_of(self, values: Array) -> Array:
        """The number of the bin of each result."""
        with np.errstate(invalid="ignore", over="ignore"):
            place = (values - self.low) * self._scale + 1.0
        place = np.where(place > 0.0, place, 0.0)
        place = np.where(place < self.bins + 1.0, place, self.bins + 1.0)
        return np.where(np.isnan(values), self.bins + 2, place.astype(np.int64))

    def extra(self) -> Array:
        """Lower ends and scales, (2, entries)."""
        return np.array([self.low, self._scale], dtype=float)


@dataclass(frozen=True)
class Quantiles(Counts):
    """Values below which given shares of the results lie, to 0.4 % of the value.

    Results are counted by sign, power of two and the first seven bits of the fraction, between
    6e-8 and 1e12; so counts are exact, and a quantile is the middle of its bin.
    """

    name: ClassVar[str] = "quantiles"
    levels: Sequence[float] = field(default=(0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99))

    def __post_init__(self) -> None:
        try:
            levels = tuple(float(level) for level in self.levels)
        except (TypeError, ValueError):
            levels = (np.nan,)
        if not levels or not all(0 <= level <= 1 for level in levels):
            raise SweepError(f"levels: expected shares between 0 and 1, got {shown(self.levels)}")
        object.__setattr__(self, "levels", levels)

    @property
    def length(self) -> int:
        """Bins of both signs, and that of no number."""
        return 2 * MAGNITUDES + 1

    def bins_of(self, values: Array) -> Array:
        """The number of the bin of each result."""
        bits = np.ascontiguousarray(np.abs(values)).view(np.int64)
        key = np.clip((bits >> FRACTION_SHIFT) - FIRST_KEY, 0, MAGNITUDES - 1)
        place = np.where(np.signbit(values), MAGNITUDES - 1 - key, MAGNITUDES + key)
        return np.where(np.isnan(values), 2 * MAGNITUDES, place)

    def values(self, counts: Array) -> Array:
        """The quantiles, (..., levels), of counts (..., length)."""
        known = counts[..., :-1]
        total = known.sum(axis=-1, keepdims=True)
        upto = known.cumsum(axis=-1)
        wanted = np.maximum(1, np.ceil(np.asarray(self.levels) * total))
        places = np.empty((*counts.shape[:-1], len(self.levels)), dtype=np.int64)
        for at in np.ndindex(counts.shape[:-1]):
            places[at] = np.searchsorted(upto[at], wanted[at])
        found = middles()[np.minimum(places, 2 * MAGNITUDES - 1)]
        return np.where(total > 0, found, np.nan)


def middles() -> Array:
    """The middle of each bin of the quantiles, (2 MAGNITUDES,); what is smaller than any is 0."""
    keys = np.arange(MAGNITUDES + 1, dtype=np.int64) + FIRST_KEY
    edges = (keys << FRACTION_SHIFT).view(np.float64)
    size = 0.5 * (edges[1:] + edges[:-1])
    size[0] = 0.0
    return np.concatenate([-size[::-1], size]) + 0.0
