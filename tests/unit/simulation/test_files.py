"""Simulations as files."""

import importlib.util

import numpy as np
import pyarrow.parquet
import pytest

import armdyn
from armdyn.errors import MissingExtraError, WriteError
from armdyn.io.csv.trajectory import torques_from_csv

ARM = armdyn.load("craig_two_link")
START = [0.5, 0.3]


def wave(t, q, qd):
    return np.array([20 * np.sin(3 * t), 5 * np.cos(2 * t)])


@pytest.fixture(scope="module")
def motion():
    return armdyn.simulate(ARM, START, None, 0.5, torque=wave, dt=0.05)


@pytest.fixture(scope="module")
def arms():
    start = np.random.default_rng(1).uniform(-1, 1, (3, 2))
    return armdyn.simulate(
        ARM, start, None, 0.2, method="rk4", torque=[1.0, 2.0], friction=False, dt=0.05
    )


def table(path):
    with path.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    return dict(zip(names, np.loadtxt(path, delimiter=",", skiprows=1).T, strict=True))


def test_a_csv_has_the_motion_the_torques_what_else_acts_and_the_energies(motion, tmp_path):
    motion.save(tmp_path / "a.csv")
    read = table(tmp_path / "a.csv")
    groups = [f"{name}{i}" for name in ("q", "qd", "qdd", "tau", "friction") for i in (1, 2)]
    assert list(read) == ["t", *groups, "kinetic", "potential", *motion.hand.columns()]
    np.testing.assert_allclose(read["hand_vx"], motion.hand.velocity[:, 0], rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(read["t"], motion.t, rtol=1e-11)
    for name in groups:
        values = getattr(motion, name[:-1])[:, int(name[-1]) - 1]
        np.testing.assert_allclose(read[name], values, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(read["kinetic"] + read["potential"], motion.energy, rtol=1e-10)


def test_parquet_has_every_bit_and_says_what_it_is(motion, tmp_path):
    motion.save(tmp_path / "a.parquet")
    read = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    for name, values in motion.columns().items():
        np.testing.assert_array_equal(read[name].to_numpy(), values)
    told = read.schema.metadata
    assert (told[b"robot"], told[b"status"]) == (b"craig_two_link", b"finished")


def test_torques_that_are_lines_give_the_same_motion_when_they_are_given_back(tmp_path):
    ramp = armdyn.simulate(ARM, START, None, 1.0, torque=lambda t, q, qd: [20 * t, 5 - 9 * t])
    ramp.save(tmp_path / "ramp.csv")
    again = armdyn.simulate(ARM, START, None, 1.0, torque=tmp_path / "ramp.csv")
    np.testing.assert_allclose(again.q, ramp.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(again.qd, ramp.qd, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_other_torques_give_it_but_for_the_square_of_the_time_between_records(tmp_path):
    errors = []
    for dt in (0.04, 0.02):
        first = armdyn.simulate(ARM, START, None, 0.8, torque=wave, dt=dt)
        first.save(tmp_path / "wave.csv")
        again = armdyn.simulate(ARM, START, None, 0.8, torque=tmp_path / "wave.csv", dt=dt)
        errors.append(np.abs(again.q[-1] - first.q[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] < 1e-2


def test_several_arms_are_one_below_the_other(arms, tmp_path):
    arms.save(tmp_path / "arms.csv")
    arms.save(tmp_path / "arms.parquet")
    read = table(tmp_path / "arms.csv")
    assert next(iter(read)) == "arm"
    for k in range(3):
        own = read["arm"] == k
        np.testing.assert_allclose(read["t"][own], arms.t, rtol=1e-11)
        np.testing.assert_allclose(read["q2"][own], arms.q[k, :, 1], rtol=1e-11)
        np.testing.assert_allclose(read["tau2"][own], 2.0)
        np.testing.assert_allclose(read["potential"][own], arms.potential[k], rtol=1e-10)
    binary = pyarrow.parquet.read_table(tmp_path / "arms.parquet")
    assert str(binary.schema.field("arm").type) == "int64"
    np.testing.assert_array_equal(binary["qd1"].to_numpy(), arms.qd[..., 0].ravel())


def test_arms_cannot_be_taken_for_the_torque_of_one(arms, tmp_path):
    arms.save(tmp_path / "arms.csv")
    with pytest.raises(armdyn.errors.TrajectoryError, match="increas"):
        torques_from_csv(tmp_path / "arms.csv", 2)


@pytest.mark.parametrize("name", ["a.txt", "a", "a.csv.gz"])
def test_other_endings_are_refused_with_those_that_are_possible(motion, tmp_path, name):
    with pytest.raises(WriteError, match=r"the ending must be one of \.csv, \.parquet"):
        motion.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_its_package_says_how_to_get_it(motion, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install pyarrow .* extra 'parquet'"):
        motion.save(tmp_path / "a.parquet")


def test_a_file_that_could_not_be_written_leaves_the_old_one(motion, tmp_path, monkeypatch):
    old = tmp_path / "a.parquet"
    old.write_text("old")

    def full(table, stream, **_options):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyarrow.parquet, "write_table", full)
    with pytest.raises(WriteError, match="No space left"):
        motion.save(old)
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]
    with pytest.raises(WriteError, match="cannot write"):
        motion.save(tmp_path / "nowhere" / "a.csv")
