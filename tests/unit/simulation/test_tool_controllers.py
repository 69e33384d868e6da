"""What controllers of the tool promise, and the motions that they follow."""

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import ModelError, SimulationError, SingularityError, TrajectoryError
from armdyn.kinematics.pose_search import pose_error
from armdyn.model.transform import rotation_about, transform
from armdyn.simulation import (
    CartesianImpedance,
    OperationalSpace,
    quintic,
    tool_circle,
    tool_line,
)
from armdyn.simulation.trajectories.tool import ToolMotion
from support.random_robots import random_model
from support.simulation_laws import moved

START = np.array([0.3, -0.4, 0.2])


@pytest.fixture(scope="module")
def robot():
    return Robot(random_model("RRP", 4, rotors=True))


@pytest.fixture(scope="module")
def rods():
    return armdyn.load("saha_3r")


@pytest.mark.slow
def test_errors_in_operational_space_obey_their_linear_equation(rods):
    """Underdamped along x and z, overdamped along y, while the tool follows a line."""
    q, kp, kd = np.array([0.3, 0.9, -0.8]), (100.0, 16.0, 64.0), (4.0, 20.0, 5.0)
    T = rods.forward_kinematics(q)
    line = tool_line(T, transform(T[:3, :3], T[:3, 3] + np.array([-0.2, 0.1, 0.1])), duration=0.6)
    law = OperationalSpace(rods, line, kp, kd)
    start = q + np.array([0.06, -0.05, 0.04])
    s = moved(rods, start, None, 0.8, controller=law, rtol=1e-11, atol=1e-12)
    error = line(s.t).pose[:, :3, 3] - rods.forward_kinematics(s.q)[:, :3, 3]
    for i in range(3):
        a, b = np.roots([1, kd[i], kp[i]]).astype(complex)
        expected = (a * np.exp(b * s.t) - b * np.exp(a * s.t)) / (a - b) * error[0, i]
        np.testing.assert_allclose(error[:, i], expected.real, atol=1e-9)


@pytest.mark.slow
def test_the_tool_accelerates_as_its_law_says():
    """J q̈ + J̇ q̇ = ẍ_d + K_d ė + K_p e in all six coordinates, whatever slows the joints."""
    arm = armdyn.load("panda")
    q, qd = np.random.default_rng(2).normal(size=(2, 7))
    goal = transform(rotation_about(np.eye(3)[0], 2.0), [0.3, -0.2, 0.1]) @ arm.forward_kinematics(
        q
    )
    target = ToolMotion(goal, *np.random.default_rng(3).normal(size=(2, 6)))
    kp, kd = np.arange(10.0, 16.0), np.arange(1.0, 7.0)
    law = OperationalSpace(arm, lambda t: target, kp, kd, joint_damping=np.arange(7.0))
    J, Jd = arm.jacobian(q), arm.jacobian_dot(q, qd)
    qdd = arm.forward_dynamics(q, qd, law(0.0, q, qd), friction=False, method="composite_body")
    error = pose_error(goal, arm.forward_kinematics(q))
    wanted = target.rate + kd * (target.twist - J @ qd) + kp * error
    np.testing.assert_allclose(J @ qdd + Jd @ qd, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_joints_that_the_tool_does_not_feel_are_slowed(robot):
    """A motion along which the tool stays loses energy to the damping of the joints."""
    q, task = START, ("x", "y")
    null = np.linalg.svd(robot.jacobian(q)[:2])[2][-1]
    torques = [
        OperationalSpace(robot, q, task=task, joint_damping=d)(0.0, q, null) for d in (0.0, 2.0)
    ]
    assert null @ (torques[1] - torques[0]) == pytest.approx(-2.0)


@pytest.mark.slow
def test_a_motion_of_joints_is_followed_by_the_tool(rods):
    start = np.array([0.3, 0.9, -0.8])
    move = quintic(start, start + 0.3, 0.5)
    s = moved(rods, start, None, 0.5, controller=OperationalSpace(rods, move), dt=0.05)
    np.testing.assert_allclose(s.q, move(s.t).q, atol=1e-7)


def coupled(seed):
    """A positive definite matrix that couples forces and turns."""
    A = np.random.default_rng(seed).normal(size=(6, 6))
    return A @ A.T * np.outer([9, 9, 9, 2, 2, 2], [9, 9, 9, 2, 2, 2]) / 6


@pytest.mark.slow
def test_the_spring_of_an_impedance_has_the_torques_of_its_energy(robot):
    """τ - g = -∂/∂q ½ eᵀ K e at rest, for any stiffness and however far the tool has turned."""
    goal = robot.forward_kinematics(START) @ transform(rotation_about(np.eye(3)[1], 1.3))
    law = CartesianImpedance(robot, goal, coupled(1), 0.0)
    q, h = START + 0.3, 1e-6 * np.eye(3)
    slope = (law.stored(0.0, q + h) - law.stored(0.0, q - h)) / 2e-6
    torque = law(0.0, q, np.zeros(3)) - robot.gravity_vector(q)
    np.testing.assert_allclose(torque, -slope, rtol=1e-6, atol=1e-6)


def test_energy_under_an_impedance_falls_by_what_dampers_take(rods):
    place = rods.forward_kinematics([0.3, 0.9, -0.8])
    law = CartesianImpedance(rods, place, coupled(2), 0.1 * coupled(3), joint_damping=0.2)
    s = moved(rods, [0.7, 0.6, -0.6], [1.0, -2.0, 1.5], 0.6, controller=law, dt=1e-3)
    energy = s.kinetic + law.stored(0.0, s.q)
    twist = np.einsum("tij,tj->ti", rods.jacobian(s.q), s.qd)
    taken = np.einsum("ti,ij,tj->t", twist, law.damping, twist) + 0.2 * (s.qd**2).sum(-1)
    assert (np.diff(energy) <= 1e-9).all()
    fallen = np.concatenate([[0], np.cumsum(taken[1:] + taken[:-1]) * 0.5e-3])
    np.testing.assert_allclose(energy[0] - energy, fallen, atol=2e-4 * energy[0])


@pytest.mark.slow
def test_controllers_of_the_tool_take_batches_of_states(robot):
    q, qd = np.random.default_rng(3).normal(size=(2, 4, 3))
    T = robot.forward_kinematics(START)
    line = tool_line(T, transform(T[:3, :3], T[:3, 3] + 0.1), duration=1.0)
    for law in (
        OperationalSpace(robot, line, joint_damping=1.0, singular_damping=0.1),
        CartesianImpedance(robot, line),
        CartesianImpedance(robot, START),
    ):
        together = law(0.4, q, qd)
        alone = np.stack([law(0.4, *state) for state in zip(q, qd, strict=True)])
        np.testing.assert_allclose(together, alone, atol=1e-9)


# motions of the tool

LIFT = transform(rotation_about(np.array([0.6, 0.0, 0.8]), 0.4), [0.5, 0.2, 0.3])
TO = transform(rotation_about(np.eye(3)[0], 1.1), [0.1, 0.6, 0.4])
MOTIONS = {
    "line": tool_line(LIFT, TO, duration=1.2),
    "circle": tool_circle(LIFT, [0.4, 0.1, 0.3], [0, 1, 2], 1.7, duration=1.2),
    "turning": tool_circle(LIFT, [0.4, 0.1, 0.3], [0, 1, 2], -5.0, turns=True, speed=0.7),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_twists_and_their_rates_are_derivatives(name):
    motion = MOTIONS[name]
    t, h = np.linspace(0.1, 0.9, 9) * motion.duration, 1e-4
    at, before, after = motion(t), motion(t - h), motion(t + h)
    np.testing.assert_allclose(pose_error(after.pose, before.pose) / 2 / h, at.twist, atol=1e-6)
    np.testing.assert_allclose((after.twist - before.twist) / 2 / h, at.rate, atol=1e-5)
    for end in (motion(-1.0), motion(motion.duration + 1.0)):
        assert not end.twist.any()
        assert not end.rate.any()
    np.testing.assert_allclose(motion(0.0).pose, LIFT, atol=1e-15)


def test_a_line_ends_at_its_end_and_a_circle_keeps_its_distance():
    np.testing.assert_allclose(MOTIONS["line"](1.2).pose, TO, atol=1e-14)
    centre, t = np.array([0.4, 0.1, 0.3]), np.linspace(0, 9, 50)
    for name in ("circle", "turning"):
        arm = MOTIONS[name](t).pose[:, :3, 3] - centre
        np.testing.assert_allclose(np.linalg.norm(arm, axis=-1), np.linalg.norm(arm[0]))
        np.testing.assert_allclose(arm @ [0, 1, 2], arm[0] @ [0, 1, 2], atol=1e-14)
    whole = tool_circle(LIFT, centre, [0, 0, 1], acceleration=2.0)
    np.testing.assert_allclose(whole(whole.duration).pose, LIFT, atol=1e-14)


def test_limits_of_the_tool_are_those_along_its_way_and_one_is_reached():
    """Of a turn on the spot they are those of the turning."""
    turn = LIFT @ transform(rotation_about(np.eye(3)[1], 0.9))
    arc = [0.4, 0.1, 0.3], [0, 1, 2], 1.7
    for make, rows in (
        (lambda **limits: tool_line(LIFT, TO, **limits), slice(3)),
        (lambda **limits: tool_circle(LIFT, *arc, **limits), slice(3)),
        (lambda **limits: tool_line(LIFT, turn, **limits), slice(3, 6)),
    ):
        for limits in ({"speed": 0.3}, {"acceleration": 0.4}, {"speed": 0.3, "acceleration": 0.4}):
            motion = make(**limits)
            at = motion(np.linspace(0, motion.duration, 4001)[1:-1])
            twist, rate = at.twist[:, rows], at.rate[:, rows]
            speed = np.linalg.norm(twist, axis=-1)
            slope = (rate * twist).sum(-1) / speed  # of the speed: what is across turns it alone
            reached = {"speed": speed.max(), "acceleration": np.abs(slope).max()}
            shares = [reached[name] / limit for name, limit in limits.items()]
            assert max(shares) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda r: OperationalSpace(r, START, kp=[1, 2]), SimulationError, "kp: expected a number"),
        (lambda r: OperationalSpace(r, "there"), SimulationError, "expected a 4x4 transform of"),
        (lambda r: OperationalSpace(r, lambda t: 7), SimulationError, "expected a 4x4 transform"),
        (
            lambda r: OperationalSpace(r, quintic([0, 0], [1, 1], 1.0)),
            SimulationError,
            "moves 2 joints",
        ),
        (
            lambda r: OperationalSpace(r, START, task=("x", "y", "z", "rx")),
            SingularityError,
            "3 joints cannot move the 4",
        ),
        (
            lambda r: OperationalSpace(r, START, singular_damping=-1),
            SimulationError,
            "from 0 on",
        ),
        (
            lambda r: CartesianImpedance(r, START, np.arange(36.0).reshape(6, 6)),
            SimulationError,
            "stiffness: expected a symmetric",
        ),
        (
            lambda r: CartesianImpedance(r, START, damping=-np.eye(6)),
            SimulationError,
            "damping: expected a matrix without negative",
        ),
        (lambda r: tool_line(LIFT, LIFT, duration=1.0), TrajectoryError, "already there"),
        (lambda r: tool_line(LIFT, TO), TrajectoryError, "give either the duration"),
        (lambda r: tool_line(LIFT, np.ones((4, 4)), duration=1.0), ModelError, "end: "),
        (
            lambda r: tool_circle(LIFT, [0, 0, 0], [0, 0, 0], duration=1),
            TrajectoryError,
            "axis: expected a direction",
        ),
        (
            lambda r: tool_circle(LIFT, LIFT[:3, 3], [0, 0, 1], duration=1),
            TrajectoryError,
            "already there",
        ),
    ],
)
def test_what_cannot_be_is_said(robot, make, error, message):
    with pytest.raises(error, match=message):
        make(robot)
