"""The worst case of each motor: reached, the largest, and known where a book can know it."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError


@pytest.fixture(scope="module")
def robot():
    limits = {"velocity": {"joint2": 2.0}, "effort": {"joint2": 40.0}}
    return armdyn.load("saha_3r").with_limits(**limits)


@pytest.fixture(scope="module")
def found(robot):
    return armdyn.worst_case(robot, lift=1.5, acceleration=[2.0, 3.0, 4.0])


def test_at_rest_the_worst_pose_is_stretched_and_level():
    length, g, held = 0.8, 9.8062, 0.7
    case = armdyn.worst_case(armdyn.load("two_link"), lift=held, speed=0.0)
    first = g * length * (2.0 / 2 + 1.0 * 1.5 + 2 * held)
    second = g * length * (1.0 / 2 + held)
    assert [abs(d.torque) for d in case.demands] == pytest.approx([first, second], rel=1e-5)
    q = case.demands[0].q
    assert abs(np.cos(q[0])) == pytest.approx(1, abs=1e-4)
    assert abs(np.cos(q[0] + q[1])) == pytest.approx(1, abs=1e-4)
    assert not np.any([d.qd for d in case.demands])


def test_each_demand_is_the_torque_of_its_state_and_within_the_limits(robot, found):
    for i, demand in enumerate(found.demands):
        loaded = robot.with_payload(demand.payload) if demand.payload else robot
        tau = loaded.inverse_dynamics(demand.q, demand.qd, demand.qdd)
        assert tau[i] == pytest.approx(demand.torque, rel=1e-12)
        assert 0 <= demand.payload == demand.lift <= 1.5
        low, high = robot.model.ranges.T
        assert (low - 1e-12 <= demand.q).all()
        assert (demand.q <= high + 1e-12).all()
        assert abs(demand.qd[1]) <= 2.0 + 1e-12
        assert (np.abs(demand.qdd) <= np.array([2, 3, 4]) + 1e-12).all()


@pytest.mark.parametrize(("kind", "fastest"), [("revolute", 2.0), ("prismatic", 0.5)])
def test_without_a_limit_joints_are_asked_to_move_at_ordinary_speeds(kind, fastest):
    """Viscous friction alone asks for its coefficient times the speed."""
    row = {"joint": kind, "mass": 1.0, "viscous": 3.0}
    for limits, share in (({}, 1.0), ({}, 0.4), ({"velocity_limit": 0.3}, 0.5)):
        robot = armdyn.from_dh([row | limits], gravity=(0, 0, 0), name="damped")
        case = armdyn.worst_case(robot, speed=share)
        most = 3.0 * share * limits.get("velocity_limit", fastest)
        assert abs(case.demands[0].torque) == pytest.approx(most, rel=1e-9)


def test_no_random_state_is_worse(robot, found):
    rng, m = np.random.default_rng(11), 20_000
    low, high = robot.model.ranges.T
    free = robot.model.joints[0].type.speed
    q = rng.uniform(low, high, (m, 3))
    qd, qdd = rng.uniform(-1, 1, (2, m, 3)) * [[[free, 2.0, free]], [[2.0, 3.0, 4.0]]]
    for loaded in (robot, robot.with_payload(1.5)):
        most = np.abs(loaded.inverse_dynamics(q, qd, qdd)).max(axis=0)
        assert (most <= [abs(d.torque) * (1 + 1e-9) for d in found.demands]).all()


def test_margin_and_payload_say_when_the_motor_breaks(robot, found):
    _, second, third = found.demands
    assert second.use == pytest.approx(abs(second.torque) / 40)
    assert second.margin == pytest.approx(100 * (1 - second.use))
    assert second.breaks
    assert found.broken == (second,)
    assert found.worst is second
    loaded = robot.with_payload(second.breaking_payload)
    tau = loaded.inverse_dynamics(second.q, second.qd, second.qdd)
    assert abs(tau[1]) == pytest.approx(40)
    assert np.isnan(third.margin)
    assert np.isinf(third.breaking_payload)
    assert "not known" in str(third)


@pytest.mark.slow
def test_what_is_held_is_held_throughout_and_a_lift_comes_on_top(robot, found):
    """Holding 1 kg and lifting 0.5 is at worst holding 1.5, and never holding less than 1."""
    both = armdyn.worst_case(robot, payload=1.0, lift=0.5, acceleration=[2.0, 3.0, 4.0])
    same = armdyn.worst_case(robot.with_payload(1.0), lift=0.5, acceleration=[2.0, 3.0, 4.0])
    assert both.report() == same.report()
    assert (both.payload, both.lift) == (1.0, 0.5)
    assert "1 kg held, up to 0.5 kg lifted" in both.report()
    assert {demand.payload for demand in both.demands} <= {1.0, 1.5}
    heaviest = found.demands[1]
    assert both.demands[1].torque == pytest.approx(heaviest.torque, rel=1e-6)
    assert both.demands[1].breaking_payload >= 1.0
    with pytest.raises(ModelError, match=r"holds a payload of 1 kg already"):
        armdyn.worst_case(robot.with_payload(1.0), payload=0.5)


def test_the_map_has_units(found):
    assert found.map.names == ("joint2 [rad]", "joint3 [rad]")


def test_the_map_reaches_the_worst_case_and_is_evaluated(robot, found):
    heat = found.map
    assert heat.use.shape == (len(heat.y), len(heat.x))
    assert heat.use.max() <= found.worst.use * (1 + 1e-9)
    assert heat.use.max() > 0.97 * found.worst.use
    row, column = np.unravel_index(heat.use.argmax(), heat.use.shape)
    assert heat.motor[row, column] == 1


@pytest.mark.slow
def test_it_is_told_drawn_and_the_same_again(robot, found, tmp_path):
    again = armdyn.worst_case(robot, lift=1.5, acceleration=[2.0, 3.0, 4.0])
    assert again.report() == found.report()
    assert json.loads(found.json())["worst"] == "joint2"
    assert "% missing" in found.report()
    found.plot(tmp_path / "worst.svg")
    assert b"<svg" in (tmp_path / "worst.svg").read_bytes()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"payload": -1.0}, ModelError, "payload: expected a mass of 0 or more"),
        ({"lift": -1.0}, ModelError, "lift: expected a mass of 0 or more"),
        ({"speed": 1.5}, ModelError, "speed: expected a share from 0 to 1"),
        ({"acceleration": [1.0, 2.0]}, ModelError, "or 3 of them, one for each joint"),
        ({"acceleration": "fast"}, ModelError, "acceleration: expected a number that is not"),
        ({"acceleration": -1.0}, ModelError, "expected a number that is not negative"),
    ],
)
def test_what_makes_no_sense_is_refused(robot, options, error, message):
    with pytest.raises(error, match=message):
        armdyn.worst_case(robot, **options)


def test_a_robot_with_loops_is_refused():
    with pytest.raises(ModelError, match="has loops"):
        armdyn.worst_case(armdyn.load("five_bar"))


@pytest.mark.slow
def test_the_command_prints_draws_and_refuses(command, tmp_path):
    picture = tmp_path / "worst.svg"
    words = ("worst", "two_link", "--lift", "0.7", "--speed", "0")
    code, out, err = command(*words, "--json", "--plot", picture)
    assert (code, err) == (0, "")
    wanted = armdyn.worst_case(armdyn.load("two_link"), lift=0.7, speed=0.0)
    assert json.loads(out)["joints"] == json.loads(wanted.json())["joints"]
    assert b"<svg" in picture.read_bytes()
    code, out, _ = command(*words, "--acceleration", "1,2")
    assert code == 0
    assert "two-link arm: the worst case of each motor" in out
    for more, message in (
        (
            ("--acceleration", "1,2,3"),
            "acceleration: expected a number that is not negative, or 2 of them",
        ),
        (("--lift", "-1"), "lift: expected a mass of 0 or more [kg], got -1"),
        (("--speed", "2"), "speed: expected a share from 0 to 1, got 2.0"),
    ):
        code, out, err = command("worst", "two_link", *more)
        assert (code, out) == (2, "")
        assert message in err
