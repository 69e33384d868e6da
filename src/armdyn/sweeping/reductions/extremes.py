"""The smallest and the largest result, and the states that have them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from armdyn.arrays import Array
from armdyn.sweeping.reductions.reduction import LANES, Part, Raw, Reduction

NONE = -1
"""The number of no state."""


@dataclass(frozen=True)
class Extremes(Reduction):
    """Minimum and maximum with the first state of each; results that are no number are counted."""

    name: ClassVar[str] = "extremes"

    def start(self, cells: int, entries: int) -> Part:
        """The part of no states."""
        shape = cells, entries
        return {
            "min": np.full(shape, np.inf),
            "max": np.full(shape, -np.inf),
            "argmin": np.full(shape, NONE),
            "argmax": np.full(shape, NONE),
            "lost": np.zeros(shape, dtype=np.int64),
        }

    def part(self, values: Array, first: Array) -> Part:
        """Of results."""
        cells, _, entries = values.shape
        result = self.start(cells, entries)
        lost = np.isnan(values)
        result["lost"] += lost.sum(axis=1)
        for side, filled, best in (("min", np.inf, np.argmin), ("max", -np.inf, np.argmax)):
            clean = np.where(lost, filled, values)
            at = best(clean, axis=1)
            found = np.take_along_axis(clean, at[:, None], axis=1)[:, 0]
            known = found != filled
            result[side] = found
            result["arg" + side] = np.where(known, at + first[:, None], NONE)
        return result

    def merge(self, one: Part, other: Part) -> None:
        """The first of equals stays."""
        for side, better in (("min", np.less), ("max", np.greater)):
            new = better(other[side], one[side])
            np.copyto(one[side], other[side], where=new)
            np.copyto(one["arg" + side], other["arg" + side], where=new)
        one["lost"] += other["lost"]

    def raw(self, cells: int, shift: Array) -> Raw:
        """For each entry: maxima, minima, their states, and how many are no number."""
        words = np.zeros((cells, shift.shape[1], 5, LANES), dtype=np.int64)
        numbers = words.view(np.float64)
        numbers[:, :, 0], numbers[:, :, 1] = -np.inf, np.inf
        words[:, :, 2:4] = NONE
        return Raw(words.reshape(cells, -1), np.zeros(1))

    def cooked(self, raw: Raw, entries: int, states: int) -> Part:
        """The best of all lanes, of equals the first."""
        words = raw.words.reshape(len(raw.words), entries, 5, LANES)
        numbers = words.view(np.float64)
        result = self.start(len(words), entries)
        for side, place, best in (("max", 0, np.max), ("min", 1, np.min)):
            result[side] = best(numbers[:, :, place], axis=-1)
            same = numbers[:, :, place] == result[side][..., None]
            at = np.where(same & (words[:, :, 2 + place] >= 0), words[:, :, 2 + place], 2**62)
            lowest = at.min(axis=-1)
            result["arg" + side] = np.where(lowest < 2**62, lowest, NONE)
        result["lost"] = words[:, :, 4].sum(axis=-1)
        return result
