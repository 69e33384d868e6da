"""Mean and standard deviation."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armdyn.arrays import Array
from armdyn.sweeping.reductions.reduction import LANES, Part, Raw, Reduction, column_sums


@dataclass(frozen=True)
class Moments(Reduction):
    """Mean, and sum of the squared distances from it; results that are no number are left out.

    A block adds distances from its first result, which lose no digits; blocks are put together
    as Chan, Golub and LeVeque (1983) do, in their order.
    """

    name: ClassVar[str] = "moments"

    def start(self, cells: int, entries: int) -> Part:
        """The part of no states."""
        shape = cells, entries
        return {
            "count": np.zeros(shape, dtype=np.int64),
            "mean": np.zeros(shape),
            "squares": np.zeros(shape),
        }

    def part(self, values: Array, first: Array) -> Part:
        """Of results."""
        there = ~np.isnan(values)
        count = there.sum(axis=1)
        some = np.maximum(count, 1)
        mean = np.where(there, values, 0.0).sum(axis=1) / some
        away = np.where(there, values - mean[:, None], 0.0)
        return {"count": count, "mean": mean, "squares": (away * away).sum(axis=1)}

    def merge(self, one: Part, other: Part) -> None:
        """Chan's formulas."""
        a, b = one["count"].astype(float), other["count"].astype(float)
        both = np.maximum(a + b, 1.0)
        apart = other["mean"] - one["mean"]
        one["mean"] += apart * (b / both)
        one["squares"] += other["squares"] + apart * apart * (a * b / both)
        one["count"] += other["count"]

    def raw(self, cells: int, shift: Array) -> Raw:
        """For each entry: the first result, sums of distances and of squares, and the lost."""
        words = np.zeros((cells, shift.shape[1], 4, LANES), dtype=np.int64)
        words.view(np.float64)[:, :, 0] = np.where(np.isfinite(shift), shift, 0.0)[:, :, None]
        return Raw(words.reshape(cells, -1), np.zeros(1))

    def cooked(self, raw: Raw, entries: int, states: int) -> Part:
        """The sums of all lanes, in their order."""
        words = raw.words.reshape(len(raw.words), entries, 4, LANES)
        numbers = words.view(np.float64)
        count = states - words[:, :, 3].sum(axis=-1)
        some = np.maximum(count, 1)
        first, second = (column_sums(numbers[:, :, k]) for k in (1, 2))
        mean = first / some
        squares = np.maximum(second - first * mean, 0.0)
        return {"count": count, "mean": numbers[:, :, 0, 0] + mean, "squares": squares}
