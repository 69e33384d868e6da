"""The compiled loop of sweeps against the same blocks through NumPy."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.sweeper import Sweeper
from armdyn.sweeping import Exceeded, blocks
from armdyn.sweeping.reductions import REDUCTIONS
from armdyn.sweeping.subject import subject
from armdyn.sweeping.sweep import _job

KEPT = [*list(REDUCTIONS)[:4], Exceeded(limits=30.0)]
SPACES = {
    "grid": armdyn.Grid(q=(-2, 2, 5), qd2=(-1, 1, 3), qdd=0.5),
    "one long axis": armdyn.Grid(q2=(-2, 2, 20_001), qd=0.5),
    "random": armdyn.Random(10_003, seed=5, q=(-2, 2), qd=(-3, 3)),
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


def job_of(robot, over, by=()):
    what = subject(robot, "inverse_dynamics", over.names, {})
    space = over.space(what.columns)
    return _job(what, space.by(by) if by else space, KEPT, None)


def check(found, expected, exact):
    for one, other in zip(found, expected, strict=True):
        for name, values in one.items():
            if exact or name not in ("mean", "squares"):
                np.testing.assert_array_equal(values, other[name], name)
            else:
                np.testing.assert_allclose(values, other[name], rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("name", SPACES)
def test_blocks_are_those_of_numpy(robot, name):
    job = job_of(robot, SPACES[name])
    for number in {0, len(job.plan) // 2, len(job.plan) - 1}:
        check(job.compute(number), job.in_numpy(number), exact=False)


def test_cells_of_a_block_are_those_of_numpy(robot):
    job = job_of(robot, SPACES["grid"], by=("q2", "q3"))
    assert job.plan[0].cells == 25
    check(job.compute(0), job.in_numpy(0), exact=False)


@pytest.mark.parametrize("name", ["grid", "random", "sobol"])
def test_the_width_of_vectors_changes_no_bit(robot, name):
    job, host = job_of(robot, SPACES[name]), Target.host()
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
