"""The compiled loop of sweeps against NumPy's reductions of the same results."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import UnknownNameError
from armdyn.kernels.llvm.sweep_results import FIRST_KEY, MAGNITUDES
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.sweeper import Sweeper
from armdyn.sweeping import Exceeded
from armdyn.sweeping import space as blocks
from armdyn.sweeping.columns import subject
from armdyn.sweeping.reductions import REDUCTIONS
from armdyn.sweeping.sweep import _job

KEPT = [*list(REDUCTIONS)[:4], Exceeded(limits=30.0)]
SPACES = {
    "grid": armdyn.Grid(q=(-2, 2, 5), qd2=(-1, 1, 3), qdd=0.5),
    "one long axis": armdyn.Grid(q2=(-2, 2, 20_001), qd=0.5),
    "random": armdyn.Random(10_003, seed=5, q=(-2, 2), qd=(-3, 3)),
    "random, an odd number of columns": armdyn.Random(3_001, seed=6, q=(-2, 2), qdd=1.0),
    "sobol": armdyn.Sobol(10_003, seed=5, q=(-2, 2), qd=(-3, 3), qdd=1.0),
    "sobol from the corner": armdyn.Sobol(300, seed=None, q=(-2, 2)),
    "one state": armdyn.Grid(q=0.3),
}  # fmt: skip


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("saha_3r")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "SMALLEST_BLOCK", 2**11)


def job_of(robot, over, by=(), dtype="float64"):
    what = subject(robot, "inverse_dynamics", tuple(over.said), {"dtype": dtype})
    space = over.space(what.columns)
    return _job(what, space.by(by) if by else space, KEPT, None)


def by_numpy(job, number):
    """What the reductions keep of a block, by NumPy from all of its results."""
    block, (_, _, histogram, _, exceeded) = job.plan[number], job.reductions
    results = job.values(job.space.rows(block.first, block.last))
    values = results.reshape(block.cells, -1, job.entries)
    first = block.first + values.shape[1] * np.arange(block.cells)[:, None]
    mean = values.mean(axis=1)
    place = (values - histogram.low) * (histogram.bins / (histogram.high - histogram.low)) + 1.0
    mantissa, exponent = np.frexp(np.abs(values))  # seven bits after the first one, and the power
    key = (exponent + 1022) * 128 + np.floor((2 * mantissa - 1) * 128).astype(int) - FIRST_KEY
    key = np.where(values == 0, 0, np.clip(key, 0, MAGNITUDES - 1))
    beyond = np.abs(values) > exceeded.limits
    states = np.full((block.cells, job.entries, exceeded.keep), -1)
    for c, e in np.ndindex(states.shape[:2]):
        some = np.flatnonzero(beyond[c, :, e])[: exceeded.keep]
        states[c, e, : len(some)] = some + first[c]
    return [
        {
            "min": values.min(axis=1),
            "max": values.max(axis=1),
            "argmin": values.argmin(axis=1) + first,
            "argmax": values.argmax(axis=1) + first,
            "lost": np.isnan(values).sum(axis=1),
        },
        {
            "count": (~np.isnan(values)).sum(axis=1),
            "mean": mean,
            "squares": ((values - mean[:, None]) ** 2).sum(axis=1),
        },
        counted(np.clip(place, 0, histogram.bins + 1).astype(int), histogram.length),
        counted(
            np.where(np.signbit(values), MAGNITUDES - 1 - key, MAGNITUDES + key),
            2 * MAGNITUDES + 1,
        ),
        {"count": beyond.sum(axis=1), "states": states},
    ]


def counted(bins, length):
    """How many are in each bin, of the numbers of bins (cells, m, entries)."""
    counts = np.zeros((bins.shape[0], bins.shape[2], length), dtype=int)
    for c, e in np.ndindex(counts.shape[:2]):
        counts[c, e] = np.bincount(bins[c, :, e], minlength=length)
    return {"counts": counts}


def check(found, expected, exact):
    for one, other in zip(found, expected, strict=True):
        for name, values in one.items():
            if exact or name not in ("mean", "squares"):
                np.testing.assert_array_equal(values, other[name], name)
            else:
                np.testing.assert_allclose(values, other[name], rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SPACES)
def test_blocks_are_those_of_numpy(robot, name, dtype):
    job = job_of(robot, SPACES[name], dtype=dtype)
    for number in {0, len(job.plan) // 2, len(job.plan) - 1}:
        check(job.compute(number), by_numpy(job, number), exact=False)


def test_cells_of_a_block_are_those_of_numpy(robot):
    job = job_of(robot, SPACES["grid"], by=("q2", "q3"))
    assert job.plan[0].cells == 25
    check(job.compute(0), by_numpy(job, 0), exact=False)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["grid", "random", "sobol"])
def test_the_width_of_vectors_changes_no_bit(robot, name, dtype):
    job, host = job_of(robot, SPACES[name], dtype=dtype), Target.host()
    narrow = replace(job)
    lanes = replace(host, bits=host.bits // 2)
    object.__setattr__(narrow, "sweeper", Sweeper(job.kernel, lanes))
    for number in (0, len(job.plan) - 1):
        check(narrow.compute(number), job.compute(number), exact=True)


def test_a_long_quantity_is_swept_too(robot):
    result = armdyn.sweep(
        robot, "christoffel", armdyn.Random(500, q=(-2, 2)), ["extremes", "moments"]
    )
    q = result.states(np.arange(500))["q"]
    expected = robot.christoffel(q)
    np.testing.assert_array_equal(result.extremes.max, expected.max(axis=0))
    np.testing.assert_allclose(result.moments.mean, expected.mean(axis=0), atol=1e-12)


def test_single_precision_is_near_double_precision_and_is_said(robot):
    over = armdyn.Random(20_000, seed=2, q=(-3, 3), qd=(-2, 2), qdd=(-2, 2))
    single = armdyn.sweep(robot, "inverse_dynamics", over, dtype="float32")
    double = armdyn.sweep(robot, "inverse_dynamics", over)
    worst = double.extremes.worst
    assert 0 < np.abs(single.extremes.worst - worst).max() < 2e-6 * worst.max()
    states = single.states(single.extremes.argmax)
    picked = [states[k].astype("float32") for k in ("q", "qd", "qdd")]
    at = robot.kernel("inverse_dynamics", dtype="float32")(*picked)
    np.testing.assert_array_equal(single.extremes.max, np.diag(at))
    assert single.subject.options == {"dtype": "float32"}
    with pytest.raises(UnknownNameError, match="type of a kernel 'float16'"):
        armdyn.sweep(robot, "inverse_dynamics", over, dtype="float16")


def test_rows_are_swept_in_single_precision_too(robot):
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1, 1, (3, 1001, 3))
    result = armdyn.sweep(
        robot, "inverse_dynamics", {"q": q, "qd": qd, "qdd": qdd}, dtype="float32"
    )
    tau = robot.kernel("inverse_dynamics", dtype="float32")(q, qd, qdd)
    np.testing.assert_array_equal(result.extremes.max, tau.max(axis=0))
    np.testing.assert_array_equal(result.extremes.argmin, tau.argmin(axis=0))
