"""Large batches in pieces, on several threads.

A kernel gives a state the same bits wherever it stands, so pieces change nothing but the time.
"""

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_whole
from armdyn.forks import lock_over_fork

SMALLEST = 4096
"""States below which a piece is not worth a thread."""


class _Settings:
    """What is set for the process."""

    count: int | None = None
    pool: tuple[int, int, ThreadPoolExecutor] | None = None
    lock = lock_over_fork()


def set_threads(count: int | None) -> None:
    """Set how many threads large batches run on; None: as many as this process has cores."""
    _Settings.count = None if count is None else check_whole("threads", count, 1)


def threads() -> int:
    """How many threads large batches run on."""
    if _Settings.count is not None:
        return _Settings.count
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    ufunc: Callable[..., Any], arrays: Sequence[Array], out: Array, batch: tuple[int, ...]
) -> None:
    """The ufunc over a batch into an array, in as many pieces as there are threads."""
    worthwhile = math.prod(batch) // SMALLEST
    pieces = min(threads(), worthwhile, max(batch)) if worthwhile > 1 else 1
    if pieces < 2 or not all(_independent(array, out) for array in arrays):
        ufunc(*arrays, out=out)
        return
    axis = batch.index(max(batch))
    bounds = np.linspace(0, batch[axis], pieces + 1).astype(int).tolist()
    handling: Any = np.geterr()
    handler: Any = np.geterrcall()

    def piece(first: int, last: int) -> None:
        with np.errstate(**handling, call=handler):
            cut = [_cut(a, axis - len(batch), first, last) for a in arrays]
            ufunc(*cut, out=out[(slice(None),) * axis + (slice(first, last),)])

    together(piece, bounds)


def together(piece: Callable[[int, int], None], bounds: Sequence[int]) -> None:
    """Call `piece` with each pair of bounds, the last one on this thread, the others on their own.

    The bounds increase, and are at most one more than there are threads. All pieces have ended when
    this does.
    """
    jobs: list[Future[None]] = []
    try:
        for ends in pairwise(bounds):
            job = _submitted(piece, ends) if ends[1] < bounds[-1] else None
            if job is None:
                piece(*ends)
            else:
                jobs.append(job)
    finally:
        wait(jobs)  # nobody writes to the output after an error
    for job in jobs:
        job.result()


def _independent(array: Array, out: Array) -> bool:
    """Whether what one piece writes is read by no other: apart, or in place entry by entry."""
    if not np.may_share_memory(array, out):
        return True
    same_layout = array.shape == out.shape and array.strides == out.strides
    return same_layout and array.ctypes.data == out.ctypes.data


def _cut(array: Array, axis: int, first: int, last: int) -> Array:
    """The part of a vector's batch; an axis that is broadcast stays whole."""
    axis -= 1  # the last one is the vector
    if array.ndim < -axis or array.shape[axis] == 1:
        return array
    places: tuple[Any, ...] = (..., slice(first, last), *(slice(None),) * (-axis - 1))
    part: Array = array[places]
    return part


def _submitted(piece: Callable[[int, int], None], ends: tuple[int, int]) -> "Future[None] | None":
    """A piece on a thread; None when the interpreter ends, which has no threads any more."""
    with _Settings.lock:
        wanted = (os.getpid(), threads())  # a fork gets a pool of its own
        if _Settings.pool is None or _Settings.pool[:2] != wanted:
            pool = ThreadPoolExecutor(wanted[1], thread_name_prefix="armdyn")
            _Settings.pool = (*wanted, pool)
        pool = _Settings.pool[2]
    try:
        return pool.submit(piece, *ends)
    except RuntimeError:
        return None
