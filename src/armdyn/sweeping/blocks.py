"""How the states of a sweep are cut into blocks: by their number alone, whoever computes them."""

from dataclasses import dataclass

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
