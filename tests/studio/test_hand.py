"""Pulling, editing and the worst case, without a browser."""

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.errors import ModelError
from armdyn.formulations.ledger import Ledger
from armdyn.studio.arm import Evaluator, State, numeric_value, pose
from armdyn.studio.panels.edit import edited, numbers, parts, tree_html
from armdyn.studio.panels.move import coordinate, follow, turned
from armdyn.studio.panels.study import worst_html

HOSTILE = "<img src=x onerror='alert(1)'>\"&"


def ledger(model, state):
    """The torques of a robot that is not compiled."""
    return Ledger(*numeric_value(model, "ledger", state, *state.motion))


@pytest.mark.parametrize("name", ["puma560", "scara", "two_link", "palletizer"])
def test_the_tool_follows_a_handle_that_is_within_reach(name):
    robot = armdyn.load(name)
    q = pose(robot)
    low, high = robot.model.ranges.T
    there = np.clip(q + 0.15, low, high)
    T = robot.forward_kinematics(there)
    found, reached = follow(robot, T, q)
    assert reached
    columns = slice(None) if robot.n >= 6 else 3
    at = robot.forward_kinematics(found)
    np.testing.assert_allclose(at[:3, columns], T[:3, columns], atol=1e-4)
    assert ((low <= found) & (found <= high)).all()


def test_a_handle_out_of_reach_stretches_the_arm_towards_it():
    robot = armdyn.load("two_link")
    T = np.eye(4)
    T[:3, 3] = [5.0, 0.0, 0.0]
    found, reached = follow(robot, T, np.array([0.5, 0.5]))
    assert not reached
    missing = np.linalg.norm(robot.forward_kinematics(found)[:3, 3] - T[:3, 3])
    assert 3.4 - 1e-9 <= missing <= 3.4 + 1e-3


@pytest.mark.parametrize("name", ["puma560", "scara"])
def test_a_link_that_is_dragged_goes_where_it_is_pulled_by_its_joint_alone(name):
    robot = armdyn.load(name)
    q, model = pose(robot), robot.model
    evaluate = Evaluator(robot)
    shot = evaluate(State.rest(q))
    for link in range(len(model.links)):
        k = coordinate(model, link)
        T = shot.links[link]
        axis = T[:3, :3] @ model.joints[link].axis
        grabbed = T[:3, 3] + 0.2 * np.cross(axis, [0.6, 0.5, 0.4]) + 0.05 * axis
        small = 1e-3 * np.eye(robot.n)[k]
        after = evaluate(State.rest(q + small)).links[link]
        wanted = (after @ np.linalg.inv(T) @ [*grabbed, 1.0])[:3]
        moved = turned(model, link, T, grabbed, wanted, q)
        np.testing.assert_allclose(moved, q + small, atol=1e-5)
    assert coordinate(model, -1) is None


@pytest.fixture(scope="module")
def puma():
    return armdyn.load("puma560")


def test_writing_the_numbers_back_changes_nothing(puma):
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 6))
    wanted = puma.inverse_dynamics(q, qd, qdd)
    for part in parts(puma.model):
        same = edited(puma.model, part, numbers(puma.model, part))
        found = ledger(same, State(q, qd, qdd)).total
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        for a, b in zip(same.joints, puma.model.joints, strict=True):
            np.testing.assert_array_equal(a.range, b.range)
            assert a.limits.effort == b.limits.effort


def test_edited_numbers_are_those_of_with_link_and_with_joint(puma):
    part = parts(puma.model)[2]
    now = numbers(puma.model, part)
    new = now | dict(
        mass="9.0", com="0.1, 0.2 0.3", friction="viscous = 0.7,\ncoulomb = 0.4",
        rotor_inertia="3e-4", gear_ratio="55", limits="-1 none", velocity_limit="2.5", effort_limit="77",
    )  # fmt: skip
    made = edited(puma.model, part, new)
    wanted = puma.with_link(part.name, mass=9.0, com=[0.1, 0.2, 0.3], physical="ignore")
    keys = {"viscous": 0.7, "rotor_inertia": 3e-4, "gear_ratio": 55.0}
    joint = puma.model.joints[2].name
    wanted = wanted.with_joint(joint, **keys, coulomb=0.4)
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 6))
    found = ledger(made, State(q, qd, qdd, 1.5)).total
    held = wanted.with_payload(1.5, physical="ignore")
    np.testing.assert_allclose(found, held.inverse_dynamics(q, qd, qdd), atol=1e-9)
    assert made.joints[2].limits.lower == -1
    assert np.isinf(made.joints[2].limits.upper)
    assert made.joints[2].limits.effort == 77
    assert tree_html(made, puma.model).count("edited") == 1


def test_a_shape_gives_mass_centre_and_tensor(puma):
    part = parts(puma.model)[1]
    text = 'type = "box", size = [0.1, 0.2, 0.3], mass = 6.0, position = [0.1, 0, 0]'
    made = edited(puma.model, part, numbers(puma.model, part) | {"shape": text})
    body = armdyn.Inertia.box((0.1, 0.2, 0.3), mass=6.0)
    found = numbers(made, part)
    assert found["mass"] == "6"
    np.testing.assert_allclose([*map(float, found["com"].split())], [0.1, 0, 0])
    moments = [*map(float, found["moments"].split())]
    np.testing.assert_allclose(moments, np.diag(body.moment_about_com))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"friction": "viscous 3"}, "friction of joint2: expected keys and values"),
        ({"friction": "glue = 1.0"}, "friction of joint2: 'glue' is none of"),
        ({"limits": "1"}, "position limits of joint2: expected two numbers, or 'none'"),
        ({"velocity_limit": "fast"}, "velocity limit of joint2: expected a number, or 'none'"),
        ({"gear_ratio": "0"}, "joint 'joint2'"),
        ({"mass": ""}, "mass of link2: expected a number, got ''"),
        ({"mass": "1e"}, "mass of link2: expected a number, got '1e'"),
        ({"mass": "inf"}, "mass of link2: expected a number, got 'inf'"),
        ({"com": "1 2"}, "centre of mass of link2: expected three numbers, got '1 2'"),
        ({"moments": "1 2 nan"}, "Ixx Iyy Izz of link2: expected three numbers, got '1 2 nan'"),
        ({"shape": 'type = "cloud"'}, "cloud"),
        ({"shape": "x" * 500}, "at most 400 characters"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(puma, change, message):
    part = parts(puma.model)[1]
    with pytest.raises(ModelError, match=re.escape(message)):
        edited(puma.model, part, numbers(puma.model, part) | change)


def test_the_worst_case_shows_each_motor_and_escapes_names():
    limits = {"effort": {"joint1": 15.0}}
    found = armdyn.worst_case(armdyn.load("two_link").with_limits(**limits), speed=0.0)
    html = worst_html(found)
    shown = re.findall(r"data-torque='([^']+)' data-margin='([^']+)'", html)
    assert [float(t) for t, _ in shown] == [demand.torque for demand in found.demands]
    assert float(shown[0][1]) < 0
    assert "data:image/png" in html
    hostile = replace(found, demands=tuple(replace(d, joint=HOSTILE) for d in found.demands))
    hostile = replace(hostile, map=replace(found.map, names=(HOSTILE, HOSTILE)))
    assert HOSTILE[:14] not in worst_html(hostile)
