"""Who computes the blocks: threads of this process, or the workers of a cluster of dask."""

import importlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np

from armdyn.errors import SweepError, check_installed
from armdyn.kernels.threads import threads
from armdyn.sweeping.blocks import Block
from armdyn.sweeping.job import SweepJob
from armdyn.sweeping.reductions import Part
from armdyn.sweeping.rows import RowSpace
from armdyn.version import __version__

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
