"""When steps begin, when states are recorded, and what acts between the rows of tables."""

import math

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

import armdyn
from armdyn import BaseMotion
from armdyn.errors import SimulationError
from armdyn.model.transform import rotation_from_vector
from armdyn.simulation.adaptive import DEFAULT_RECORDS, record_times
from armdyn.simulation.fixed import DEFAULT_STEP, StepGrid
from armdyn.simulation.forces import base_rows, motion_of_rows, sampled_base, torque_table
from support.simulation_laws import planar, slider

durations = st.floats(1e-3, 1e3)
parts = st.floats(1e-3, 1.0)


@drawn(durations, parts)
def test_records_are_so_far_apart_and_the_last_is_at_the_end(duration, part):
    dt = part * duration
    t = record_times(duration, dt)
    assert (t[0], t[-1]) == (0.0, duration)
    np.testing.assert_allclose(t[:-1], dt * np.arange(len(t) - 1), rtol=1e-14)
    assert 0 < t[-1] - t[-2] <= dt * (1 + 1e-9)
    assert len(t) in (math.floor(1 / part) + 1, math.floor(1 / part) + 2)


@drawn(durations, st.integers(1, 500))
def test_records_that_fit_are_all_as_far_apart(duration, count):
    t = record_times(duration, duration / count)
    np.testing.assert_allclose(t, np.linspace(0, duration, count + 1), rtol=1e-12)
    assert record_times(duration, None) == pytest.approx(
        duration * np.arange(DEFAULT_RECORDS + 1) / DEFAULT_RECORDS
    )


def test_as_many_records_are_kept_as_there_may_be(monkeypatch):
    monkeypatch.setattr("armdyn.simulation.adaptive.MAX_RECORDS", 64)
    assert len(record_times(16.0, 0.25)) == 65
    assert len(record_times(0.25, 0.25)) == 2
    for duration, dt in ((16.25, 0.25), (0.25, 0.25 / 65)):
        with pytest.raises(SimulationError, match=r"dt: 65 instants are more than can be kept"):
            record_times(duration, dt)
    for dt in (0.2500001, 0.0, math.inf):
        with pytest.raises(SimulationError, match="dt"):
            record_times(0.25, dt)


@drawn(durations, parts, st.none() | parts, st.integers(1, 40_000))
def test_steps_are_as_long_as_they_may_be_and_records_are_at_their_ends(duration, h, dt, arms):
    step, between = h * duration, None if dt is None else dt * duration
    grid = StepGrid.of(duration, between, step, arms)
    assert (grid.times[0], grid.times[-1], len(grid.times)) == (0.0, duration, grid.steps + 1)
    assert grid.step == pytest.approx(duration / grid.steps)
    assert grid.step <= step * (1 + 1e-9)
    records = grid.steps // grid.every
    assert records * grid.every == grid.steps
    if between is not None:  # one record less, or one step less between two, would be too few
        assert duration / records <= between * (1 + 1e-9)
        assert records == 1 or duration / (records - 1) > between * (1 - 1e-9)
        fewer = records * (grid.every - 1)
        assert fewer == 0 or duration / fewer > step * (1 - 1e-9)
    else:
        assert grid.steps - grid.every < duration / step + 1
        most = max(min(500, 2_000_000 // arms), 1)
        assert records <= 2 * most
        assert records >= min(most, duration / step * (1 - 1e-9))


def test_without_a_step_it_is_a_millisecond_or_the_time_between_records():
    assert StepGrid.of(2.0, None, None, 1).step == pytest.approx(DEFAULT_STEP)
    assert StepGrid.of(2.0, 0.01, None, 1).step == pytest.approx(DEFAULT_STEP)
    assert StepGrid.of(2.0, 1e-4, None, 1) == StepGrid(2.0, 20_000, 1)
    assert StepGrid.of(1e-5, None, None, 1) == StepGrid(1e-5, 1, 1)


def test_no_more_steps_and_states_than_can_be_taken_and_kept(monkeypatch):
    monkeypatch.setattr("armdyn.simulation.fixed.MAX_STEPS", 100.0)
    monkeypatch.setattr("armdyn.simulation.fixed.MAX_STATES", 60)
    assert StepGrid.of(1.0, None, 0.01, 1).steps == 100
    assert StepGrid.of(1.0, 0.05, 0.01, 3).steps == 100
    assert StepGrid.of(1.0, None, 0.01, 30).steps == 100
    with pytest.raises(SimulationError, match="101 steps are too many"):
        StepGrid.of(1.01, None, 0.01, 1)
    for dt, arms, states in ((None, 31, 62), (0.05, 4, 80)):
        with pytest.raises(SimulationError, match=f"{states} states are more than can be kept"):
            StepGrid.of(1.0, dt, 0.01, arms)
    for given in ({"dt": 1.1}, {"step": 1.1}, {"dt": 0.0}, {"step": -0.1}):
        with pytest.raises(SimulationError, match="expected a positive time up to the duration"):
            StepGrid.of(1.0, given.get("dt"), given.get("step"), 1)


# tables

ROWS = np.array([[0.0, 1.0, -2.0], [0.3, 2.0, 0.5], [1.0, -1.0, 4.0]])


def table(path, rows):
    path.write_text("t,tau1,tau2\n" + "".join(f"{t},{a},{b}\n" for t, a, b in rows))
    return path


def test_torques_of_a_table_are_on_the_lines_through_its_rows(tmp_path):
    torque = torque_table(planar({}, {}), table(tmp_path / "t.csv", ROWS.tolist()), 1.0)
    times = np.linspace(0, 1, 101)
    expected = np.stack([np.interp(times, ROWS[:, 0], x) for x in ROWS.T[1:]], -1)
    zero = np.zeros(2)
    np.testing.assert_allclose([torque(t, zero, zero) for t in times], expected, atol=1e-12)
    arms = np.zeros((3, 2))
    assert torque(0.3, arms, arms).shape == (3, 2)


def test_a_table_that_begins_late_or_ends_early_is_refused(tmp_path):
    for duration, first in ((1.00001, 0.0), (1.0, 0.001)):
        path = table(tmp_path / "t.csv", [[first, *ROWS[0, 1:]], *ROWS[1:].tolist()])
        with pytest.raises(SimulationError, match="but the simulation lasts from 0 to"):
            torque_table(planar({}, {}), path, duration)


def test_a_saved_motion_drives_one_that_lasts_as_long_whatever_that_is(tmp_path):
    """A file has twelve digits of its times, whose last may be rounded down."""
    robot, path = planar({}, {}), tmp_path / "motion.csv"
    for duration in (2**0.5, 10 / 9, 1.000000000004):
        t = np.array([0.0, duration])
        armdyn.io.csv.table.write_csv(path, {"t": t, "tau1": t, "tau2": t})
        assert torque_table(robot, path, duration)


def test_between_samples_a_base_turns_evenly_and_its_vectors_are_on_lines():
    turn, t = np.array([0.3, -1.0, 0.5]), np.array([0.0, 0.4, 1.0, 1.1])
    standing = slider().model.base[:3, :3]

    def motion(at):
        at = np.asarray(at)[..., None]
        lines = (at * np.array([[1.0, 2, 3], [-2, 1, 0], [0, 3, -1]])[:, None]) + 0.5
        return BaseMotion(rotation_from_vector(at * turn), *lines)

    sampled = sampled_base(standing, t, motion(t), (0.0, 1.1))
    at = np.array([0.0, 0.1, 0.4, 0.77, 1.0, 1.05, 1.1])
    np.testing.assert_allclose(sampled(at), motion(at).vector(standing), atol=1e-12)
    several = at[1:].reshape(2, 3)
    np.testing.assert_array_equal(sampled(several), sampled(at)[1:].reshape(2, 3, 18))
    np.testing.assert_allclose(sampled(0.77), sampled(at)[3], rtol=1e-15)
    for span in ((-0.01, 1.0), (0.0, 1.11)):
        with pytest.raises(SimulationError, match="it says how the base moves from 0 to 1.1 s"):
            sampled_base(standing, t, motion(t), span)


def test_however_the_motion_of_a_base_is_told_its_rows_are_the_same():
    robot, t = slider(), np.linspace(0, 1, 5)
    told = rotation_from_vector(np.array([0.1, 0.2, 0.3])), *np.arange(9.0).reshape(3, 3)
    steady, twice = BaseMotion(*told), BaseMotion(*(np.stack([x, x]) for x in told))
    rows = base_rows(robot, steady, t)
    np.testing.assert_array_equal(rows, np.tile(steady.vector(np.eye(3)), (5, 1)))
    for given in (lambda at: steady, ([0, 1], twice), ([0, 1], steady), ([0.5], steady)):
        np.testing.assert_allclose(base_rows(robot, given, t), rows, atol=1e-15)
    back = motion_of_rows(rows)
    np.testing.assert_array_equal(back.vector(np.eye(3)), rows)
    assert base_rows(robot, None, t) is None
