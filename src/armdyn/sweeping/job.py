"""What a block takes: generate, evaluate, reduce or store, without anything larger in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.sweeper import Sweeper
from armdyn.sweeping.blocks import Block, BlockPlan
from armdyn.sweeping.compiled import lattice_words, reduce_block, row_words
from armdyn.sweeping.reductions import Part, Reduction
from armdyn.sweeping.rows import RowSpace
from armdyn.sweeping.space import Space
from armdyn.sweeping.store import RowStore

PIECE = 2**14
"""States that are evaluated at a time where they go through memory."""


@dataclass(frozen=True, eq=False)
class SweepJob:
    """Everything that a thread or a worker must know; it can be pickled."""

    kernel: Kernel
    space: Space
    plan: BlockPlan
    reductions: tuple[Reduction, ...] = ()
    store: RowStore | None = None

    @cached_property
    def sweeper(self) -> Sweeper:
        """The compiled loop."""
        return Sweeper(self.kernel)

    def __getstate__(self) -> dict[str, Any]:
        """Without the loop, which others compile themselves."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def entries(self) -> int:
        """Numbers in a result."""
        return int(np.prod(self.kernel.shape, dtype=int))

    def compute(self, number: int, parts: Mapping[str, Any] | None = None) -> list[Part]:
        """One block: what its reductions keep of it; a block that is stored keeps nothing.

        `parts` are those of lazy arrays that somebody else computed.
        """
        block = self.plan[number]
        if self.store is not None:
            rows = self._rows(block.first, block.last, parts)
            self.store.write(block, self.space.columns.split(rows), self.values(rows))
            return []
        return self._reduced(block, parts)

    def values(self, rows: Array) -> Array:
        """The results (m, entries) of states (m, width)."""
        given = [np.ascontiguousarray(v) for v in self.space.columns.split(rows).values()]
        return np.asarray(self.kernel.gufunc(*given)).reshape(len(rows), -1)

    def _rows(self, first: int, last: int, parts: Mapping[str, Any] | None) -> Array:
        if parts and isinstance(self.space, RowSpace):
            rest = {name: array[first:last] for name, array in self.space.arrays.items()}
            return self.space.joined(rest | dict(parts))
        return self.space.rows(first, last)

    def _reduced(self, block: Block, parts: Mapping[str, Any] | None) -> list[Part]:
        """A block in one call of the compiled loop."""
        words, shift = self.states(block, parts)
        return reduce_block(self.sweeper, words, block, self.reductions, shift)

    def states(
        self, block: Block, parts: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], Array]:
        """What the compiled loop is told of the states, and the first results of the cells."""
        cell = (block.last - block.first) // block.cells
        starts = block.first + cell * np.arange(block.cells)
        if not parts and (lattice := self.space.lattice(block.first, block.last)) is not None:
            words = lattice_words(lattice, block.last - block.first)
            first = self.space.at(starts)
        else:
            rows = self._rows(block.first, block.last, parts)
            words, first = row_words(self.space.columns, rows, block.first), rows[:1]
        return words, self.values(first)

    def in_numpy(self, number: int) -> list[Part]:
        """The same piece by piece through NumPy, to compare with."""
        block = self.plan[number]
        totals = [r.start(block.cells, self.entries) for r in self.reductions]
        cell = (block.last - block.first) // block.cells
        for c in range(block.cells):
            start = block.first + c * cell
            for first in range(start, start + cell, PIECE):
                rows = self.space.rows(first, min(first + PIECE, start + cell))
                values = self.values(rows)[None]
                for reduction, total in zip(self.reductions, totals, strict=True):
                    part = reduction.part(values, np.array([first]))
                    reduction.merge({k: v[c : c + 1] for k, v in total.items()}, part)
        return totals


def start(job: SweepJob) -> list[Part]:
    """What reductions keep of no states, for all cells."""
    return [r.start(job.plan.cells, job.entries) for r in job.reductions]


def merge(job: SweepJob, totals: list[Part], block: Block, parts: list[Part]) -> None:
    """Put what a block kept into the whole."""
    cells = slice(block.cell, block.cell + block.cells)
    for reduction, total, part in zip(job.reductions, totals, parts, strict=True):
        reduction.merge({k: v[cells] for k, v in total.items()}, part)
