"""What a block takes: generate, evaluate, reduce or store, without anything larger in memory.

The compiled loop is told of states and reductions in words; how the time of a block divides into
making states, evaluating and reducing them is measured by parts of one.
"""

import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from time import thread_time
from typing import Any, cast

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.sweeper import Sweeper
from armdyn.sweeping.blocks import Block, BlockPlan
from armdyn.sweeping.reductions import Part, Reduction
from armdyn.sweeping.space import Space, Words, row_words
from armdyn.sweeping.store import RowStore


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
        """The compiled loop, which stays with the kernel."""
        return cast(Sweeper, self.kernel.__dict__.setdefault("sweeper", Sweeper(self.kernel)))

    @property
    def entries(self) -> int:
        """Numbers in a result."""
        return prod(self.kernel.shape)

    def compute(self, number: int, parts: Mapping[str, Any] | None = None) -> list[Part]:
        """One block: what its reductions keep of it; a block that is stored keeps nothing.

        `parts` are those of lazy arrays that somebody else computed.
        """
        block = self.plan[number]
        if self.store is not None:
            rows = self.space.rows(block.first, block.last, parts)
            self.store.write(block, self.space.columns.split(rows), self.values(rows))
            return []
        return self.reduced(block, parts)

    def values(self, rows: Array) -> Array:
        """The results (m, entries) of states (m, width)."""
        split = self.space.columns.split(rows).values()
        given = [np.ascontiguousarray(v, self.kernel.dtype) for v in split]
        return np.asarray(self.kernel.gufunc(*given), float).reshape(len(rows), -1)

    def reduced(self, block: Block, parts: Mapping[str, Any] | None = None) -> list[Part]:
        """What reductions keep of a block, by one call of the compiled loop."""
        states, shift = self.states(block, parts)
        memories = [r.memory(block.cells, shift) for r in self.reductions]
        words = states | {"evaluate": 1, "per_cell": max(1, -(-states["runs"] // block.cells))}
        for reduction, memory in zip(self.reductions, memories, strict=True):
            flat = memory.reshape(block.cells, -1)
            own = {"": flat, "bytes": flat.strides[0]} | reduction.settings()
            words |= {f"{reduction.name}_{key}".rstrip("_"): value for key, value in own.items()}
        self.sweeper.run(words)
        size = (block.last - block.first) // block.cells
        return [r.cooked(memory, size) for r, memory in zip(self.reductions, memories, strict=True)]

    def states(self, block: Block, parts: Mapping[str, Any] | None = None) -> tuple[Words, Array]:
        """What the compiled loop is told of the states, and the first results of the cells."""
        cell = (block.last - block.first) // block.cells
        starts = block.first + cell * np.arange(block.cells)
        words = None if parts else self.space.lattice(block.first, block.last)
        if words is not None:
            return words, self.values(self.space.at(starts))
        rows = self.space.rows(block.first, block.last, parts)
        return row_words(self.space.columns, rows, block.first), self.values(rows[:1])


def merge(job: SweepJob, totals: list[Part], block: Block, parts: list[Part]) -> None:
    """Put what a block kept into the whole."""
    cells = slice(block.cell, block.cell + block.cells)
    for reduction, total, part in zip(job.reductions, totals, parts, strict=True):
        reduction.merge({k: v[cells] for k, v in total.items()}, part)


TIMED_STATES = 2**17
"""States that are timed."""
WORTH_TIMING = 2**20
"""States of a sweep that is worth it."""
REPEATS = 3


def measured_shares(job: SweepJob) -> dict[str, float]:
    """The shares of "generating", "evaluating" and "reducing", by parts of one block run alone."""
    block = job.plan[len(job.plan) // 2]
    if block.cells == 1:
        block = replace(block, last=min(block.last, block.first + TIMED_STATES))

    def run(evaluate: int) -> None:
        job.sweeper.run(job.states(block)[0] | {"evaluate": evaluate})

    made, evaluated = (_shortest(partial(run, wanted)) for wanted in (0, 1))
    whole = _shortest(partial(job.reduced, block))
    evaluated = min(max(evaluated, made), whole)
    return {
        "generating": made / whole,
        "evaluating": (evaluated - made) / whole,
        "reducing": (whole - evaluated) / whole,
    }


def _shortest(run: Callable[[], object]) -> float:
    """Processor time of this thread [s]."""
    return min(timeit.repeat(run, timer=thread_time, number=1, repeat=REPEATS))
