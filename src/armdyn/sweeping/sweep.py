"""`armdyn.sweep`: a quantity over more states than memory holds."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from armdyn.errors import SweepError, check_known, require, shown
from armdyn.io.describe import describe
from armdyn.robot import Robot, check_robot
from armdyn.sweeping.columns import Subject, names_in, subject
from armdyn.sweeping.grid import GridSpace
from armdyn.sweeping.job import (
    WORTH_TIMING,
    SweepJob,
    measured_shares,
    merge,
    on_cluster,
    on_threads,
)
from armdyn.sweeping.reductions import REDUCTIONS, Reduction
from armdyn.sweeping.result import SweepResult
from armdyn.sweeping.rows import read_over
from armdyn.sweeping.space import Space, block_plan
from armdyn.sweeping.store import FORMAT, Progress, RowStore, check_out
from armdyn.version import __version__

PILOT = 4096
"""States spread over all, from which a range that is left open is taken."""
SAVED_EVERY = 5.0
"""Seconds between two notes of what is done."""
LARGEST_RESULT = 2**30
"""Bytes of what reductions keep."""

Tell = Callable[[int, int], None]
"""Told how many states are done, and of how many."""


def sweep(
    robot: Robot,
    quantity: str,
    over: Any,
    reduce: str | Reduction | Sequence[str | Reduction] | None = None,
    out: str | Path | None = None,
    client: Any = None,
    *,
    by: Sequence[str] = (),
    tell: Tell | None = None,
    **options: Any,
) -> SweepResult:
    """Evaluate a quantity over many states, and keep what matters or store everything.

    Args:
        robot: The arm.
        quantity: The name of a quantity, as `robot.kernel` takes it.
        over: `armdyn.Grid`, `armdyn.Random` or `armdyn.Sobol`; a trajectory; a file of states
            (.csv, .parquet, .zarr); arrays by names of arguments, as {"q": ..., "qd": ...}, of
            NumPy, Zarr or dask; an `xarray.Dataset` of such.
        reduce: What to keep: "extremes", "moments", "histogram", "quantiles", "exceeded", or
            objects of `armdyn.sweeping` with settings. None: extremes, or with `out` everything.
        out: A store, .zarr or .parquet. Without `reduce` it gets all states and results, with it
            the reductions. A sweep that was stopped goes on from its store.
        client: A `dask.distributed.Client` or the address of a scheduler; None: threads here.
        by: Columns of a grid for each value of which a result is kept.
        tell: Called with the number of states that are done, and of all.
        options: Options of the quantity, as `friction=False`. `dtype="float32"` computes results in
            single precision; states, and what is kept, stay doubles.

    Raises:
        SweepError: States, reductions or the store do not fit; the cluster is not there.
    """
    require(tell is None or callable(tell), "tell", "a function of two numbers", tell, SweepError)
    given = read_over(check_robot(robot), over)
    what = subject(robot, quantity, tuple(given.said), options)
    space = given.space(what.columns)
    kept = () if by is None else names_in("by", by)
    if kept:
        if not isinstance(space, GridSpace):
            raise SweepError("by: only a grid has values to keep results for; sweep over a Grid")
        space = space.by(kept)
    path = None if out is None else check_out(out)
    if path is not None and reduce is None and kept:
        raise SweepError("by: everything is stored, state by state; give a reduction, or no `by`")
    wanted = ("extremes",) if reduce is None and path is None else () if reduce is None else reduce
    job = _job(what, space, wanted, path)
    return _run(what, job, path, client, tell)


def _job(what: Subject, space: Space, wanted: Any, path: Path | None) -> SweepJob:
    """The blocks, the reductions and the store."""
    kernel, cells = what.kernel, prod(space.cells)
    entries = prod(kernel.shape)
    reductions = _reductions(wanted)
    if not reductions:
        plan = block_plan(space.count, 1, space.run, 8 * (space.columns.width + entries))
        if path is None:
            raise SweepError(f"reduce: expected one at least of {', '.join(REDUCTIONS)}, got none")
        store = RowStore(path, what.quantity.name, kernel.shape, "")
        return SweepJob(kernel, space, plan, (), store)
    plan = block_plan(space.count, cells, space.run)
    job = SweepJob(kernel, space, plan)
    some = PILOT if any(r.open for r in reductions) else 1
    values = job.values(space.pilot(some))
    settled = tuple(r.settled(entries, values, what.limits) for r in reductions)
    size = sum(v[:1].nbytes for r in settled for v in r.start(1, entries).values()) * cells
    if size > LARGEST_RESULT:
        raise SweepError(
            f"what is kept of {cells:,} cells takes {size / 2**20:,.0f} MB, more than the "
            f"{LARGEST_RESULT >> 20} MB that are allowed; keep fewer columns, or reduce to less"
        )
    return replace(job, reductions=settled)


def _reductions(wanted: Any) -> list[Reduction]:
    """The reductions by name or as they are."""
    if isinstance(wanted, str | Reduction):
        wanted = (wanted,)
    found: list[Reduction] = []
    for one in wanted if np.iterable(wanted) else (wanted,):
        if isinstance(one, str):
            check_known("reduction", one, REDUCTIONS)
        elif not isinstance(one, Reduction):
            raise SweepError(
                f"reduce: expected names of reductions ({', '.join(REDUCTIONS)}) or objects of "
                f"armdyn.sweeping, got {shown(one)}"
            )
        found.append(REDUCTIONS[one]() if isinstance(one, str) else one)
    names = [reduction.name for reduction in found]
    if len(set(names)) < len(names):
        raise SweepError(f"reduce: each reduction once, got {', '.join(names)}")
    return found


def _identity(what: Subject, job: SweepJob) -> dict[str, Any]:
    """Everything that the content of a store depends on."""
    return {
        "format": FORMAT,
        "version": __version__,
        "robot": what.robot.name,
        "digest": what.robot.model.digest,
        "model": describe(what.robot.model),
        "quantity": what.quantity.name,
        "options": dict(what.options),
        "over": job.space.describe(),
        "reduce": [r.describe() for r in job.reductions],
        "block": job.plan.size,
    }


def _run(
    what: Subject, job: SweepJob, path: Path | None, client: Any, tell: Tell | None
) -> SweepResult:
    """Compute the blocks that are not there yet, and note what is done."""
    names = [r.name for r in job.reductions]
    totals = [r.start(job.plan.cells, job.entries) for r in job.reductions]
    done = np.zeros(len(job.plan), dtype=bool)
    identity: dict[str, Any] = {}
    if path is not None:
        identity = _identity(what, job)
        known = Progress(path).load(identity, names)
        if known is not None:
            done, totals = known[0], known[1]
        if job.store is not None:
            job = replace(job, store=replace(job.store, identity=json.dumps(identity)))
            if known is None:
                job.store.create(what, job.plan)  # type: ignore[union-attr]
    before = time = perf_counter()
    blocks = (job.plan[int(k)] for k in np.flatnonzero(done))
    skipped = ready = sum(block.last - block.first for block in blocks)

    def note() -> None:
        if path is not None:
            named = dict(zip(names, totals, strict=True))
            Progress(path).save(identity, done, named)

    note()
    try:
        compute = on_threads if client is None else partial(on_cluster, given=client)
        for number, parts in compute(job, np.flatnonzero(~done).tolist()):
            block = job.plan[number]
            merge(job, totals, block, parts)
            done[number] = True
            ready += block.last - block.first
            if tell is not None:
                tell(ready, job.space.count)
            if perf_counter() - time > SAVED_EVERY:
                note()
                time = perf_counter()
    finally:
        note()
    seconds = perf_counter() - before
    timed = job.reductions and job.space.count - skipped >= WORTH_TIMING
    shares = partial(measured_shares, job) if timed else dict
    found = job.space, job.reductions, tuple(totals)
    result = SweepResult(what, *found, seconds, job.space.count - skipped, path, shares)
    if path is not None and job.reductions:
        result.write(path)
    return result
