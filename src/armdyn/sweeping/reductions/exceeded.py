"""Where results leave their limits."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen
from armdyn.errors import SweepError, shown
from armdyn.sweeping.reductions.reduction import Part, Raw, Reduction

NONE = -1


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
        if isinstance(self.keep, bool) or not isinstance(self.keep, int) or self.keep < 1:
            raise SweepError(f"keep: expected a whole number from 1 on, got {shown(self.keep)}")
        if self.limits is None and not np.isfinite(limits).any():
            raise SweepError(
                "limits: none are known; give Exceeded(limits=...), one number for all "
                f"entries or one for each of the {entries}"
            )
        given = limits if self.limits is None else self.limits
        try:
            found = frozen(np.broadcast_to(np.asarray(given, dtype=float), (entries,)))
        except (TypeError, ValueError):
            found = frozen([-1.0])
        if not (found >= 0).all():
            raise SweepError(
                f"limits: expected one number from 0 on, or one for each of the {entries} "
                f"entries, got {shown(given)}"
            )
        return replace(self, limits=found)

    def start(self, cells: int, entries: int) -> Part:
        """The part of no states."""
        return {
            "count": np.zeros((cells, entries), dtype=np.int64),
            "states": np.full((cells, entries, self.keep), NONE),
        }

    def part(self, values: Array, first: Array) -> Part:
        """Of results."""
        cells, _, entries = values.shape
        result = self.start(cells, entries)
        beyond = np.abs(values) > np.asarray(self.limits)
        result["count"] += beyond.sum(axis=1)
        for c, e in np.argwhere(result["count"] > 0):
            found = np.flatnonzero(beyond[c, :, e])[: self.keep] + first[c]
            result["states"][c, e, : len(found)] = found
        return result

    def merge(self, one: Part, other: Part) -> None:
        """The states of the earlier part come first."""
        some = (other["count"] > 0) & (one["count"] < self.keep)
        for c, e in np.argwhere(some):
            mine, theirs = one["states"][c, e], other["states"][c, e]
            known = np.concatenate([mine[mine != NONE], theirs[theirs != NONE]])[: self.keep]
            mine[: len(known)] = known
        one["count"] += other["count"]

    def raw(self, cells: int, shift: Array) -> Raw:
        """For each entry a count, and so many states."""
        words = np.full((cells, shift.shape[1], 1 + self.keep), NONE, dtype=np.int64)
        words[:, :, 0] = 0
        return Raw(words.reshape(cells, -1), np.array(self.limits, dtype=float))

    def cooked(self, raw: Raw, entries: int, states: int) -> Part:
        """As it is."""
        words = raw.words.reshape(len(raw.words), entries, 1 + self.keep)
        return {"count": words[:, :, 0], "states": words[:, :, 1:]}
