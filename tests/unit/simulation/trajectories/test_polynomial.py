import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armdyn
from armdyn.errors import ShapeError, TrajectoryError
from armdyn.simulation.trajectories import quintic
from support.trajectory_laws import (
    assert_derivatives,
    assert_rests_outside,
    assert_touches,
    assert_vectorised,
)

START, END = np.array([0.3, -1.0, 2.0]), np.array([1.1, 0.5, 2.0])
RATES = {
    "start_velocity": [0.4, -0.2, 0.1],
    "end_velocity": [0.0, 0.5, -0.3],
    "start_acceleration": [1.0, 0.0, -0.5],
    "end_acceleration": [-0.3, 0.7, 0.0],
}


def test_ends_are_exactly_what_was_asked_for():
    move = quintic(START, END, 1.7, **RATES)
    for t, end, q in ((0.0, "start", START), (1.7, "end", END)):
        at = move(t)
        np.testing.assert_array_equal(at.q, q)
        np.testing.assert_allclose(at.qd, RATES[f"{end}_velocity"], rtol=1e-15)
        np.testing.assert_allclose(at.qdd, RATES[f"{end}_acceleration"], rtol=1e-15)
    before = move(1.7 - 1e-9)
    np.testing.assert_allclose(before.q, END, atol=1e-8)
    np.testing.assert_allclose(before.qd, RATES["end_velocity"], atol=1e-8)
    np.testing.assert_allclose(before.qdd, RATES["end_acceleration"], atol=1e-7)


@pytest.mark.parametrize("rates", [{}, RATES])
def test_it_is_a_motion(rates):
    move = quintic(START, END, 1.7, **rates)
    assert (move.n, move.duration) == (3, 1.7)
    assert_derivatives(move)
    assert_rests_outside(move)
    assert_vectorised(move)


def test_a_joint_that_stays_has_rates_of_exactly_zero():
    at = quintic(START, END, 1.7)(np.linspace(0, 1.7, 50))
    assert not at.qd[:, 2].any()
    assert not at.qdd[:, 2].any()
    assert not at.qd[-1].any()


def test_backwards_in_time_is_the_way_back():
    t = np.linspace(0, 1.7, 41)
    there, back = quintic(START, END, 1.7)(1.7 - t), quintic(END, START, 1.7)(t)
    np.testing.assert_allclose(there.q, back.q, atol=1e-14)
    np.testing.assert_allclose(there.qd, -back.qd, atol=1e-13)
    np.testing.assert_allclose(there.qdd, back.qdd, atol=1e-12)


@given(
    st.lists(st.floats(-3, 3), min_size=1, max_size=5).filter(lambda x: max(map(abs, x)) > 1e-3),
    st.floats(0.1, 10),
    st.floats(0.1, 10),
)
def test_the_shortest_move_keeps_both_limits_and_touches_one(end, velocity, acceleration):
    move = quintic(np.zeros(len(end)), end, velocity=velocity, acceleration=acceleration)
    speeds, bends = move.peaks()
    assert assert_touches(speeds, velocity) | assert_touches(bends, acceleration)


def test_peaks_and_reach_are_the_extremes_of_the_motion():
    move = quintic(START, END, 1.7, **RATES)
    dense = move(np.linspace(0, 1.7, 20001))
    for peak, values in zip(move.peaks(), (dense.qd, dense.qdd), strict=True):
        np.testing.assert_allclose(peak, np.abs(values).max(0), rtol=1e-6)
        assert (peak >= np.abs(values).max(0) - 1e-12).all()
    low, high = move.reach()
    np.testing.assert_allclose(low, dense.q.min(0), atol=1e-7)
    np.testing.assert_allclose(high, dense.q.max(0), atol=1e-7)


@pytest.mark.slow
@given(st.lists(st.floats(-0.9, 0.9), min_size=4, max_size=4), st.floats(-2, 2))
def test_with_velocities_at_the_ends_no_shorter_move_keeps_the_limits(rates, end):
    ends = {"start_velocity": rates[:2], "end_velocity": rates[2:]}
    limits = {"velocity": 1.0, "acceleration": 3.0}
    move = quintic([0, 0.5], [end, 0.4], **limits, **ends)
    speeds, bends = move.peaks()
    assert assert_touches(speeds, 1.0) | assert_touches(bends, 3.0)
    shorter = quintic([0, 0.5], [end, 0.4], move.duration * (1 - 1e-6), **ends)
    assert (shorter.peaks()[0] > 1).any() or (shorter.peaks()[1] > 3).any()


def test_constant_speed_takes_the_time_of_the_way():
    move = quintic([0.0], [2.0], velocity=0.5, start_velocity=0.5, end_velocity=0.5)
    assert move.duration == pytest.approx(4.0, rel=1e-12)
    np.testing.assert_allclose(move(np.linspace(0, 4, 9)).qd, 0.5, rtol=1e-12)


def test_a_robot_lends_its_joint_limits():
    panda = armdyn.load("panda")
    inside = np.array([0, 0, 0, -1.5, 0, 1.5, 0])
    quintic(inside, inside + 0.2, 1.0, robot=panda)
    with pytest.raises(TrajectoryError, match=r"would go to 0.1, outside its limits"):
        quintic(inside, [0, 0, 0, 0.1, 0, 1.5, 0], 1.0, robot=panda)
    # both ends are inside, what is between them is not
    with pytest.raises(TrajectoryError, match="outside its limits"):
        quintic(inside, inside, 2.0, start_velocity=9.0, robot=panda)
    with pytest.raises(ShapeError, match=r"start: expected shape \(..., 7\)"):
        quintic([0, 0], [1, 1], 1.0, robot=panda)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either the duration"),
        ({"duration": 1.0, "velocity": 1.0}, "give either the duration"),
        ({"duration": 0.0}, r"duration: expected a positive number \[s\], got 0.0"),
        ({"duration": -1}, "expected a positive number"),
        ({"duration": math.nan}, "expected a positive number"),
        ({"duration": "1"}, "got '1'"),
        ({"velocity": 0.0}, "velocity: a limit must be positive"),
        ({"acceleration": [1, -1, 1]}, "acceleration: a limit must be positive"),
        ({"velocity": math.nan}, "velocity: a limit must be positive"),
        ({"velocity": [1, math.inf, 1], "start_velocity": math.inf}, "expected finite"),
        ({"velocity": 1, "start_velocity": [0, 0, -2]}, "start_velocity of joint 3 is -2, beyond"),
        ({"acceleration": 1, "end_acceleration": 2}, "end_acceleration of joint 1 is 2, beyond"),
        ({"velocity": math.inf}, "no joint that moves has a finite limit"),
    ],
)
def test_what_cannot_be_is_said(arguments, message):
    with pytest.raises(TrajectoryError, match=message):
        quintic(START, END, **arguments)


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(ShapeError, match=r"end: expected shape \(..., 3\)"):
        quintic(START, [0, 1], 1.0)
    with pytest.raises(ShapeError, match="start: expected one configuration"):
        quintic([[0, 1], [1, 2]], [0, 1], 1.0)
    with pytest.raises(ShapeError, match="velocity"):
        quintic(START, END, velocity=[1, 2])
    with pytest.raises(ShapeError, match="start"):
        quintic([[0], [1, 2]], [0, 1], 1.0)
    with pytest.raises(ShapeError, match="start"):
        quintic(0.5, 1.0, 1.0)
    with pytest.raises(TrajectoryError, match="start: expected finite"):
        quintic([math.nan, 0], [0, 1], 1.0)
    with pytest.raises(TrajectoryError, match="hold"):
        quintic(START, START, velocity=1.0)
    with pytest.raises(ShapeError, match="t: expected real numbers"):
        quintic(START, END, 1.0)("soon")


def test_an_acceleration_at_an_end_can_leave_no_duration():
    # the way takes 10 s at least, in which the acceleration at the start alone is too much
    with pytest.raises(TrajectoryError, match="no duration keeps the limits"):
        quintic([0.0], [10.0], velocity=1.0, start_acceleration=5.0)
