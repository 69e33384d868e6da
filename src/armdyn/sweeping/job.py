"""What a block takes: generate, evaluate, reduce or store, without anything larger in memory.

The compiled loop is told of states and reductions in words; how the time of a block divides into
making states, evaluating and reducing them is measured by parts of one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from time import thread_time
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.sweeper import Sweeper, padded
from armdyn.sweeping.blocks import Block, BlockPlan
from armdyn.sweeping.columns import Columns
from armdyn.sweeping.reductions import Exceeded, Histogram, Part, Raw, Reduction
from armdyn.sweeping.rows import RowSpace
from armdyn.sweeping.space import Lattice, Space
from armdyn.sweeping.store import RowStore


def reduce_block(
    sweeper: Sweeper,
    states: dict[str, Any],
    block: Block,
    reductions: tuple[Reduction, ...],
    shift: Array,
) -> list[Part]:
    """What reductions keep of a block; `shift` are the first results of its cells."""
    raws = [r.raw(block.cells, shift) for r in reductions]
    runs = states["runs"]
    words = states | {"evaluate": 1, "per_cell": max(1, -(-runs // block.cells))}
    for reduction, raw in zip(reductions, raws, strict=True):
        words |= _memory(reduction, raw)
    sweeper.run(words)
    size = (block.last - block.first) // block.cells
    entries = shift.shape[1]
    return [r.cooked(raw, entries, size) for r, raw in zip(reductions, raws, strict=True)]


def _memory(reduction: Reduction, raw: Raw) -> dict[str, Any]:
    words = {reduction.name: raw.words, f"{reduction.name}_bytes": raw.words.strides[0]}
    if isinstance(reduction, Histogram):
        words |= {"histogram_bounds": raw.extra, "histogram_bins": reduction.bins}
    if isinstance(reduction, Exceeded):
        words |= {"exceeded_bounds": raw.extra, "exceeded_keep": reduction.keep}
    return words


def lattice_words(lattice: Lattice, count: int) -> dict[str, Any]:
    """The states of a block of so many that repeat."""
    inner = padded(np.ascontiguousarray(lattice.inner, dtype=float))
    words: dict[str, Any] = {
        "runs": len(lattice.outer),
        "states": lattice.states,
        "total": count,
        "first_state": lattice.first,
        "splat_count": len(lattice.splat),
        "splat_columns": np.asarray(lattice.splat, dtype=np.int64),
        "splat_values": np.ascontiguousarray(lattice.outer, dtype=float),
        "table_count": len(lattice.tabled),
        "table_columns": np.asarray(lattice.tabled, dtype=np.int64),
        "table_values": inner,
        "table_stride": inner.strides[0],
    }
    for name, sampled in (("random", lattice.random), ("sobol", lattice.sobol)):
        if sampled is not None:
            words |= {
                f"{name}_count": len(sampled.columns),
                f"{name}_columns": np.asarray(sampled.columns, dtype=np.int64),
                f"{name}_low": np.array(sampled.low, dtype=float),
                f"{name}_width": np.array(sampled.width, dtype=float),
            }
    if lattice.random is not None:
        words |= {"random_keys": lattice.random.keys, "random_step": lattice.random.step}
    if lattice.sobol is not None:
        table = padded(lattice.sobol.inner)
        words |= {"sobol_inner": table, "sobol_stride": table.strides[0]}
        words |= {"sobol_outer": np.ascontiguousarray(lattice.sobol.outer)}
    return words


def row_words(columns: Columns, rows: Array, first: int) -> dict[str, Any]:
    """The states of a block that are there already."""
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


def start(job: SweepJob) -> list[Part]:
    """What reductions keep of no states, for all cells."""
    return [r.start(job.plan.cells, job.entries) for r in job.reductions]


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

Shares = dict[str, float]


def measured_shares(job: SweepJob) -> Shares:
    """The shares of "generating", "evaluating" and "reducing", by parts of one block run alone."""
    block = job.plan.part(len(job.plan) // 2, TIMED_STATES)

    def generate() -> None:
        job.sweeper.run(job.states(block)[0])

    def evaluate() -> None:
        job.sweeper.run(job.states(block)[0] | {"evaluate": 1})

    def reduce() -> None:
        states, shift = job.states(block)
        reduce_block(job.sweeper, states, block, job.reductions, shift)

    made, evaluated, whole = map(_shortest, (generate, evaluate, reduce))
    evaluated = min(max(evaluated, made), whole)
    return {
        "generating": made / whole,
        "evaluating": (evaluated - made) / whole,
        "reducing": (whole - evaluated) / whole,
    }


def _shortest(run: Callable[[], None]) -> float:
    """Processor time of this thread [s]."""
    times = []
    for _ in range(REPEATS):
        start = thread_time()
        run()
        times.append(thread_time() - start)
    return min(times)
