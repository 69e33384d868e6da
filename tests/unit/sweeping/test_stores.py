"""Stores, and sweeps over what others made."""

import errno
import json

import dask.array
import numpy as np
import pyarrow.parquet
import pytest
import xarray
import zarr

import armdyn
from armdyn.errors import SweepError, WriteError
from armdyn.simulation.trajectories import quintic
from armdyn.sweeping import Exceeded, store
from armdyn.sweeping import space as blocks

pytestmark = pytest.mark.slow
RANDOM = armdyn.Random(2000, seed=1, q=(-2, 2), qd=(-3, 3))


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("two_link")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "STORED_BYTES", 300 * 64)  # 300 states
    monkeypatch.setattr(blocks, "SMALLEST_BLOCK", 128)


def contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def stop_after(states):
    def tell(done, _):
        if done >= states:
            raise KeyboardInterrupt

    return tell


@pytest.mark.parametrize("kind", ["zarr", "parquet"])
def test_a_store_has_all_states_and_a_stopped_sweep_goes_on(robot, tmp_path, kind):
    whole, stopped = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=whole)
    armdyn.set_threads(1)
    try:
        with pytest.raises(KeyboardInterrupt):
            armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=stopped, tell=stop_after(900))
    finally:
        armdyn.set_threads(None)
    rest = armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=stopped)
    assert rest.computed == 2000 - 900
    assert contents(whole) == contents(stopped)
    if kind == "zarr":
        group = zarr.open_group(whole, mode="r")
        assert group.metadata.zarr_format == 3
        q, qd, qdd, tau = (group[k][:] for k in ("q", "qd", "qdd", "inverse_dynamics"))
    else:
        table = pyarrow.parquet.read_table(whole)
        q, qd, qdd, tau = (
            np.column_stack([table[f"{name}{k}"] for k in (1, 2)])
            for name in ("q", "qd", "qdd", "inverse_dynamics_")
        )
    assert len(tau) == 2000
    np.testing.assert_array_equal(tau, robot.inverse_dynamics(q, qd, qdd))
    np.testing.assert_array_equal(q, rest.states(np.arange(2000))["q"])
    again = armdyn.sweep(
        robot, "inverse_dynamics", whole, "extremes"
    )  # a store is a file of states
    np.testing.assert_array_equal(again.extremes.max, tau.max(axis=0))


@pytest.mark.parametrize(
    ("quantity", "axes", "units"),
    [
        ("inverse_dynamics", ("joint",), "N m or N"),
        ("mass_matrix", ("joint", "joint2"), "kg m^2, kg m or kg"),
        ("ledger", ("ledger_axis1", "joint"), "N m or N"),
        ("kinetic_energy", (), "J"),
    ],
)
def test_xarray_opens_a_store_with_labels_and_units(tmp_path, quantity, axes, units):
    scara = armdyn.load("scara")
    swept = {"gravity": [0.0, 0.0, (-9.81, 0.0, 2)]} if quantity == "inverse_dynamics" else {}
    over = armdyn.Grid(q=(-1.0, 1.0, 3), **swept)
    armdyn.sweep(scara, quantity, over, out=tmp_path / "a.zarr")
    found = xarray.open_zarr(tmp_path / "a.zarr")
    assert found.attrs["robot"] == "scara"
    assert found[quantity].dims == ("state", *axes)
    assert found[quantity].attrs["units"] == units
    assert found["q"].dims == ("state", "joint")
    assert found["q"].attrs["units"] == "rad or m"
    assert tuple(found["joint"].values) == scara.joint_names
    if swept:
        states = found.isel(state=found["gravity"].values[:, 2] < 0)
        tau = scara.inverse_dynamics(*(states[name].values for name in ("q", "qd", "qdd")))
        np.testing.assert_allclose(states[quantity].sel(joint="j2").values, tau[:, 1], atol=1e-12)
        assert tuple(found["gravity_axis1"].values) == ("gravity1", "gravity2", "gravity3")


def test_xarray_opens_reductions_by_the_columns_that_are_kept(robot, tmp_path):
    kept = ["extremes", "histogram", "quantiles", Exceeded(limits=9.0)]
    result = armdyn.sweep(
        robot, "inverse_dynamics", armdyn.Grid(q=(-1, 1, 3)), kept, tmp_path / "a.zarr", by="q2"
    )
    found = xarray.open_zarr(tmp_path / "a.zarr")
    assert found["extremes_max"].dims == ("q2", "joint")
    at = found["extremes_max"].sel(q2=1.0, joint=robot.joint_names[1])
    assert float(at) == result.extremes.max[2, 1]


def test_a_damaged_chunk_is_named(robot, tmp_path):
    path = tmp_path / "a.zarr"
    armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path)
    chunk = next(file for file in (path / "qd").rglob("*") if file.is_file() and "c" in file.parts)
    chunk.write_bytes(b"damaged")
    with pytest.raises(
        SweepError, match=r"a\.zarr: states \d+ to \d+ of qd are no numbers, or dam"
    ):
        armdyn.sweep(robot, "inverse_dynamics", path, "extremes")
    (path / "zarr.json").write_text("{")
    with pytest.raises(SweepError, match=r"a\.zarr: this is no Zarr store that can be read"):
        armdyn.sweep(robot, "inverse_dynamics", path, "extremes")


def test_reductions_go_on_from_their_store_with_the_same_bits(robot, tmp_path):
    kept = ["extremes", "moments", Exceeded(limits=9.0)]
    at_once = armdyn.sweep(robot, "inverse_dynamics", RANDOM, kept)
    path = tmp_path / "a.zarr"
    with pytest.raises(KeyboardInterrupt):
        armdyn.sweep(robot, "inverse_dynamics", RANDOM, kept, path, tell=stop_after(500))
    rest = armdyn.sweep(robot, "inverse_dynamics", RANDOM, kept, path)
    assert 0 < rest.computed < 2000
    group = zarr.open_group(path, mode="r")
    for name, values in at_once.arrays().items():
        assert rest.arrays()[name].tobytes() == values.tobytes()
        np.testing.assert_array_equal(group[name][...], values)
    table = tmp_path / "a.parquet"
    armdyn.sweep(robot, "inverse_dynamics", RANDOM, "extremes", table)
    found = pyarrow.parquet.read_table(table)
    assert found["extremes_max_1"].to_pylist() == [at_once.extremes.max[0]]


def test_a_store_of_something_else_is_refused_and_kept(robot, tmp_path):
    path = tmp_path / "a.parquet"
    armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path)
    before = contents(tmp_path)
    other = armdyn.load("craig_two_link")
    with pytest.raises(SweepError, match="of another robot, 'two_link' and not 'craig_two_link'"):
        armdyn.sweep(other, "inverse_dynamics", RANDOM, out=path)
    other = "of another 'two_link', with a difference in links > link2 > bodies > payload: nothing"
    with pytest.raises(SweepError, match=other):
        armdyn.sweep(robot.with_payload(1.0), "inverse_dynamics", RANDOM, out=path)
    with pytest.raises(SweepError, match="of another quantity, inverse_dynamics"):
        armdyn.sweep(robot, "bias", RANDOM, out=path)
    with pytest.raises(SweepError, match="of other states"):
        armdyn.sweep(robot, "inverse_dynamics", armdyn.Random(2000, q=(0, 1)), out=path)
    with pytest.raises(SweepError, match="of other options"):
        armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path, friction=False)
    with pytest.raises(SweepError, match="of other reductions"):
        armdyn.sweep(robot, "inverse_dynamics", RANDOM, "extremes", path)
    assert contents(tmp_path) == before
    progress = store.Progress(path)
    found = json.loads(str(np.load(progress.path)["identity"]))
    progress.save(found | {"version": "0.0.1"}, np.zeros(7, dtype=bool), {})
    with pytest.raises(SweepError, match=r"of armdyn 0\.0\.1, this is"):
        armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path)
    progress.path.write_bytes(b"no archive")
    with pytest.raises(SweepError, match="is damaged; remove it"):
        armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path)
    progress.path.unlink()
    with pytest.raises(SweepError, match=r"is no sweep to go on with: a\.parquet\.sweep is not"):
        armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path)


def test_a_full_disk_loses_nothing(robot, tmp_path, monkeypatch):
    path, written = tmp_path / "a.parquet", []
    real = store.write_parquet

    def filling(*given):
        written.append(given)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*given)

    armdyn.set_threads(1)
    with monkeypatch.context() as patch:
        patch.setattr(store, "write_parquet", filling)
        with pytest.raises(WriteError, match="No space left on device. What is in the store is"):
            armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path)
    armdyn.set_threads(None)
    rest = armdyn.sweep(robot, "inverse_dynamics", RANDOM, out=path)
    assert rest.computed == 2000 - 3 * 300
    assert pyarrow.parquet.read_table(path).num_rows == 2000


def test_arrays_of_others_and_motions(robot, tmp_path):
    rows = RANDOM.space(armdyn.sweep(robot, "inverse_dynamics", RANDOM).space.columns).rows(0, 2000)
    q, qd, qdd = np.split(rows, 3, axis=1)
    tau = robot.inverse_dynamics(q, qd, qdd)
    lazy = {"q": dask.array.from_array(q, chunks=(700, 2)), "qd": qd}
    dims = ("state", "joint")
    dataset = xarray.Dataset({"q": (dims, lazy["q"]), "qd": (dims, qd)})
    for over in (lazy, dataset, {"q": dataset["q"], "qd": qd.tolist()}):
        found = armdyn.sweep(robot, "inverse_dynamics", over)
        np.testing.assert_array_equal(found.extremes.max, tau.max(axis=0))
    move = quintic([0.0, 0.0], [1.0, -2.0], 1.0)
    found = armdyn.sweep(robot, "inverse_dynamics", move)
    assert found.count == 10_001
    t = np.linspace(0, 1, 10_001)
    np.testing.assert_allclose(found.extremes.max, robot.inverse_dynamics(*move(t)).max(axis=0))
    file = tmp_path / "move.csv"
    np.savetxt(
        file, np.column_stack([t, *move(t)]), delimiter=",", comments="", fmt="%.17g",
        header="t," + ",".join(f"{k}{i}" for k in ("q", "qd", "qdd") for i in (1, 2)),
    )  # fmt: skip
    again = armdyn.sweep(robot, "inverse_dynamics", file)
    np.testing.assert_allclose(again.extremes.max, found.extremes.max, rtol=1e-12)
    broken = tmp_path / "a.parquet"
    broken.write_bytes(b"PAR1 no")
    with pytest.raises(SweepError, match="this is no Parquet file that can be read"):
        armdyn.sweep(robot, "inverse_dynamics", broken)
    with pytest.raises(SweepError, match=r"states are read from \.csv, \.parquet and \.zarr"):
        armdyn.sweep(robot, "inverse_dynamics", __file__)


def test_a_kernel_is_a_function_of_dask(robot):
    q = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    kernel = robot.kernel("gravity_vector").__self__
    assert kernel.__name__ == "gravity_vector"
    chunked = dask.array.from_array(q, chunks=(40, 2))
    found = dask.array.apply_gufunc(
        kernel, "(i)->(j)", chunked, output_sizes={"j": 2}, output_dtypes=float
    )
    np.testing.assert_array_equal(found.compute(scheduler="synchronous"), robot.gravity_vector(q))
