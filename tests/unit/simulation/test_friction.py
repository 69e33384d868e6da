"""Joints that stick, break away and come to rest."""

from itertools import pairwise

import numpy as np
import pytest

import armdyn
from armdyn.loops.rows import residuals
from armdyn.model import Connection, FrictionLaw, Inertia, Mimic, assemble
from armdyn.robot import Robot
from armdyn.simulation.system import BREAKAWAY_TOLERANCE, DryFriction
from support.random_robots import random_model
from support.simulation_laws import MASS, assert_laws, event_kinds, gantry, moved, planar, slider


def ramp(rate):
    return lambda t, q, qd: np.multiply(rate, t)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "rate", "level"),
    [
        ({"coulomb": 1.5}, 2.0, 1.5),
        ({"coulomb": [1.0, 2.5]}, 2.0, 1.0),
        ({"coulomb": [1.0, 2.5]}, -2.0, 2.5),
        ({"coulomb": 1.5, "stribeck": 0.6, "stribeck_velocity": 0.1}, 3.0, 2.1),
        ({"coulomb": [0.0, 1.0]}, -1.0, 1.0),
    ],
)
def test_a_joint_breaks_away_when_the_torque_is_at_its_level(row, rate, level):
    s = moved(slider(**row), [0.1], [0], 2.0, torque=ramp([rate]))
    start = level / abs(rate)
    assert event_kinds(s) == ["starts"]
    np.testing.assert_allclose(s.events[0].t, start, atol=1e-9)
    still, late = s.t < start - 1e-9, s.t > start + 1e-9
    assert not s.qd[still].any()
    np.testing.assert_array_equal(s.q[still], 0.1)
    np.testing.assert_allclose(s.friction[still, 0], rate * s.t[still], atol=1e-12)
    assert (np.sign(s.qd[late]) == np.sign(rate)).all()


@pytest.mark.slow
def test_after_breaking_away_a_block_moves_as_the_cube_of_time():
    s = moved(slider(coulomb=1.5), [0], [0], 2.0, torque=ramp([2.0]))
    after = np.maximum(s.t - 0.75, 0)
    np.testing.assert_allclose(s.q[:, 0], 2.0 * after**3 / (6 * MASS), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1.2, -0.8])
def test_a_sliding_block_stops_where_and_when_coulomb_says(speed):
    level = {1: 1.0, -1: 0.5}[int(np.sign(speed))]
    s = moved(slider(coulomb=[1.0, 0.5]), [0.0], [speed], 5.0)
    assert event_kinds(s) == ["sticks"]
    np.testing.assert_allclose(s.events[0].t, MASS * abs(speed) / level, rtol=1e-9)
    assert (s.q[s.t > s.events[0].t] == s.q[-1]).all()
    np.testing.assert_allclose(s.q[-1], MASS * speed * abs(speed) / (2 * level), rtol=1e-9)
    assert s.qd[-1] == 0


@pytest.mark.slow
def test_viscous_and_dry_friction_stop_a_block_after_the_time_of_the_logarithm():
    level, viscous, speed = 0.7, 1.3, 2.0
    s = moved(slider(coulomb=level, viscous=viscous), [0], [speed], 4.0)
    time = MASS / viscous * np.log(1 + viscous * speed / level)
    np.testing.assert_allclose(s.events[0].t, time, rtol=1e-9)


@pytest.mark.slow
def test_a_sine_that_just_exceeds_the_level_is_noticed_in_each_period():
    """While a joint is held nothing else moves: the step must not pass over what frees it."""

    def torque(t, q, qd):
        return [1.02 * np.sin(7 * t)]

    s = moved(slider(coulomb=1.0), [0], [0], 10.0, torque=torque, atol=1e-14)
    first = np.arcsin(1 / 1.02) / 7
    starts = [event.t for event in s.events if event.kind == "starts"]
    np.testing.assert_allclose(starts, first + np.pi / 7 * np.arange(len(starts)), atol=1e-8)
    assert len(starts) == int((10.0 - first) * 7 / np.pi) + 1
    assert len(s.events) in (2 * len(starts), 2 * len(starts) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("holds", ["motor", "friction"])
def test_what_is_rounding_beside_the_torques_frees_no_joint(holds):
    """A weight of a million newtons: a level is not known better than to a part of it."""
    weight, slack = 1e6, 1e6 * BREAKAWAY_TOLERANCE
    level, lift, way = (1.0, weight, 1.0) if holds == "motor" else (weight + 1.0, 0.0, -1.0)
    robot = slider(weight / MASS, coulomb=level)
    for most, events in ((0.8, []), (1.2, ["starts"])):
        beyond = way * most * slack
        s = moved(robot, [0], [0], 1.0, torque=lambda t, q, qd, r=beyond: [lift + way + r * t])
        assert event_kinds(s) == events


@pytest.mark.slow
def test_a_torque_that_jumps_frees_a_joint_at_the_jump():
    jump = 0.37123
    s = moved(slider(coulomb=1.0), [0], [0], 1.0, torque=lambda t, q, qd: [3.0 * (t >= jump)])
    np.testing.assert_allclose(s.events[0].t, jump, atol=1e-12)
    np.testing.assert_allclose(s.qd[-1], (3 - 1) / MASS * (1 - jump), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("fall", [1e2, 1e4, 1e6])
def test_a_slip_shorter_than_any_step_ends(fall):
    """The torque starts above the level and falls fast: v = (0.1 t - fall t²/2) / m."""
    s = moved(slider(coulomb=1.0), [0], [0], 0.1, torque=lambda t, q, qd: [1.1 - fall * t])
    assert event_kinds(s) == ["sticks", "starts"]
    np.testing.assert_allclose([event.t for event in s.events], [0.2 / fall, 2.1 / fall], rtol=1e-6)


def test_a_block_that_would_turn_back_for_an_instant_sticks():
    """v = (t - 1)² - depth would be negative for 2 ms, much less than a step."""
    depth = 1e-6
    s = moved(
        slider(coulomb=1.0), [0], [1 - depth], 2.0, torque=lambda t, q, qd: [1 + MASS * 2 * (t - 1)]
    )
    assert event_kinds(s) == ["sticks", "starts"]
    np.testing.assert_allclose([event.t for event in s.events], [1 - depth**0.5, 1.0], atol=1e-7)
    np.testing.assert_allclose(s.qd[-1], 1.0, rtol=1e-9)


def falling(**row):
    common = {"coulomb": 0.8, "viscous": 0.05} | row
    return planar(common, common | {"coulomb": [0.3, 0.5]})


@pytest.mark.slow
@pytest.mark.parametrize("row", [{}, {"stribeck": 0.4, "stribeck_velocity": 0.2}])
def test_a_falling_arm_comes_to_rest_and_stays(row):
    s = moved(falling(**row), [2.0, 0.7], [0, 0], 12.0)
    last = s.events[-1].t
    assert 1 < last < 11
    assert len(s.events) < 60
    rest = s.t > last
    assert not s.qd[rest].any()
    assert not s.qdd[rest].any()
    assert (s.q[rest] == s.q[-1]).all()
    np.testing.assert_allclose(s.friction[-1], -s.robot.gravity_vector(s.q[-1]), atol=1e-9)
    assert np.abs(s.friction[-1]).max() > 0.01  # it does not hang


@pytest.mark.slow
def test_events_of_a_joint_alternate():
    s = moved(
        falling(), [2.0, 0.7], [0, 0], 12.0, torque=lambda t, q, qd: [np.sin(t), np.cos(2 * t)]
    )
    for joint in s.robot.joint_names:
        own = [event.kind for event in s.events if event.joint == joint]
        assert len(own) > 4
        assert all(a != b for a, b in pairwise(own))


@pytest.mark.slow
def test_a_smooth_sign_tends_to_the_dry_one():
    start = [0.4, -0.3], [2.0, -1.0], 2.5
    dry = moved(planar({"coulomb": 1.0}, {"coulomb": 0.4}, gravity=0), *start)
    assert not dry.qd[-1].any()
    apart = []
    for width in (2e-1, 5e-2, 1.25e-2):
        rows = [{"coulomb": level, "smooth_velocity": width} for level in (1.0, 0.4)]
        smooth = moved(planar(*rows, gravity=0), *start)
        apart.append(np.abs(smooth.q - dry.q).max())
    assert apart[2] < 0.4 * apart[1] < 0.16 * apart[0]


@pytest.mark.slow
def test_joints_with_the_same_level_start_at_once():
    s = moved(
        gantry({"coulomb": 1.0}, {"coulomb": 1.0}), [0, 0], None, 1.0, torque=ramp([2.0, -2.0])
    )
    assert [str(event) for event in s.events] == [
        "0.500000 s: joint1 starts",
        "0.500000 s: joint2 starts",
    ]


@pytest.mark.slow
def test_joints_with_the_same_deceleration_stick_at_once():
    s = moved(gantry({"coulomb": 2.0}, {"coulomb": 1.0}), [0, 0], [1.0, -1.0], 3.0)
    assert event_kinds(s) == ["sticks", "sticks"]
    np.testing.assert_allclose([event.t for event in s.events], MASS, rtol=1e-9)


@pytest.mark.slow
def test_a_joint_that_starts_takes_another_along():
    """The second joint has no torque of its own: the inertia of the first one frees it."""
    robot = planar({"coulomb": 1.0}, {"coulomb": 0.05}, gravity=0)
    s = moved(robot, [0, 0], None, 1.0, torque=lambda t, q, qd: [20.0 * (t > 0.5), 0])
    assert [event.joint for event in s.events[:2]] == ["joint1", "joint2"]
    np.testing.assert_allclose([event.t for event in s.events[:2]], 0.5, atol=1e-9)
    assert s.qd[(s.t > 0.501) & (s.t < 0.6), 1].max() < 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
def test_any_arm_with_friction_keeps_the_laws(seed):
    robot = Robot(random_model(("RPR", "RRP", "RPRR")[seed % 3], seed, friction=True))
    rng = np.random.default_rng(seed)
    size, rate = rng.uniform(1, 8, (2, robot.n))
    s = moved(
        robot,
        rng.uniform(-1, 1, robot.n),
        rng.uniform(-1, 1, robot.n),
        3.0,
        torque=lambda t, q, qd: robot.gravity_vector(q) + size * np.sin(rate * t),
    )
    assert s.events
    assert len(s.events) < 200


@pytest.mark.slow
def test_a_wrench_is_held_until_it_exceeds_the_level():
    s = moved(slider(coulomb=1.5), [0], [0], 2.0, external_wrench=lambda t: [0, 0, -t, 0, 0, 0])
    assert event_kinds(s) == ["starts"]
    np.testing.assert_allclose(s.events[0].t, 1.5, atol=1e-9)
    assert s.qd[-1] < 0


def gripper(multiplier):
    """Two fingers that slide, the second one with the first."""
    finger = Inertia(0.4, np.zeros(3), np.eye(3) / 100)
    law = FrictionLaw(0.0, 0.6, 0.9)
    links = {"palm": Inertia.zero(), "left": finger, "right": finger}
    slides = [
        Connection("a", "prismatic", "palm", "left", np.eye(4), axis=(0, 1, 0), friction=law),
        Connection(
            "b", "prismatic", "palm", "right", np.eye(4), axis=(0, 1, 0), friction=law,
            mimic=Mimic("a", multiplier),
        ),
    ]  # fmt: skip
    return Robot(assemble("gripper", links, slides))


@pytest.mark.slow
@pytest.mark.parametrize("multiplier", [1.0, -1.0, 0.5])
@pytest.mark.parametrize("rate", [1.0, -1.0])
def test_coupled_joints_stick_with_the_friction_of_both(multiplier, rate):
    robot = gripper(multiplier)
    own = 0.6 if rate > 0 else 0.9
    level = own + abs(multiplier) * (0.6 if rate * multiplier > 0 else 0.9)
    s = moved(robot, [0.0], None, 2.5, torque=ramp([rate]))
    assert event_kinds(s) == ["starts"]
    np.testing.assert_allclose(s.events[0].t, level, atol=1e-9)
    after = np.maximum(s.t - level, 0)
    np.testing.assert_allclose(
        s.q[:, 0], rate * after**3 / (6 * 0.4 * (1 + multiplier**2)), atol=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_friction_of_moving_joints_is_that_of_the_robot(seed):
    robot = Robot(random_model("RPR", seed, friction=True))
    qd = np.random.default_rng(seed).normal(size=3)
    np.testing.assert_allclose(
        DryFriction(robot.model)(0.0 * qd, qd, np.sign(qd)), robot.friction_torque(qd), rtol=1e-12
    )


def test_friction_can_be_left_out():
    s = moved(slider(coulomb=1.5, viscous=1.0), [0], [1.0], 1.0, friction=False)
    np.testing.assert_allclose(s.q[:, 0], s.t, atol=1e-12)
    assert not s.friction.any()


@pytest.mark.slow
def test_a_five_bar_keeps_the_laws_and_its_loop():
    robot = armdyn.load("five_bar")
    s = armdyn.simulate(robot, robot.start, np.zeros(2), 0.2)
    assert_laws(s)
    assert np.abs(residuals(robot.model, robot.all_joints(s.q))).max() < 1e-12


@pytest.mark.slow
def test_dry_friction_of_passive_joints_is_smooth_or_refused():
    robot = armdyn.load("four_bar")
    smooth = robot.with_joint("coupler_joint", coulomb=0.05, smooth_velocity=0.1)
    assert_laws(armdyn.simulate(smooth, smooth.start, np.array([1.0]), 0.05))
    q, qd = smooth.start, np.array([0.4])
    rate = smooth._at.at(q).rates(qd)[1]
    lost = smooth.friction_torque(qd, q) @ qd
    assert lost == pytest.approx(0.05 * np.tanh(rate / 0.1) * rate, rel=1e-12)
    dry = robot.with_joint("coupler_joint", coulomb=0.05)
    with pytest.raises(
        armdyn.errors.SimulationError, match="'coupler_joint' follows from a loop and has dry"
    ):
        armdyn.simulate(dry, dry.start, np.zeros(1), 0.1)
    arm = armdyn.load("palletizer").with_joint("coupler_joint", coulomb=3.0)
    with pytest.raises(
        armdyn.errors.SimulationError, match="would hold none of the actuated joints alone"
    ):
        armdyn.simulate(arm, arm.start, np.zeros(4), 0.1)
