"""Sweeps on a cluster of dask with two processes: the same bits, and a worker that dies."""

import os
import signal

import distributed
import numpy as np
import pytest
from distributed import Client, LocalCluster

import armdyn
from armdyn.errors import SweepError
from armdyn.sweeping import job as runners
from armdyn.sweeping import space as blocks

# a dying process leaves warnings behind
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
KEPT = ["extremes", "moments", "quantiles"]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("two_link")


def test_workers_give_the_same_bits_and_one_may_die(client, robot, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SMALLEST_BLOCK", 2**12)
    over = armdyn.Random(200_000, seed=3, q=(-2, 2), qd=(-3, 3))
    here = armdyn.sweep(robot, "inverse_dynamics", over, KEPT)
    killed = []

    def tell(done, _):
        if not killed and done > 40_000:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    there = armdyn.sweep(robot, "inverse_dynamics", over, KEPT, client=client, tell=tell)
    assert killed
    for name, values in here.arrays().items():
        assert there.arrays()[name].tobytes() == values.tobytes(), name


def test_lazy_arrays_and_stores_on_workers(client, robot, tmp_path, monkeypatch):
    import dask.array

    monkeypatch.setattr(blocks, "STORED_BYTES", 500 * 64)
    q = dask.array.random.default_rng(0).uniform(-1, 1, (2000, 2), chunks=(600, 2))
    one = armdyn.sweep(robot, "gravity_vector", {"q": q}, client=client)
    expected = robot.gravity_vector(q.compute(scheduler="synchronous"))
    np.testing.assert_array_equal(one.extremes.max, expected.max(axis=0))
    rows = {"q": q.compute(scheduler="synchronous")}
    plain = armdyn.sweep(robot, "gravity_vector", rows, client=client)
    np.testing.assert_array_equal(plain.extremes.min, expected.min(axis=0))
    over = armdyn.Random(2000, q=(-2, 2))
    armdyn.sweep(robot, "gravity_vector", over, out=tmp_path / "a.parquet", client=client)
    armdyn.sweep(robot, "gravity_vector", over, out=tmp_path / "b.parquet")
    parts = sorted(path.name for path in (tmp_path / "a.parquet").iterdir())
    assert len(parts) > 1
    for name in parts:
        assert (tmp_path / "a.parquet" / name).read_bytes() == (
            tmp_path / "b.parquet" / name
        ).read_bytes()


def test_a_scheduler_that_is_not_there(robot, monkeypatch):
    monkeypatch.setattr(runners, "CONNECTING", 0.5)
    with pytest.raises(SweepError, match="there is no scheduler at 'tcp://127.0.0.1:9'.*start one"):
        armdyn.sweep(robot, "bias", armdyn.Grid(q=0.1), client="tcp://127.0.0.1:9")
    with pytest.raises(SweepError, match="there is no scheduler at 'nowhere://x'"):
        armdyn.sweep(robot, "bias", armdyn.Grid(q=0.1), client="nowhere://x")


@pytest.mark.parametrize("address", ["$(x)", "[bold]", "", "a:b", ":::"])
def test_what_is_no_address_leaves_no_client_that_waits_to_be_closed(robot, address, monkeypatch):
    monkeypatch.setattr(distributed, "Client", None)
    with pytest.raises(SweepError, match="there is no scheduler at"):
        armdyn.sweep(robot, "bias", armdyn.Grid(q=0.1), client=address)
