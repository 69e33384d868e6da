"""The states of a sweep: so many rows of columns, any of which can be made alone."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.kernels.sweeper import padded
from armdyn.sweeping.columns import Columns

Words = dict[str, Any]
"""What a compiled loop is told, numbers and arrays by the names of its job."""


def lattice_words(
    outer: Array, splat: Array, inner: Array, tabled: Array, states: int, first: int, total: int
) -> Words:
    """States that repeat: those of a block are all pairs of an outer and an inner row.

    Columns are splat (the same for an inner run), tabled (the same in every run) or sampled. It is
    all that the loop needs to make them, so that states never go through memory.

    Args:
        outer: Values of the splat columns in each run, (runs, splat).
        splat: Which columns these are.
        inner: Values of the tabled columns in a run, (tabled, states).
        tabled: Which columns these are.
        states: How many are in a run.
        first: Number of the first state.
        total: States of the block.
    """
    table = padded(np.ascontiguousarray(inner, dtype=float))
    return {
        "runs": len(outer),
        "states": states,
        "total": total,
        "first_state": first,
        "splat_count": len(splat),
        "splat_columns": np.asarray(splat, dtype=np.int64),
        "splat_values": np.ascontiguousarray(outer, dtype=float),
        "table_count": len(tabled),
        "table_columns": np.asarray(tabled, dtype=np.int64),
        "table_values": table,
        "table_stride": table.strides[0],
    }


def row_words(columns: Columns, rows: Array, first: int) -> Words:
    """States that are there already, (m, width); `first` is the number of the first one."""
    arrays = [np.ascontiguousarray(v) for v in columns.split(rows).values()]
    pointers = np.array([a.ctypes.data for a in arrays], dtype=np.uint64)
    return {
        "runs": 1,
        "states": len(rows),
        "total": len(rows),
        "first_state": first,
        "rows": pointers,
        "arrays": arrays,  # which must live as long
    }


class Space(ABC):
    """States by number, 0 to `count` - 1, each a row of columns."""

    columns: Columns
    count: int
    run: int = 1
    """States that belong together: blocks have whole runs, if they are as large."""

    @property
    def cells(self) -> tuple[int, ...]:
        """Values of each column for each of which a result is wanted."""
        return ()

    @property
    def varying(self) -> Array:
        """The columns that are not the same in all states."""
        return np.arange(self.columns.width)

    @abstractmethod
    def at(self, indices: Array) -> Array:
        """The states of some numbers, (..., width)."""

    def rows(self, first: int, last: int, parts: Mapping[str, Any] | None = None) -> Array:
        """The states from `first` to before `last`, (last - first, width).

        `parts` are those of arrays that somebody else read.
        """
        return self.at(np.arange(first, last))

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What the states depend on, as plain data: equal data, equal states."""

    @abstractmethod
    def words(self) -> str:
        """What the states are, for reports."""

    def lattice(self, first: int, last: int) -> Words | None:
        """How a compiled loop makes the states of a block; None: they come as rows."""
        return None

    def pilot(self, count: int) -> Array:
        """About so many states spread over all, (m, width)."""
        return self.at(np.unique(np.linspace(0, self.count - 1, count).astype(np.int64)))


class Over(ABC):
    """What people write: it becomes a space when the columns are known."""

    said: Mapping[str, Any]
    """By the names of arguments and columns."""

    @abstractmethod
    def space(self, columns: Columns) -> Space:
        """The states."""
