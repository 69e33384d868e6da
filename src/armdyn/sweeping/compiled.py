"""Blocks of a sweep in machine code: what the compiled loop is told of states and reductions."""

from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.kernels.sweeper import Sweeper, padded
from armdyn.sweeping.blocks import Block
from armdyn.sweeping.columns import Columns
from armdyn.sweeping.reductions import Histogram, Part, Reduction
from armdyn.sweeping.reductions.exceeded import Exceeded
from armdyn.sweeping.reductions.reduction import Raw
from armdyn.sweeping.space import Lattice


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
