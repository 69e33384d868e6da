"""Limits of joints as stops: impacts, bounces, resting and leaving."""

import numpy as np
import pytest

from armdyn.robot import Robot
from support.random_robots import random_model
from support.simulation_laws import MASS, G, event_kinds, gantry, moved, pendulum, planar, slider

pytestmark = pytest.mark.slow


def assert_inside(s, slack=1e-9):
    lower, upper = s.robot.limits.T
    assert (lower - slack <= s.q).all()
    assert (s.q <= upper + slack).all()


def test_a_block_that_falls_stays_where_it_lands():
    s = moved(slider(G, limits=[0.2, 5.0]), [1.2], [0], 1.0, stops=True)
    assert event_kinds(s) == ["hits"]
    landing = np.sqrt(2 / G)
    np.testing.assert_allclose(s.events[0].t, landing, rtol=1e-9)
    lies = s.t > landing
    np.testing.assert_array_equal(s.q[lies], 0.2)
    assert not s.qd[lies].any()
    np.testing.assert_allclose(s.stop[lies], MASS * G, rtol=1e-9)
    np.testing.assert_allclose(s.work[-1], [0, 0, 0, MASS * G], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bounce", [0.5, 0.8])
def test_a_ball_bounces_at_the_times_of_the_geometric_series_and_comes_to_rest(bounce):
    s = moved(slider(G, limits=[0.0, 5.0]), [1.0], [0], 6.0, stops=True, bounce=bounce)
    fall = np.sqrt(2 / G)
    count = 12
    flights = 2 * fall * bounce ** np.arange(1, count)
    expected = fall + np.concatenate([[0], np.cumsum(flights)])
    np.testing.assert_allclose([event.t for event in s.events[:count]], expected, rtol=1e-9)
    end = fall + 2 * fall * bounce / (1 - bounce)
    np.testing.assert_allclose(s.events[-1].t, end, rtol=1e-6)
    assert not s.qd[s.t > end].any()
    assert len(s.events) < 3 + 21 / -np.log10(bounce)
    assert_inside(s)


def test_a_perfect_bounce_goes_on_for_ever():
    s = moved(slider(G, limits=[0.0, 5.0]), [1.0], [0], 5.0, stops=True, bounce=1.0)
    np.testing.assert_allclose(s.energy, MASS * G, rtol=1e-9)
    assert len(s.events) == 1 + int((5.0 - np.sqrt(2 / G)) / (2 * np.sqrt(2 / G)))


def test_a_pendulum_that_barely_reaches_its_stop_does_not_pass_it():
    """It would be beyond for three milliseconds, much less than a step."""
    limit = 1 - 1e-5
    robot = pendulum(limits=[-2.0, limit])
    s = moved(robot, [-1.0], [0], 6.0, stops=True, bounce=1.0, dt=1e-3)
    assert event_kinds(s) == ["hits"] * 3
    assert_inside(s)
    assert s.q.max() > limit - 1e-4


def test_both_ends_of_a_rail():
    s = moved(slider(limits=[-0.5, 0.5]), [0.0], [2.0], 3.0, stops=True, bounce=1.0)
    np.testing.assert_allclose(
        [event.t for event in s.events], 0.25 + 0.5 * np.arange(6), rtol=1e-9
    )
    assert_inside(s)


def test_a_block_leaves_its_stop_when_the_torque_exceeds_its_weight():
    s = moved(
        slider(G, limits=[0.0, 9.0]), [0], [0], 2.0, torque=lambda t, q, qd: [20 * t], stops=True
    )
    assert event_kinds(s) == ["leaves"]
    start = MASS * G / 20
    np.testing.assert_allclose(s.events[0].t, start, atol=1e-8)
    after = np.maximum(s.t - start, 0)
    np.testing.assert_allclose(s.q[:, 0], 20 * after**3 / (6 * MASS), atol=1e-8)
    np.testing.assert_allclose(s.stop[:, 0], np.maximum(MASS * G - 20 * s.t, 0), atol=1e-8)


def test_dry_friction_helps_the_stop_to_hold():
    """From the lower stop the torque must lift the block and overcome its friction."""
    robot = slider(G, limits=[0.0, 9.0], coulomb=3.0)
    s = moved(robot, [0], [0], 1.5, torque=lambda t, q, qd: [20 * t], stops=True)
    assert event_kinds(s) == ["leaves"]
    np.testing.assert_allclose(s.events[0].t, (MASS * G + 3.0) / 20, atol=1e-8)


def test_a_joint_that_starts_against_its_stop_hits_it_at_once():
    s = moved(slider(limits=[0.0, 1.0]), [0.0], [-1.0], 0.5, stops=True, bounce=0.5)
    assert s.events[0].t == 0
    np.testing.assert_allclose(s.q[:, 0], 0.5 * s.t, atol=1e-12)
    np.testing.assert_allclose(s.work[-1, 3], 0.5 * MASS * (1 - 0.25), rtol=1e-12)


def test_an_impact_moves_a_joint_that_friction_held():
    """No finite torque holds against a blow: the second rod swings on when the first one stops."""
    robot = planar({"limits": [-1.0, 0.3]}, {"coulomb": 5.0}, gravity=0)
    s = moved(robot, [0.0, 0.8], [2.0, 0.0], 1.0, stops=True)
    order = [(event.kind, event.joint) for event in s.events]
    assert order[0] == ("hits", "joint1")
    blow = s.events[0].t
    assert not s.qd[s.t < blow - 1e-9, 1].any()
    assert s.qd[s.t > blow][0, 1] > 0.1
    assert order[-1] == ("sticks", "joint2")


def test_stops_of_separate_joints_do_not_disturb_each_other():
    robot = gantry({"limits": [-1.0, 0.5]}, {"limits": [-0.25, 1.0]})
    s = moved(robot, [0, 0], [1.0, -1.0], 2.0, stops=True, bounce=0.5)
    np.testing.assert_allclose(s.events[0].t, 0.25, rtol=1e-9)
    np.testing.assert_allclose(s.events[1].t, 0.5, rtol=1e-9)
    np.testing.assert_allclose(s.qd[-1], [-0.5, 0.5], rtol=1e-9)


@pytest.mark.parametrize(("seed", "bounce"), [(0, 0.0), (1, 0.5), (2, 0.9)])
def test_no_arm_leaves_its_limits(seed, bounce):
    robot = Robot(random_model("RPR", seed))
    s = moved(robot, [0.3, 0.2, -0.4], [1, -1, 2], 3.0, stops=True, bounce=bounce, dt=2e-3)
    assert "hits" in event_kinds(s)
    assert_inside(s)


def test_joints_that_throw_each_other_off_their_stops_come_to_rest():
    """Each blow passes on less; what is left in the end is rounding, which must not go on."""
    robot = Robot(random_model("PRPR", 100, rotors=True))
    s = moved(robot, [-0.4305199, 0.25854634, 0.16207296, 0.19982455], None, 3.0, stops=True)
    assert len(s.events) < 300


def test_without_stops_limits_mean_nothing():
    s = moved(slider(G, limits=[0.0, 5.0]), [1.0], [0], 1.0)
    assert s.q[-1] < -3
    assert not s.events
