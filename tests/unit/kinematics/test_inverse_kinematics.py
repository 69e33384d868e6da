"""Joints for poses: the tool is there, within limits, and what cannot be is said."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, ModelError, ShapeError, UnknownNameError, UnreachableError
from armdyn.kinematics.pose_search import PoseSearch
from armdyn.model.transform import rotation_about, rotation_from_vector, transform
from support.paths import ROBOTS
from support.random_robots import random_axis

REACHED = {
    "puma560": None,
    "panda": None,
    "ur5e": None,
    "stanford": None,
    "scara": ("x", "y", "z", "rz"),
    "saha_3r": ("x", "y", "z"),
    "two_link": ("x", "y"),
}
"""Robots, and the coordinates of the tool that their joints can move."""


def states(robot, seed, *batch):
    return np.random.default_rng(seed).uniform(*robot.model.ranges.T, (*batch, robot.n))


def assert_reached(robot, q, T, tolerance=2e-9, **options):
    X = robot.forward_kinematics(q, **options)
    np.testing.assert_allclose(X, T, rtol=0, atol=tolerance)
    lower, upper = robot.limits.T
    assert ((q >= lower - 1e-12) & (q <= upper + 1e-12)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", REACHED)
def test_reachable_poses_are_reached(name):
    """At least 99.5 % of them, without a start, for poses of random joints."""
    robot, task = armdyn.load(name), REACHED[name]
    T = robot.forward_kinematics(states(robot, 1, 200))
    q = robot.inverse_kinematics(T, unreachable="nan", task=task)
    reached = np.isfinite(q).all(-1)
    assert reached.sum() >= 199
    X, lost = robot.forward_kinematics(q[reached]), 3 if robot.n < 4 else 4
    np.testing.assert_allclose(X[:, :3, 3], T[reached, :3, 3], rtol=0, atol=2e-9)
    np.testing.assert_allclose(X[:, :, lost:], T[reached][:, :, lost:], rtol=0, atol=2e-9)
    assert_reached(robot, q[reached], X)


@pytest.mark.parametrize("near", [1e-3, 1e-5, 1e-6, 0.0])
def test_poses_next_to_singular_ones_are_reached(near):
    """A stretched elbow and a stretched wrist at once: steps do no more than halve the error."""
    robot, rng = armdyn.load("ur5e"), np.random.default_rng(1)
    q = rng.uniform(-2, 2, (100, 6))
    q[:, 2], q[:, 4] = near, near * rng.normal(size=100)
    T = robot.forward_kinematics(q)
    found = robot.inverse_kinematics(T, unreachable="nan")
    reached = np.isfinite(found).all(-1)
    assert reached.sum() >= 95
    assert_reached(robot, found[reached], T[reached])


@pytest.mark.slow
def test_any_tree_reaches_where_it_was(arm):
    robot = arm.robot
    T = robot.forward_kinematics(states(robot, 2, 2, 3))
    q = robot.inverse_kinematics(T)
    assert q.shape == (2, 3, robot.n)
    assert_reached(robot, q, T)


@pytest.mark.slow
def test_joints_that_follow_others_and_frames_of_links():
    robot = armdyn.load(ROBOTS / "gripper.urdf")
    for link in robot.link_names:
        T = robot.forward_kinematics(robot.model.ranges.mean(-1) + 0.01, link=link)
        q = robot.inverse_kinematics(T, link=link)
        assert_reached(robot, q, T, link=link)


def test_one_pose_is_solved_as_it_is_in_a_batch():
    robot = armdyn.load("ur5e")
    q = states(robot, 3, 5)
    T = robot.forward_kinematics(q)
    together = robot.inverse_kinematics(T, q + 0.2)
    np.testing.assert_array_equal(together, robot.inverse_kinematics(T, q + 0.2))
    for k in range(5):
        alone = robot.inverse_kinematics(T[k], q[k] + 0.2)
        np.testing.assert_allclose(alone, together[k], atol=1e-7)
    one_start = robot.inverse_kinematics(T, q[0])
    assert one_start.shape == (5, 6)
    assert robot.inverse_kinematics(T[:0]).shape == (0, 6)


def test_near_a_start_the_solution_is_that_of_the_start():
    robot = armdyn.load("puma560")
    q = 0.7 * states(robot, 4, 50)
    found = robot.inverse_kinematics(robot.forward_kinematics(q), q + 0.01)
    J = np.linalg.svd(robot.jacobian(q), compute_uv=False)
    regular = J[:, -1] > 0.05
    assert regular.sum() > 20
    np.testing.assert_allclose(found[regular], q[regular], atol=1e-6)


@pytest.mark.slow
def test_a_redundant_arm_takes_the_solution_nearest_to_its_start():
    """q0 - q has no part along which the tool stays where it is."""
    robot = armdyn.load("panda")
    q0 = np.array([0.1, -0.4, 0.2, -1.9, 0.1, 1.7, 0.5])
    T = robot.forward_kinematics(q0 + 0.3 * np.random.default_rng(5).uniform(-1, 1, (8, 7)))
    q = robot.inverse_kinematics(T, q0)
    assert_reached(robot, q, T)
    for k in range(8):
        null = np.linalg.svd(robot.jacobian(q[k]))[2][-1]
        assert abs(null @ (q0 - q[k])) < 1e-6


def test_all_eight_solutions_of_a_six_joint_arm():
    """Of an arm with a spherical wrist and no limits there are eight; all different, all right."""
    robot = armdyn.load("renaud_6r")
    q = states(robot, 6, 6)
    T = robot.forward_kinematics(q)
    found = robot.inverse_kinematics(T, q, most=10)
    assert found.shape == (6, 10, 6)
    solved = np.isfinite(found).all(-1)
    assert (solved.sum(-1) == 8).all()
    assert (solved[:, :8]).all()
    for k in range(6):
        eight = found[k, :8]
        assert_reached(robot, eight, np.broadcast_to(T[k], (8, 4, 4)))
        way = eight[:, None] - eight
        way = np.abs(way - 2 * np.pi * np.round(way / 2 / np.pi)).max(-1)
        assert (way[~np.eye(8, dtype=bool)] > 1e-3).all()
        np.testing.assert_allclose(eight[0], q[k], atol=1e-6)
        away = np.linalg.norm(eight - q[k], axis=-1)
        assert (np.diff(away) > 0).all()


def test_solutions_of_two_links_are_those_of_the_cosine_law():
    robot = armdyn.load("two_link")
    l = np.linalg.norm(robot.forward_kinematics([0.0, 0.0])[:3, 3]) / 2
    place = np.array([0.5, 0.6, 0.0])
    elbow = np.arccos((place @ place - 2 * l**2) / (2 * l**2))
    found = robot.inverse_kinematics(transform(None, place), task=("x", "y"), most=4)
    np.testing.assert_allclose(np.sort(found[:2, 1]), [-elbow, elbow], atol=1e-8)
    assert np.isnan(found[2:]).all()
    turned = robot.inverse_kinematics(transform(None, place), [13.0, 0.0], task=("x", "y"))
    assert abs(turned[0] - 13.0) <= np.pi


def test_a_spin_about_the_tool_is_free_in_its_own_axes():
    """Position and direction of the z axis: five coordinates, for pointing and drilling."""
    robot = armdyn.load("ur5e")
    T = robot.forward_kinematics(states(robot, 7, 20))
    q = robot.inverse_kinematics(T, task=("x", "y", "z", "rx", "ry"), frame="tool")
    X = robot.forward_kinematics(q)
    np.testing.assert_allclose(X[:, :3, 2:], T[:, :3, 2:], atol=4e-9)
    assert np.abs(X[:, :3, 0] - T[:, :3, 0]).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("rows", [(0, 2, 4), (5,), (3, 4), (0, 1, 2, 3, 4, 5)])
@pytest.mark.parametrize("own_axes", [False, True])
def test_slopes_are_the_derivatives_of_errors(arm, rows, own_axes):
    robot = arm.robot
    far = np.full(robot.n, np.inf)
    search = PoseSearch(robot.forward_kinematics, robot.jacobian, -far, far, rows, own_axes)
    q = states(robot, 8, 1)
    T = robot.forward_kinematics(q)
    turn = np.array([0.5, -0.4, 0.7]) if len(rows) < 6 else np.zeros(3)
    T[0] = transform(rotation_from_vector(turn), [0.1, 0.2, 0.3]) @ T[0]
    h = 1e-6 * np.eye(robot.n)
    error, many = search.error(T, q), np.repeat(T, robot.n, 0)
    slopes = (search.error(many, q + h) - search.error(many, q - h)).T
    expected = -slopes[list(rows)] / 2e-6
    np.testing.assert_allclose(search.slopes(T, q, error)[0], expected, atol=1e-8)


def test_half_turns_away_from_the_start():
    robot = armdyn.load("ur5e")
    q0 = np.array([0.2, -1.2, 1.5, -1.9, -1.5, 0.3])
    T = robot.forward_kinematics(q0)
    rng = np.random.default_rng(9)
    for axis in (*np.eye(3), random_axis(rng)):
        wanted = T.copy()
        wanted[:3, :3] = rotation_about(axis, np.pi) @ T[:3, :3]
        assert_reached(robot, robot.inverse_kinematics(wanted, q0), wanted)


def test_a_pose_beyond_reach_names_how_near_the_arm_comes():
    robot = armdyn.load("two_link")
    reach = np.linalg.norm(robot.forward_kinematics([0.0, 0.0])[:3, 3])
    far = transform(None, [0.0, reach + 0.25, 0.0])
    near = transform(None, [0.0, reach / 2, 0.0])
    task = ("x", "y")
    with pytest.raises(UnreachableError, match=r"pose 1, 0 of the batch.* 0.25 m away") as e:
        robot.inverse_kinematics([[near], [far]], task=task)
    assert e.value.index == (1, 0)
    assert e.value.distance == pytest.approx(0.25, rel=1e-6)
    nearest = robot.inverse_kinematics(far, task=task, unreachable="nearest")
    place = robot.forward_kinematics(nearest)[:2, 3]
    np.testing.assert_allclose(place, [0, reach], rtol=0, atol=1e-4)
    both = robot.inverse_kinematics([near, far], task=task, unreachable="nan")
    assert np.isfinite(both[0]).all()
    assert np.isnan(both[1]).all()
    with pytest.raises(UnreachableError, match=r"2 joints cannot move 6 .* task=\('x', 'y'\)"):
        robot.inverse_kinematics(near)


def test_limits_in_the_way_are_named():
    rod = {"joint": "revolute", "a": 0.5, "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    robot = armdyn.from_dh([rod | {"limits": (-0.5, 0.7)}, rod | {"limits": (0.0, 1.0)}])
    T = transform(None, [-0.4, 0.5, 0.0])
    with pytest.raises(UnreachableError, match="joint1 at its upper limit 0.7.*Without joint limi"):
        robot.inverse_kinematics(T, task=("x", "y"))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"T": np.eye(3)}, ShapeError, r"T: expected poses of shape \(..., 4, 4\)"),
        ({"T": "here"}, ShapeError, "T: expected numbers of shape"),
        ({"T": np.stack([np.eye(4), np.ones((4, 4))])}, ModelError, r"T\[1\]: expected a rigid"),
        ({"T": np.diag([1.0, 1.0, -1.0, 1.0])}, ModelError, "expected a rigid transform"),
        ({"T": transform(None, [1e200, 0, 0])}, ModelError, r"up to 1e\+12 m"),
        ({"q0": [1e200, 0.0]}, ShapeError, "q0: expected finite positions, up to"),
        ({"T": np.full((4, 4), np.nan)}, ModelError, "expected a rigid transform"),
        ({"q0": [0.0]}, ShapeError, "q0: expected shape"),
        ({"q0": [np.nan, 0.0]}, ShapeError, "q0: expected finite positions"),
        ({"q0": np.zeros((2, 2)), "T": [np.eye(4)] * 3}, ShapeError, "batch shapes do not fit"),
        ({"task": "xy"}, ModelError, "task is a list of names"),
        ({"task": ()}, ShapeError, "task names no coordinate"),
        ({"task": ("x", "w")}, UnknownNameError, "task coordinate 'w'"),
        ({"frame": "base"}, UnknownNameError, "frame of a task 'base'"),
        ({"link": "hand"}, UnknownNameError, "named 'hand'"),
        ({"most": 0}, ModelError, "most: expected a whole number from 1 to 64"),
        ({"tolerance": 0.0}, ModelError, "tolerance: expected a number from"),
        ({"unreachable": "skip"}, UnknownNameError, "Available: error, nan, nearest"),
    ],
)
def test_what_cannot_be_asked_is_said(change, error, message):
    with pytest.raises(error, match=message):
        armdyn.load("two_link").inverse_kinematics(**{"T": np.eye(4)} | change)
    assert issubclass(error, ArmdynError)
