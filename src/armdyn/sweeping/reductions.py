"""What is kept of the results of many states: extremes, moments, histograms, quantiles, excesses.

Each is merged exactly, or in the fixed order of the blocks: the result does not depend on who
computed which block.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen
from armdyn.errors import SweepError, shown
from armdyn.kernels.llvm.sweep_results import FIRST_KEY, FRACTION_BITS, LANES, MAGNITUDES
from armdyn.report.result import plain_data
from armdyn.sweeping.columns import whole

Part = dict[str, Array]
"""Arrays whose first two axes are cells and entries of the result."""


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


class Reduction(ABC):
    """What is kept of results: `cooked` of a block, `merge` of parts in the order of the blocks."""

    name: ClassVar[str]

    @property
    def open(self) -> bool:
        """Whether something is left open that some results tell."""
        return False

    def settled(self, entries: int, pilot: Array, limits: Array) -> "Reduction":
        """With what was left open: from some results (m, entries), and limits (entries,)."""
        return self

    def start(self, cells: int, entries: int) -> Part:
        """The part of no states: what the loop would leave in a new memory."""
        one = self.cooked(self.memory(1, np.zeros((1, entries))), 0)
        return {key: np.repeat(values, cells, axis=0) for key, values in one.items()}

    @abstractmethod
    def merge(self, one: Part, other: Part) -> None:
        """Put a later part into an earlier one."""

    @abstractmethod
    def memory(self, cells: int, shift: Array) -> Array:
        """The words of a block in the compiled loop, (cells, entries, ...) int64.

        `shift` is the first result of each cell, (cells, entries).
        """

    def settings(self) -> dict[str, Any]:
        """What the loop must know besides: bounds and the like, which all cells share."""
        return {}

    @abstractmethod
    def cooked(self, memory: Array, states: int) -> Part:
        """The part that the compiled loop left in the memory, of so many states in a cell."""

    @abstractmethod
    def found(self, part: Part, shaped: Callable[[Array], Array]) -> Any:
        """What was found, for people; `shaped` gives cells and entries their axes."""

    def describe(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name} | {key: plain_data(x) for key, x in vars(self).items()}


def each_entry(given: npt.ArrayLike, entries: int, fault: str) -> Array:
    """One number for all entries or one each, (entries,), or an error that says the fault."""
    try:
        return frozen(np.broadcast_to(np.asarray(given, dtype=float), (entries,)))
    except (TypeError, ValueError):
        raise SweepError(f"{fault}, got {shown(given)}") from None


NONE = -1
"""The number of no state."""


@dataclass(frozen=True)
class Extremes(Reduction):
    """Minimum and maximum with the first state of each; results that are no number are counted."""

    name: ClassVar[str] = "extremes"

    def merge(self, one: Part, other: Part) -> None:
        """The first of equals stays."""
        for side, better in (("min", np.less), ("max", np.greater)):
            new = better(other[side], one[side])
            np.copyto(one[side], other[side], where=new)
            np.copyto(one["arg" + side], other["arg" + side], where=new)
        one["lost"] += other["lost"]

    def memory(self, cells: int, shift: Array) -> Array:
        """For each entry: maxima, minima, their states, and how many are no number."""
        words = np.zeros((cells, shift.shape[1], 5, LANES), dtype=np.int64)
        numbers = words.view(np.float64)
        numbers[:, :, 0], numbers[:, :, 1] = -np.inf, np.inf
        words[:, :, 2:4] = NONE
        return words

    def cooked(self, memory: Array, states: int) -> Part:
        """The best of all lanes, of equals the first."""
        words, numbers = memory, memory.view(np.float64)
        result: Part = {}
        for side, place, best in (("max", 0, np.max), ("min", 1, np.min)):
            result[side] = best(numbers[:, :, place], axis=-1)
            same = numbers[:, :, place] == result[side][..., None]
            at = np.where(same & (words[:, :, 2 + place] >= 0), words[:, :, 2 + place], 2**62)
            lowest = at.min(axis=-1)
            result["arg" + side] = np.where(lowest < 2**62, lowest, NONE)
        result["lost"] = words[:, :, 4].sum(axis=-1)
        return result

    def found(self, part: Part, shaped: Callable[[Array], Array]) -> FoundExtremes:
        """Minima and maxima."""
        return FoundExtremes(*(shaped(part[k]) for k in FoundExtremes.__slots__))


@dataclass(frozen=True)
class Moments(Reduction):
    """Mean, and sum of the squared distances from it; results that are no number are left out.

    A block adds distances from its first result, which lose no digits; blocks are put together
    as Chan, Golub and LeVeque (1983) do, in their order.
    """

    name: ClassVar[str] = "moments"

    def merge(self, one: Part, other: Part) -> None:
        """Chan's formulas."""
        a, b = one["count"].astype(float), other["count"].astype(float)
        both = np.maximum(a + b, 1.0)
        apart = other["mean"] - one["mean"]
        one["mean"] += apart * (b / both)
        one["squares"] += other["squares"] + apart * apart * (a * b / both)
        one["count"] += other["count"]

    def memory(self, cells: int, shift: Array) -> Array:
        """For each entry: the first result, sums of distances and of squares, and the lost."""
        words = np.zeros((cells, shift.shape[1], 4, LANES), dtype=np.int64)
        words.view(np.float64)[:, :, 0] = np.where(np.isfinite(shift), shift, 0.0)[:, :, None]
        return words

    def cooked(self, memory: Array, states: int) -> Part:
        """The sums of all lanes, in their order."""
        numbers = memory.view(np.float64)
        count = states - memory[:, :, 3].sum(axis=-1)
        some = np.maximum(count, 1)
        first, second = (np.cumsum(numbers[:, :, k], axis=-1)[..., -1] for k in (1, 2))
        mean = first / some
        squares = np.maximum(second - first * mean, 0.0)
        return {"count": count, "mean": numbers[:, :, 0, 0] + mean, "squares": squares}

    def found(self, part: Part, shaped: Callable[[Array], Array]) -> FoundMoments:
        """Means and standard deviations."""
        count = part["count"]
        mean = np.where(count > 0, part["mean"], np.nan)
        variance = part["squares"] / np.maximum(count, 1)
        found = count, mean, np.sqrt(variance), np.sqrt(variance + mean * mean)
        return FoundMoments(*map(shaped, found))


WIDER = 0.1
"""A range that is not given is that of some results, and so much wider on both sides."""
FRACTION_SHIFT = 52 - FRACTION_BITS


@dataclass(frozen=True)
class Counts(Reduction):
    """How many results are in each bin."""

    @property
    @abstractmethod
    def length(self) -> int:
        """How many bins there are, with those for what lies outside and for what is no number."""

    def merge(self, one: Part, other: Part) -> None:
        """The sums."""
        one["counts"] += other["counts"]

    def memory(self, cells: int, shift: Array) -> Array:
        """Counts."""
        return np.zeros((cells, shift.shape[1], self.length), dtype=np.int64)

    def cooked(self, memory: Array, states: int) -> Part:
        """The counts as they are."""
        return {"counts": memory}


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
        bins = whole("bins", self.bins)
        finite = np.where(np.isfinite(pilot), pilot, np.nan)
        known = np.isfinite(finite).any(axis=0)
        finite = np.where(known, finite, 0.0)
        least, most = np.nanmin(finite, axis=0), np.nanmax(finite, axis=0)
        room = np.where(most > least, WIDER * (most - least), np.maximum(1e-9, 0.5 * np.abs(most)))
        what = "the range of a histogram"
        fault = f"{what} is one number for all entries or one for each of the {entries}"
        low, high = (
            each_entry(seen if given is None else given, entries, fault)
            for given, seen in ((self.low, least - room), (self.high, most + room))
        )
        if not (np.isfinite([low, high]).all() and (low < high).all()):
            raise SweepError(f"{what} must be finite, with low below high")
        return replace(self, bins=bins, low=low, high=high)

    @property
    def length(self) -> int:
        """Below, the bins, above, no number."""
        return self.bins + 3

    def settings(self) -> dict[str, Any]:
        """Lower ends and scales, (2, entries), and how many bins there are."""
        scale = self.bins / (np.asarray(self.high) - np.asarray(self.low))
        return {"bounds": np.array([self.low, scale], dtype=float), "bins": self.bins}

    def found(self, part: Part, shaped: Callable[[Array], Array]) -> FoundHistogram:
        """Counts by bins."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        edges = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, self.bins + 1)
        counts, n = shaped(part["counts"]), self.bins
        outside = (counts[..., k] for k in (0, n + 1, n + 2))
        return FoundHistogram(counts[..., 1 : n + 1], edges, *outside)


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

    def found(self, part: Part, shaped: Callable[[Array], Array]) -> FoundQuantiles:
        """Values by levels."""
        return FoundQuantiles(tuple(self.levels), shaped(self.values(part["counts"])))


def middles() -> Array:
    """The middle of each bin of the quantiles, (2 MAGNITUDES,); what is smaller than any is 0."""
    keys = np.arange(MAGNITUDES + 1, dtype=np.int64) + FIRST_KEY
    edges = (keys << FRACTION_SHIFT).view(np.float64)
    size = 0.5 * (edges[1:] + edges[:-1])
    size[0] = 0.0
    return np.concatenate([-size[::-1], size]) + 0.0


@dataclass(frozen=True)
class Exceeded(Reduction):
    """How many results are larger than a limit in magnitude, and the first states of them.

    `limits` are one number for all entries or one each; None: the efforts of the joints.
    """

    name: ClassVar[str] = "exceeded"
    limits: npt.ArrayLike | None = None
    keep: int = 8
    """States that are kept of each entry."""

    def settled(self, entries: int, pilot: Array, limits: Array) -> "Exceeded":
        """With a limit for each entry."""
        keep = whole("keep", self.keep)
        if self.limits is None and not np.isfinite(limits).any():
            raise SweepError(
                "limits: none are known; give Exceeded(limits=...), one number for all "
                f"entries or one for each of the {entries}"
            )
        given = limits if self.limits is None else self.limits
        fault = f"limits: expected one number from 0 on, or one for each of the {entries} entries"
        bounds = each_entry(given, entries, fault)
        if not (bounds >= 0).all():
            raise SweepError(f"{fault}, got {shown(given)}")
        return replace(self, limits=bounds, keep=keep)

    def merge(self, one: Part, other: Part) -> None:
        """The states of the earlier part come first."""
        some = (other["count"] > 0) & (one["count"] < self.keep)
        for c, e in np.argwhere(some):
            mine, theirs = one["states"][c, e], other["states"][c, e]
            known = np.concatenate([mine[mine != NONE], theirs[theirs != NONE]])[: self.keep]
            mine[: len(known)] = known
        one["count"] += other["count"]

    def memory(self, cells: int, shift: Array) -> Array:
        """For each entry a count, and so many states."""
        words = np.full((cells, shift.shape[1], 1 + self.keep), NONE, dtype=np.int64)
        words[:, :, 0] = 0
        return words

    def settings(self) -> dict[str, Any]:
        """The limits, and how many states are kept."""
        return {"bounds": np.array(self.limits, dtype=float), "keep": self.keep}

    def cooked(self, memory: Array, states: int) -> Part:
        """As it is."""
        return {"count": memory[:, :, 0], "states": memory[:, :, 1:]}

    def found(self, part: Part, shaped: Callable[[Array], Array]) -> FoundExceeded:
        """Where limits are exceeded."""
        return FoundExceeded(
            np.asarray(self.limits), *(shaped(part[k]) for k in ("count", "states"))
        )


REDUCTIONS: dict[str, type[Reduction]] = {
    kind.name: kind for kind in (Extremes, Moments, Histogram, Quantiles, Exceeded)
}
"""By the names under which they can be asked for."""
