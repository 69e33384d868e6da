"""What a block takes, and who computes it: threads of this process, or a cluster of dask.

A block is generated, evaluated, reduced or stored, without anything larger in memory. The compiled
loop is told of states and reductions in words; how the time of a block divides into making states,
evaluating and reducing them is measured by parts of one.
"""

import importlib
import timeit
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from time import thread_time
from typing import Any, cast
from uuid import uuid4

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SweepError, check_installed
from armdyn.forks import cached_property
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.sweeper import Sweeper
from armdyn.kernels.threads import threads
from armdyn.sweeping.reductions import Part, Reduction
from armdyn.sweeping.rows import RowSpace
from armdyn.sweeping.space import Block, BlockPlan, Space, Words, row_words
from armdyn.sweeping.store import RowStore
from armdyn.version import __version__


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


AHEAD = 2
"""Blocks that wait for each thread, beside the one it computes."""
CONNECTING = 10
"""Seconds to wait for a scheduler."""
RETRIES = 3
"""How often a block is computed again after its worker died."""

Computed = tuple[int, list[Part]]


def on_threads(job: SweepJob, numbers: Iterable[int]) -> Iterator[Computed]:
    """The blocks in their order, a few of them at a time."""
    count = threads()
    pool = ThreadPoolExecutor(count, thread_name_prefix="armdyn-sweep")

    def submit(number: int) -> Any:
        return pool.submit(job.compute, number)

    try:
        for number, future in _in_order(numbers, submit, count * AHEAD):
            yield number, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def on_cluster(job: SweepJob, numbers: Iterable[int], given: Any) -> Iterator[Computed]:
    """The same on the workers of a cluster, which get the job once each.

    The scheduler knows how every block is made, and the job itself: what a worker had when it died
    is computed by another one.
    """
    name = f"armdyn-sweep-{uuid4().hex}"
    light, sent = _light(job)
    with _cluster_client(given) as client:
        shared = client.submit(_same, light, key=f"{name}-job", retries=RETRIES)

        def submit(number: int) -> Any:
            parts = _sent(job.plan[number], sent, client)
            how = {"key": f"{name}-{number}", "retries": RETRIES}
            return client.submit(_compute, shared, number, parts, __version__, **how)

        cores = max(1, sum(client.nthreads().values()))
        for number, future in _in_order(numbers, submit, cores * (AHEAD + 1)):
            yield number, _result(future, number)


def _in_order(
    numbers: Iterable[int], submit: Callable[[int], Any], most: int
) -> Iterator[tuple[int, Any]]:
    """The futures of blocks in their order, of which at most so many wait at a time."""
    waiting: deque[tuple[int, Any]] = deque()
    try:
        for number in numbers:
            waiting.append((number, submit(number)))
            if len(waiting) >= most:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        for _, future in waiting:
            future.cancel()


def _light(job: SweepJob) -> tuple[SweepJob, dict[str, Any]]:
    """The job without the arrays that are sent block by block, and these."""
    space = job.space
    if not isinstance(space, RowSpace):
        return job, {}
    sent = {k: a for k, a in space.arrays.items() if space.lazy or isinstance(a, np.ndarray)}
    rest = {k: a for k, a in space.arrays.items() if k not in sent}
    return replace(job, space=replace(space, arrays=rest)), sent


def _sent(block: Block, arrays: dict[str, Any], client: Any) -> dict[str, Any]:
    """The parts of arrays that belong to a block; those of dask are computed on the cluster."""
    rows = slice(block.first, block.last)
    return {
        name: client.compute(array[rows]) if hasattr(array, "__dask_graph__") else array[rows]
        for name, array in arrays.items()
    }


def _same(job: SweepJob) -> SweepJob:
    return job


def _compute(job: SweepJob, number: int, parts: Any, version: str) -> list[Part]:
    if version != __version__:
        raise SweepError(
            f"a worker has armdyn {__version__}, this is {version}; install one on all machines"
        )
    return job.compute(number, parts)


def _result(future: Any, number: int) -> list[Part]:
    from distributed import CancelledError, KilledWorker  # noqa: PLC0415 (an extra)

    try:
        return future.result()
    except KilledWorker as reason:
        raise SweepError(
            f"block {number} killed {RETRIES} workers, one after the other: give them more memory, "
            f"or look at their logs ({reason})"
        ) from None
    except CancelledError as reason:
        raise SweepError(
            "the scheduler forgot the sweep, or the connection to it broke; start it again, what "
            f"is in the store is kept ({reason})"
        ) from None


@contextmanager
def _cluster_client(given: Any) -> Iterator[Any]:
    """A client of dask: the one that is given, or one of the scheduler at an address."""
    check_installed("distributed", "sweep", "a sweep on a cluster")
    if not isinstance(given, str):
        if not hasattr(given, "submit") or not hasattr(given, "scatter"):
            raise SweepError(
                "client: expected a dask.distributed.Client or the address of a scheduler, as "
                f"tcp://host:8786, got {type(given).__name__}"
            )
        yield given
        return
    dask: Any = importlib.import_module("distributed")
    try:
        dask.comm.get_address_host_port(given)  # a client of no address waits long to be closed
        client = dask.Client(given, timeout=CONNECTING, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as reason:
        raise SweepError(
            f"there is no scheduler at {given!r} ({reason}); start one with 'dask scheduler' and "
            "workers with 'dask worker ADDRESS', or leave the scheduler out to use this machine"
        ) from None
    with client:
        if not client.nthreads():
            raise SweepError(
                f"the scheduler at {given} has no workers; start 'dask worker {given}'"
            )
        yield client
