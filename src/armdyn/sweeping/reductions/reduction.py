"""What every reduction does."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armdyn.arrays import Array
from armdyn.kernels.llvm.sweep_results import LANES as LANES

Part = dict[str, Array]
"""Arrays whose first two axes are cells and entries of the result."""


@dataclass(frozen=True, slots=True)
class Raw:
    """The memory of a reduction in the compiled loop."""

    words: Array
    """(cells, words) of 8 bytes."""
    extra: Array
    """Bounds and the like, which all cells share."""


class Reduction(ABC):
    """What is kept of results: `part` of a block, `merge` of parts in the order of the blocks."""

    name: ClassVar[str]

    @property
    def open(self) -> bool:
        """Whether something is left open that some results tell."""
        return False

    def settled(self, entries: int, pilot: Array, limits: Array) -> "Reduction":
        """With what was left open: from some results (m, entries), and limits (entries,)."""
        return self

    @abstractmethod
    def start(self, cells: int, entries: int) -> Part:
        """The part of no states."""

    @abstractmethod
    def part(self, values: Array, first: Array) -> Part:
        """Of results (cells, m, entries), the first of which have these numbers, (cells,)."""

    @abstractmethod
    def merge(self, one: Part, other: Part) -> None:
        """Put a later part into an earlier one."""

    @abstractmethod
    def raw(self, cells: int, shift: Array) -> Raw:
        """The memory for a block; `shift` is the first result of each cell, (cells, entries)."""

    @abstractmethod
    def cooked(self, raw: Raw, entries: int, states: int) -> Part:
        """The part that the compiled loop left in the memory, of so many states in a cell."""

    def describe(self) -> dict[str, Any]:
        """As plain data."""
        settings = {
            k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()
        }
        return {"name": self.name} | settings


def column_sums(lanes: Array) -> Array:
    """The sums over the last axis, in order."""
    total = lanes[..., 0].copy()
    for k in range(1, lanes.shape[-1]):
        total += lanes[..., k]
    return np.asarray(total)
