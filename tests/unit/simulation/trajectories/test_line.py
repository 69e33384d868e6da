import functools
import re

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import ModelError, ShapeError, SingularityError, TrajectoryError
from armdyn.model.transform import rotation_about, rotation_vector
from armdyn.simulation.trajectories import cartesian_line
from armdyn.simulation.trajectories.piecewise import hermite
from armdyn.simulation.trajectories.tool import SINGULAR, _Follower, damped_inverse, straight
from support.arms import ARMS
from support.random_robots import random_axis, random_model
from support.trajectory_laws import assert_derivatives, assert_rests_outside, assert_vectorised

pytestmark = pytest.mark.slow

STARTS = {
    "panda": [0.1, -0.3, 0.2, -2.0, 0.1, 1.8, 0.5],
    "ur5e": [0.2, -1.2, 1.5, -1.9, -1.5, 0.3],
    "scara": [0.3, 0.9, -0.1, 0.2],
    "two_link": [0.3, 0.9],
}
WAYS = {
    "panda": [0.2, 0.15, -0.1],
    "ur5e": [0.1, 0.2, -0.1],
    "scara": [-0.1, 0.1, 0.05],
    "two_link": [-0.3, 0.2, 0.0],
}
TILT = rotation_about(np.array([0.48, 0.6, 0.64]), 0.7)

CASES = [
    ("panda", "keep"),
    ("panda", "free"),
    ("panda", "tilt"),
    ("ur5e", "keep"),
    ("ur5e", "tilt"),
    ("scara", "keep"),
    ("two_link", "free"),
]


@functools.cache
def example(name, turn):
    """A robot, its tool at the start, the way, and the line."""
    robot, way = armdyn.load(name), np.array(WAYS[name])
    pose = robot.forward_kinematics(STARTS[name])
    orientation = TILT @ pose[:3, :3] if turn == "tilt" else turn
    line = cartesian_line(robot, STARTS[name], pose[:3, 3] + way, orientation, duration=1.6)
    return robot, pose, way, line


def tool_rates(robot, motion):
    """Velocity and acceleration of the tool, (m, 6) each."""
    J, Jd = robot.jacobian(motion.q), robot.jacobian_dot(motion.q, motion.qd)
    V = np.einsum("mij,mj->mi", J, motion.qd)
    return V, np.einsum("mij,mj->mi", J, motion.qdd) + np.einsum("mij,mj->mi", Jd, motion.qd)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "turn"), CASES)
def test_it_is_a_motion_from_rest_to_rest(name, turn):
    line = example(name, turn)[3]
    np.testing.assert_array_equal(line(0).q, STARTS[name])
    for t in (0.0, line.duration):
        assert not line(t).qd.any()
        assert not line(t).qdd.any()
    assert_derivatives(line, np.linspace(0, 1.6, 41), 1e-7, 0.04)
    assert_rests_outside(line)
    assert_vectorised(line)


@pytest.mark.parametrize(("name", "turn"), CASES)
def test_the_tool_moves_in_a_straight_line_by_the_law_of_time(name, turn):
    robot, pose, way, line = example(name, turn)
    t = np.linspace(0, 1.6, 777)
    u = t / 1.6
    s = u**3 * (10 - 15 * u + 6 * u**2)
    sd = 30 * u**2 * (1 - u) ** 2 / 1.6
    sdd = 60 * u * (1 - u) * (1 - 2 * u) / 1.6**2
    motion = line(t)
    position = robot.forward_kinematics(motion.q)[:, :3, 3]
    np.testing.assert_allclose(position, pose[:3, 3] + s[:, None] * way, atol=1e-10)
    V, A = tool_rates(robot, motion)
    np.testing.assert_allclose(V[:, :3], sd[:, None] * way, atol=1e-9)
    np.testing.assert_allclose(A[:, :3], sdd[:, None] * way, atol=1e-6)


@pytest.mark.parametrize(("name", "turn"), [case for case in CASES if case[1] != "free"])
def test_the_tool_turns_about_one_axis_in_proportion_to_the_way(name, turn):
    robot, pose, _, line = example(name, turn)
    t = np.linspace(0, 1.6, 55)
    s = line.law(t).q[:, 0]
    axis, angle = np.array([0.48, 0.6, 0.64]), 0.7 if turn == "tilt" else 0.0
    wanted = rotation_about(axis, angle * s) @ pose[:3, :3]
    motion = line(t)
    np.testing.assert_allclose(robot.forward_kinematics(motion.q)[:, :3, :3], wanted, atol=1e-10)
    rate = angle * line.law(t).qd * axis
    np.testing.assert_allclose(tool_rates(robot, motion)[0][:, 3:], rate, atol=1e-9)


@pytest.mark.parametrize("turn", ["keep", "free"])
def test_a_redundant_arm_moves_its_joints_the_least(turn):
    robot, _, way, line = example("panda", turn)
    t = np.linspace(0.01, 1.59, 60)
    motion, (_, sd, _) = line(t), line.law(t)
    J = robot.jacobian(motion.q)[:, : 3 if turn == "free" else 6]
    twist = sd * np.concatenate([way, np.zeros(3)])[: J.shape[1]]
    least = np.stack([np.linalg.lstsq(j, v)[0] for j, v in zip(J, twist, strict=True)])
    np.testing.assert_allclose(motion.qd, least, atol=1e-8)


def test_limits_of_the_tool_are_kept_and_touched():
    robot, pose, way, _ = example("scara", "keep")
    target = pose[:3, 3] + way
    for limits, row in (({"speed": 0.2}, 1), ({"acceleration": 0.3}, 2)):
        line = cartesian_line(robot, STARTS["scara"], target, **limits)
        peak = np.abs(line.law(np.linspace(0, line.duration, 20001))[row]).max()
        assert peak * np.linalg.norm(way) == pytest.approx(*limits.values(), rel=1e-7)


def test_a_turn_on_the_spot_leaves_the_tool_where_it_is():
    robot, pose, _, _ = example("ur5e", "keep")
    line = cartesian_line(
        robot, STARTS["ur5e"], pose[:3, 3], TILT @ pose[:3, :3], speed=0.5, acceleration=1e3
    )
    assert line.duration == pytest.approx(15 / 8 * 0.7 / 0.5)
    poses = robot.forward_kinematics(line(np.linspace(0, line.duration, 99)).q)
    np.testing.assert_allclose(poses[:, :3, 3], np.tile(pose[:3, 3], (99, 1)), atol=1e-10)
    np.testing.assert_allclose(poses[-1, :3, :3], TILT @ pose[:3, :3], atol=1e-10)


def test_a_singular_arm_follows_where_the_lost_direction_is_not_needed():
    robot = armdyn.load("ur5e")
    q0 = np.array([0.2, -1.2, 1.5, -1.9, 0.0, 0.3])
    assert np.linalg.svd(robot.jacobian(q0), compute_uv=False)[-1] < 1e-12
    start = robot.forward_kinematics(q0)[:3, 3]
    line = cartesian_line(robot, q0, start - [0, 0, 0.2], duration=1)
    end = robot.forward_kinematics(line(1.0).q)[:3, 3]
    np.testing.assert_allclose(end, start - [0, 0, 0.2], atol=1e-10)


def test_arms_of_any_shape_follow():
    robot = Robot(random_model("RPRRRR", 5))
    q0 = np.array([0.3, -0.2, 0.5, -0.4, 0.6, 0.1])
    pose = robot.forward_kinematics(q0)
    line = cartesian_line(robot, q0, pose[:3, 3] + [0.05, -0.04, 0.03], duration=1)
    middle = robot.forward_kinematics(line(0.5).q)
    np.testing.assert_allclose(middle[:3, 3], pose[:3, 3] + [0.025, -0.02, 0.015], atol=1e-10)
    np.testing.assert_allclose(middle[:3, :3], pose[:3, :3], atol=1e-10)


def test_a_target_out_of_reach_names_how_far_the_arm_comes():
    robot = armdyn.load("two_link")
    q0 = np.array([0.0, np.pi / 2])
    start = robot.forward_kinematics(q0)[:3, 3]
    reach = np.linalg.norm(robot.forward_kinematics([0.0, 0.0])[:3, 3])
    # along x from (l, l) the arm is stretched at x = √3 l, reached after (√3 - 1) l
    length = reach / 2
    with pytest.raises(SingularityError, match=r"beyond 36.6 % of it: the smallest singular") as e:
        cartesian_line(robot, q0, start + 2 * length * np.eye(3)[0], "free", duration=1)
    assert "stretched out or otherwise singular" in str(e.value)


def test_a_direction_that_the_joints_do_not_have_is_named():
    robot, pose, way, _ = example("two_link", "free")
    with pytest.raises(SingularityError, match='2 joints cannot .* pass orientation="free"'):
        cartesian_line(robot, STARTS["two_link"], pose[:3, 3] + way, duration=1)
    with pytest.raises(SingularityError, match="beyond 0 % .* choose another target"):
        cartesian_line(robot, STARTS["two_link"], pose[:3, 3] + [0, 0, 0.1], "free", duration=1)
    stretched = [0.3, 0.0]
    tip = robot.forward_kinematics(stretched)[:3, 3]
    with pytest.raises(SingularityError, match="beyond 0 % .* otherwise singular"):
        cartesian_line(robot, stretched, 0.9 * tip, "free", duration=1)
    # of the singular values the least is told that is not zero wherever the arm is: here the second
    for q in (STARTS["two_link"], [0.3, 0.4]):
        first, second = np.linalg.svd(robot.jacobian(q), compute_uv=False)[:2]
        start = robot.forward_kinematics(q)[:3, 3]
        told = f"is {second:.3g} there, the largest {first:.3g}. Its 2 joints"
        with pytest.raises(SingularityError, match=re.escape(told)):
            cartesian_line(robot, q, start + way, duration=1)


def test_joint_limits_are_kept():
    robot, pose, _, _ = example("scara", "keep")
    with pytest.raises(TrajectoryError, match=r"outside its limits \[-0.2, 0.12\]"):
        cartesian_line(robot, STARTS["scara"], pose[:3, 3] + [0, 0, -0.5], duration=1)
    with pytest.raises(TrajectoryError, match="would go to 0.5"):
        cartesian_line(robot, [0.3, 0.9, 0.5, 0.2], pose[:3, 3], duration=1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"duration": None}, TrajectoryError, "give either the duration of a line"),
        ({"speed": 1.0}, TrajectoryError, "give either the duration of a line"),
        ({"duration": None, "speed": -1.0}, TrajectoryError, "speed: expected a positive"),
        ({"duration": -1.0}, TrajectoryError, "duration: expected a positive"),
        ({"tolerance": 0}, TrajectoryError, "tolerance: expected a positive"),
        ({"q0": [0, 0]}, ShapeError, r"q0: expected shape \(..., 6\)"),
        ({"position": [0, 0]}, ModelError, r"position: expected numbers of shape \(3,\)"),
        ({"position": [0, np.nan, 0]}, ModelError, "position: expected finite"),
        ({"orientation": "fixed"}, TrajectoryError, "or \"free\", got 'fixed'"),
        ({"orientation": np.ones((3, 3))}, ModelError, "is not a rotation"),
        ({"orientation": [1, 0, 0]}, ModelError, "orientation: expected numbers of shape"),
    ],
)
def test_what_cannot_be_is_said(change, error, message):
    given = {"q0": STARTS["ur5e"], "position": [0.3, 0.2, 0.3], "duration": 1.0}
    with pytest.raises(error, match=message):
        cartesian_line(armdyn.load("ur5e"), **given | change)


def test_the_tool_that_is_already_there_has_no_line():
    robot, pose, _, _ = example("ur5e", "keep")
    with pytest.raises(TrajectoryError, match="already there"):
        cartesian_line(robot, STARTS["ur5e"], pose[:3, 3], duration=1)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-5, 1.0, 1.99, 2.01, 3.0, np.pi - 1e-9, np.pi])
def test_rotations_are_vectors(angle):
    rng = np.random.default_rng(8)
    for axis in (*np.eye(3), *(random_axis(rng) for _ in range(20))):
        found = rotation_vector(rotation_about(axis, angle))
        if angle == np.pi and found @ axis < 0:
            found = -found
        np.testing.assert_allclose(found, angle * axis, rtol=0, atol=1e-14)


# the steps of the integration


@pytest.fixture(scope="module")
def follower():
    """Seven joints whose tool goes along a line and turns on the way."""
    robot = ARMS["seven_axes"].robot
    poses = np.random.default_rng(0).uniform(-1.5, 1.5, (50, robot.n))
    q = max(poses, key=lambda pose: np.linalg.svd(robot.jacobian(pose))[1][-1])
    line = straight(
        robot.forward_kinematics(q), np.array([0.2, -0.1, 0.3]), np.array([0.1, 0.4, -0.2])
    )
    return _Follower(robot, line, 6), q


def test_the_bend_of_a_path_is_how_its_slope_changes_along_it(follower):
    """Also in the null space of a redundant arm, where J⁺ turns."""
    arm, q = follower
    slope, bend = arm.rates(q)
    J = arm.robot.jacobian(q)
    np.testing.assert_allclose(slope, np.linalg.pinv(J) @ arm.twist, atol=1e-9)
    h = 1e-5
    ahead, behind = (arm.slopes(q + step * slope) for step in (h, -h))
    np.testing.assert_allclose(bend, (ahead - behind) / (2 * h), atol=1e-6)
    several = np.stack([q, q + 0.1])
    for together, alone in zip(
        arm.rates(several), zip(*map(arm.rates, several), strict=True), strict=True
    ):
        np.testing.assert_allclose(together, alone, atol=1e-12)
    assert arm.lost(q) < 1e-12


def test_a_path_deviates_by_its_largest_error_in_units_of_the_tolerances(follower):
    arm, q = follower
    s = np.linspace(0, 1, 3)
    slope, bend = (np.repeat(x[None], 3, 0) for x in arm.rates(q))
    size = 1 + np.abs(slope[0]).max()
    whole = size + np.abs(bend[0]).max()
    at, unit = np.repeat(q[None], 3, 0), np.eye(arm.robot.n)[2]
    for wrong, expected in (
        ((0.0, 0.0), 0.0),
        ((3e-3, 0.0), 3e-3 / size / 1e2),
        ((0.0, 0.2), 0.2 / whole / 1e4),
        ((3e-4, -9.0), 9.0 / whole / 1e4),
    ):
        path = hermite(s, at, slope + wrong[0] * unit, bend + wrong[1] * unit)
        assert arm.deviation(path, s[:1])[0] == pytest.approx(expected, rel=1e-6, abs=1e-12)
    moved = arm.robot.jacobian(q) @ unit
    path = hermite(s, at + 1e-6 * unit, slope, bend)
    assert arm.deviation(path, s[:1])[0] == pytest.approx(1e-6 * np.abs(moved).max(), rel=0.1)


def test_an_inverse_is_damped_below_a_share_of_the_largest_singular_value():
    rng = np.random.default_rng(2)
    U, V = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (3, 5))
    s = np.array([2.0, 2.0 * 1.1 * SINGULAR, 2.0 * 0.4 * SINGULAR])
    edge = 2.0 * SINGULAR
    found = damped_inverse(np.stack([(U * s) @ V[:, :3].T, np.zeros((3, 5))]))
    expected = (V[:, :3] * [1 / s[0], 1 / s[1], s[2] / edge**2]) @ U.T
    np.testing.assert_allclose(found[0], expected, atol=1e-9 / SINGULAR)
    assert not found[1].any()
