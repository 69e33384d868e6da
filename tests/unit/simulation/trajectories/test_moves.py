import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armdyn
from armdyn.errors import TrajectoryError
from armdyn.simulation.trajectories import hold, sampled, trapezoid
from support.trajectory_laws import (
    assert_derivatives,
    assert_rests_outside,
    assert_touches,
    assert_vectorised,
)

START, END = np.array([0.3, -1.0, 2.0]), np.array([1.1, 0.5, 2.0])


@pytest.mark.parametrize("velocity", [0.4, 50.0])
def test_it_is_a_motion_from_rest_to_rest(velocity):
    move = trapezoid(START, END, velocity, 3.0)
    assert len(move.knots) == (4 if velocity < 1 else 3)
    assert_derivatives(move, move.knots, 1e-10)
    assert_rests_outside(move)
    assert_vectorised(move)
    np.testing.assert_array_equal(move(0).q, START)
    np.testing.assert_array_equal(move(move.duration).q, END)
    assert not move(move.duration).qd.any()
    for knot in move.knots[1:]:
        before, after = move(knot - 1e-12), move(knot)
        np.testing.assert_allclose(before.q, after.q, atol=1e-10)
        np.testing.assert_allclose(before.qd, after.qd, atol=1e-10)


@pytest.mark.parametrize(
    ("velocity", "acceleration", "duration"),
    [(0.5, 1.0, 2.0 / 0.5 + 0.5 / 1.0), (9.0, 2.0, 2 * math.sqrt(2.0 / 2.0))],
)
def test_the_duration_of_one_joint_is_the_textbooks(velocity, acceleration, duration):
    assert trapezoid([1.0], [-1.0], velocity, acceleration).duration == pytest.approx(duration)


@given(
    st.lists(st.floats(-3, 3), min_size=1, max_size=5).filter(lambda x: max(map(abs, x)) > 1e-3),
    st.floats(0.1, 10),
    st.floats(0.1, 10),
    st.floats(1, 4),
)
def test_limits_are_kept_and_touched_and_all_joints_go_together(end, velocity, acceleration, slow):
    start = np.zeros(len(end))
    move = trapezoid(start, end, velocity, acceleration)
    speeds, bends = move.peaks()
    assert assert_touches(bends, acceleration)
    assert assert_touches(speeds, velocity) == (len(move.knots) == 4) or len(move.knots) == 3
    slower = trapezoid(start, end, velocity, acceleration, slow * move.duration)
    assert slower.duration == pytest.approx(slow * move.duration)
    part = np.linspace(0, 1, 17)
    for way in (move, slower):
        q, qd, _ = way(part * way.duration)
        reference = int(np.abs(end).argmax())
        share = q[:, [reference]] / end[reference]
        np.testing.assert_allclose(q, share * end, atol=1e-13)
        assert (np.diff(share[:, 0]) > 0).all()
    np.testing.assert_allclose(slower(part * slower.duration).q, q, atol=1e-12)
    np.testing.assert_allclose(slow * qd, move(part * move.duration).qd, atol=1e-9)
    ends = (way(way.duration).qdd for way in (move, slower))
    np.testing.assert_allclose(next(ends), slow**2 * next(ends), rtol=1e-9)


def test_backwards_in_time_is_the_way_back():
    there, back = trapezoid(START, END, 0.4, 3.0), trapezoid(END, START, 0.4, 3.0)
    t = np.linspace(0, there.duration, 41) + 1e-3
    np.testing.assert_allclose(there(there.duration - t).q, back(t).q, atol=1e-13)
    np.testing.assert_allclose(there(there.duration - t).qd, -back(t).qd, atol=1e-12)


def test_a_duration_below_the_shortest_says_which_that_is():
    with pytest.raises(TrajectoryError, match=r"in 4.5 s at the shortest, not in duration = 4"):
        trapezoid([0.0], [2.0], 0.5, 1.0, 4.0)
    assert trapezoid([0.0], [2.0], 0.5, 1.0, 4.5).duration == 4.5


def test_nothing_to_do():
    rest = trapezoid(START, START, 1.0, 1.0, 2.0)
    assert rest.duration == 2.0
    assert not rest(np.linspace(0, 2, 5)).qd.any()
    with pytest.raises(TrajectoryError, match="no duration follows"):
        trapezoid(START, START, 1.0, 1.0)
    with pytest.raises(TrajectoryError, match="no joint that moves has a finite limit"):
        trapezoid(START, END, 1.0, [math.inf, math.inf, 1.0])


@pytest.mark.parametrize("duration", [0.0, 2.5])
def test_hold_rests_at_all_times(duration):
    rest = hold(START, duration)
    assert rest.duration == duration
    at = rest(np.linspace(-1, 4, 20))
    np.testing.assert_array_equal(at.q, np.tile(START, (20, 1)))
    assert not at.qd.any()
    assert not at.qdd.any()
    assert len(sampled(rest, 0.5).t) == 1 + 2 * duration
    np.testing.assert_array_equal(np.concatenate(rest.reach()), [*START, *START])


def test_a_robot_lends_its_joint_limits():
    scara = armdyn.load("scara")
    with pytest.raises(
        TrajectoryError, match=r"would go to 0.3, outside its limits \[-0.2, 0.12\]"
    ):
        hold([0, 0, 0.3, 0], robot=scara)
    below = r"'j3' would go to -0.25, outside its limits \[-0.2, 0.12\], by 0.05;"
    with pytest.raises(TrajectoryError, match=below):
        hold([0, 0, -0.25, 0], robot=scara)
    for edge in scara.limits.T:
        hold(edge, robot=scara)
    with pytest.raises(TrajectoryError, match="by 0.18"):
        trapezoid([0, 0, 0, 0], [0, 0, 0.3, 0], 1, 1, robot=scara)


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, None])
def test_no_duration_of_rest_can_be_negative(value):
    with pytest.raises(TrajectoryError, match="duration: expected a positive number"):
        hold(START, value)


@pytest.mark.parametrize("limits", [(5e-324, 1.0), (1.0, 5e-324), (1e-40, 1e-40)])
def test_limits_that_let_nothing_move_are_refused(limits):
    with pytest.raises(TrajectoryError, match="so low that the move never ends"):
        trapezoid([0.0], [1.0], *limits)
