"""The states of a sweep: so many rows of columns, any of which can be made alone, cut into blocks.

How they are cut depends on their number alone, whoever computes them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
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


LARGEST_BLOCK, SMALLEST_BLOCK = 2**21, 2**18
"""States in a block that is reduced."""
USUAL_BLOCKS = 64
"""Blocks into which a sweep is cut, unless they would be too large or too small."""
STORED_BYTES = 8 * 2**20
"""Bytes of a block that is stored."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some states."""

    number: int
    first: int
    last: int
    cell: int
    """The first cell that they belong to."""
    cells: int
    """How many cells they fill; 1 if they are a part of one."""


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """Blocks of whole cells, or of a part of one."""

    count: int
    """States in all."""
    cells: int
    size: int
    """Most states in a block."""

    @property
    def cell(self) -> int:
        """States in a cell."""
        return self.count // self.cells

    @property
    def per_block(self) -> int:
        """Cells in a block."""
        return max(1, self.size // self.cell)

    @property
    def per_cell(self) -> int:
        """Blocks in a cell."""
        return -(-self.cell // self.size)

    def __len__(self) -> int:
        return -(-self.cells // self.per_block) * self.per_cell

    def __getitem__(self, number: int) -> Block:
        if not 0 <= number < len(self):
            raise IndexError(number)
        group, part = divmod(number, self.per_cell)
        cell = group * self.per_block
        cells = min(self.per_block, self.cells - cell)
        first = cell * self.cell + part * self.size
        last = min(first + self.size, (cell + cells) * self.cell)
        return Block(number, first, last, cell, cells)


def block_plan(count: int, cells: int, run: int, row_bytes: int | None = None) -> BlockPlan:
    """The blocks of a sweep; with `row_bytes`, the bytes that are stored for each state.

    Blocks have whole runs where these are not larger.
    """
    if row_bytes is not None:
        size = max(1, STORED_BYTES // row_bytes)
    else:
        size = min(LARGEST_BLOCK, max(SMALLEST_BLOCK, -(-count // USUAL_BLOCKS)))
    size = max(1, size // run) * run if run <= size else size
    return BlockPlan(count, cells, size)
