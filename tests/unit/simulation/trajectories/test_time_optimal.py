"""Fastest motions along paths: closed solutions, toppra, limits that are kept and reached."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

import armdyn
from armdyn.errors import ShapeError, TrajectoryError
from armdyn.simulation.trajectories import quintic, time_optimal
from armdyn.simulation.trajectories.time_optimal import PathLimits, _used
from support.arms import ARMS
from support.programs import EvaluatedRobot

INERTIA, TORQUE = 2.0, 3.0


def one_joint(viscous=0.0, coulomb=0.0, gravity=(0, 0, -9.81), com=(0, 0, 0)):
    row = {
        **{"joint": "revolute", "a": 0.0, "alpha": 0.0, "d": 0.0, "theta": 0.0, "mass": 1.0},
        **{"com": com, "inertia": INERTIA * np.eye(3), "viscous": viscous, "coulomb": coulomb},
    }
    return armdyn.from_dh([row], gravity=gravity)


def shortest(viscous, coulomb):
    """The time of one turn of 1 rad with full torque, then full braking, in closed form."""
    rate = viscous / INERTIA

    def legs(t):
        push, brake = TORQUE - coulomb, TORQUE + coulomb
        if not viscous:
            w = push * t / INERTIA
            return w * t / 2 + w**2 * INERTIA / 2 / brake, t + w * INERTIA / brake
        w = push / viscous * -np.expm1(-rate * t)
        stop = np.log1p(viscous * w / brake) / rate
        first = push / viscous * t - w / rate
        second = (w + brake / viscous) * -np.expm1(-rate * stop) / rate - brake / viscous * stop
        return first + second, t + stop

    return legs(brentq(lambda t: legs(t)[0] - 1.0, 1e-6, 20.0))[1]


@pytest.mark.slow
@pytest.mark.parametrize(("viscous", "coulomb", "tolerance"), [(0.0, 0.5, 1e-4), (1.5, 0.5, 0.01)])
def test_one_joint_takes_the_time_of_the_closed_solution(viscous, coulomb, tolerance):
    robot = one_joint(viscous, coulomb)
    found = time_optimal(robot, [[0.0], [1.0]], effort=[TORQUE])
    expected = shortest(viscous, coulomb)
    assert expected * (1 - 1e-6) <= found.duration <= expected * (1 + tolerance)


def block(mass=2.0, coulomb=0.0, gravity=-9.81):
    """A block on a vertical rail."""
    row = {"joint": "prismatic", "mass": mass, "com": (0, 0, 0), "inertia": np.eye(3)}
    robot = armdyn.from_dh([row | {"coulomb": coulomb}], gravity=(0, 0, gravity))
    return EvaluatedRobot(robot.model)


@pytest.mark.parametrize("end", [3.0, -3.0])
@pytest.mark.parametrize("fastest", [1.5, np.inf])
def test_a_block_is_lifted_with_all_force_and_braked_by_its_weight(end, fastest):
    """Up it is pushed with F - m g - R, and braked with F + m g + R; down the other way round."""
    mass, force, dry = 2.0, 50.0, 3.0
    way, weight = np.sign(end), mass * 9.81
    found = time_optimal(
        block(mass, dry), [[0.0], [end]], effort=force, velocity=fastest, steps=100
    )
    push = (force - way * weight - dry) / mass
    brake = (force + way * weight + dry) / mass
    top = min(np.sqrt(6 * push * brake / (push + brake)), fastest)
    cruise = (3 - top**2 / 2 / push - top**2 / 2 / brake) / top
    ends = top / push, top / push + cruise
    last = ends[1] + top / brake
    assert last * (1 - 1e-9) <= found.duration <= last * (1 + 3e-3)
    t = found.duration * np.linspace(0.02, 0.98, 97)
    speed = np.min([push * t, 0 * t + top, brake * (found.duration - t)], axis=0)
    at = found.trajectory(t)
    np.testing.assert_allclose(at.qd[:, 0], way * speed, atol=0.05 * top)
    used = found.robot.inverse_dynamics(*at)[:, 0]
    assert found.tau[0, 0] == pytest.approx(way * force)  # dry friction acts from the start on
    np.testing.assert_allclose(used[t < 0.9 * ends[0]], way * force, rtol=2e-3)
    np.testing.assert_allclose(used[t > 1.1 * ends[1]], -way * force, rtol=2e-3)


@pytest.mark.parametrize("friction", [True, False])
def test_the_table_of_a_motion_is_the_motion_and_keeps_every_limit(friction):
    robot = ARMS["screws"].robot
    rng = np.random.default_rng(4)
    points = rng.uniform(-1, 1, (4, robot.n))
    most = 2 * np.abs(robot.gravity_vector(rng.uniform(-1, 1, (50, robot.n)))).max(0) + 5
    fast = np.array([0.7, np.inf, 1.1])
    found = time_optimal(robot, points, effort=most, velocity=fast, friction=friction, steps=20)
    law, path = found.trajectory.law, found.trajectory.path
    s, speed, _ = (x[:-1, 0] for x in law(found.t))
    np.testing.assert_allclose(s, found.s[:-1], atol=1e-12)
    np.testing.assert_allclose(speed, found.speed[:-1], atol=1e-9)
    assert (found.s[0], found.s[-1], found.speed[0], found.speed[-1]) == (0, 1, 0, 0)
    assert (found.speed <= found.highest * (1 + 1e-9)).all()
    assert (found.highest <= found.allowed * (1 + 1e-2)).all()
    lengths = np.append(0, np.linalg.norm(np.diff(points, axis=0), axis=-1).cumsum())
    spline = CubicSpline(lengths / lengths[-1], points, bc_type="natural")
    grid = np.linspace(0, 1, 31)
    for order, values in enumerate(path(grid)):
        np.testing.assert_allclose(values, spline(grid, order), atol=1e-9)
    at = found.trajectory(found.t[1:-1])
    needed = robot.inverse_dynamics(*at, friction=friction)
    np.testing.assert_allclose(found.tau[1:-1], needed, rtol=1e-9, atol=1e-9 * most.max())
    assert (np.abs(found.tau) <= 1.001 * most).all()
    assert (np.abs(at.qd) <= fast * (1 + 1e-9)).all()
    end = robot.inverse_dynamics(
        points[-1], np.zeros(robot.n), path(1.0).qd * law(found.t[-1] - 1e-9).qdd, friction=False
    )
    dry = robot.friction_torque(path(1.0).qd * 1e-12) if friction else 0.0
    np.testing.assert_allclose(found.tau[-1], end + dry, rtol=1e-6, atol=1e-6 * most.max())


@pytest.fixture(scope="module")
def panda():
    robot = armdyn.load("panda")
    points = [[0, -0.8, 0, -2.3, 0, 1.6, 0.8], [0.6, 0, -0.2, -1.7, 0.2, 1.8, 0.3]]
    points.append([1.2, 0.3, -0.4, -1.2, 0.3, 1.8, -0.2])
    return robot, np.array(points), time_optimal(robot, points)


@pytest.mark.slow
def test_a_motion_of_a_panda_keeps_its_limits_and_reaches_them(panda, tmp_path):
    robot, points, found = panda
    q, qd, qdd = found.trajectory(np.linspace(0, found.duration, 2001))
    np.testing.assert_allclose(q[[0, -1]], points[[0, -1]], atol=1e-12)
    assert np.abs(qd[[0, -1]]).max() < 1e-9
    assert np.abs(q - points[1]).max(-1).min() < 1e-2  # the path goes through the point between
    speed = np.array([robot.model.joints[i].limits.velocity for i in range(7)])
    used = np.maximum(
        (np.abs(robot.inverse_dynamics(q, qd, qdd)) / found.effort).max(-1),
        (np.abs(qd) / speed).max(-1),
    )
    assert used.max() <= 1.01
    assert np.median(used) >= 0.98  # some limit is reached nearly everywhere
    found.plot(tmp_path / "phase.png")
    assert (tmp_path / "phase.png").stat().st_size > 10_000


@pytest.mark.slow
def test_without_friction_toppra_takes_as_long(panda):
    import toppra
    from toppra import algorithm, constraint

    robot, points, found = panda
    ours = time_optimal(robot, points, velocity=[50.0] * 7, friction=False)
    way = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=-1)))
    path = toppra.SplineInterpolator(way / way[-1], points, bc_type="natural")
    torques = constraint.SecondOrderConstraint.joint_torque_constraint(
        lambda *state: robot.inverse_dynamics(*state, friction=False),
        np.stack([-found.effort, found.effort], -1),
        np.zeros(7),
    )
    grid = np.linspace(0, 1, 201)
    solver = algorithm.TOPPRA([torques], path, grid, parametrizer="ParametrizeConstAccel")
    theirs = solver.compute_trajectory(0, 0).duration
    assert ours.duration == pytest.approx(theirs, rel=0.01)


@pytest.mark.parametrize(
    ("points", "options", "error", "match"),
    [
        ([[0.0]], {"effort": [1.0]}, ShapeError, "points: expected two or more config"),
        ([[0.0], [np.nan]], {"effort": [1.0]}, TrajectoryError, "points: expected finite"),
        ([[0.0], [1.0], [1.0]], {"effort": [1.0]}, TrajectoryError, "points 2 and 3 .* the same"),
        ([[0.0], [1.0]], {}, TrajectoryError, "no limit of the torque of .*; give `effort`"),
        ([[0.0], [1.0]], {"effort": [-1.0]}, TrajectoryError, "effort: a limit must be positive"),
        ([[0.0], [1.0]], {"effort": [1.0], "steps": 2}, TrajectoryError, "steps: expected a whole"),
    ],
)
def test_wrong_arguments_are_named(points, options, error, match):
    with pytest.raises(error, match=match):
        time_optimal(one_joint(), points, **options)


@pytest.mark.slow
def test_an_arm_that_cannot_hold_itself_swings_through_if_it_comes_fast_enough():
    """Its weight takes 4.9 N m where it is level, at 0; it hangs at -π/2."""
    weak, down = one_joint(gravity=(0, -9.81, 0), com=(0.5, 0, 0)), -np.pi / 2
    options = {"effort": [TORQUE], "steps": 60}
    found = time_optimal(weak, [[down - 2.8], [down + 2.8]], **options)
    at = found.trajectory(np.linspace(0, found.duration, 400))
    assert np.abs(weak.gravity_vector(at.q)).max() > 1.5 * TORQUE
    assert np.abs(weak.inverse_dynamics(*at)).max() <= 1.03 * TORQUE
    with pytest.raises(TrajectoryError, match="cannot be started from rest .*; start farther away"):
        time_optimal(weak, [[down], [down + 2.8]], **options)
    with pytest.raises(TrajectoryError, match=r"cannot be followed within the limits: at 98.3% of"):
        time_optimal(weak, [[down + 2.8], [0.0]], **options)


def test_shares_of_torques_are_those_at_both_ends_of_each_piece():
    rng, robot = np.random.default_rng(4), EvaluatedRobot(ARMS["scara"].model)
    path, s = quintic(*rng.uniform(-1, 1, (2, 4)), 1.0), np.linspace(0, 1, 6)
    most = np.array([3.0, 4.0, 5.0, 6.0])
    on = PathLimits.of(robot, path, s, most, np.ones(4), True)
    x, u = rng.uniform(0.1, 2, 6), rng.normal(size=5)
    q, slope, bend = path(s)
    expected = []
    for e in (0, 1):
        k = np.arange(5) + e
        qd = slope[k] * np.sqrt(x[k])[:, None]
        qdd = slope[k] * u[:, None] + bend[k] * x[k][:, None]
        expected.append(np.abs(robot.inverse_dynamics(q[k], qd, qdd)) / most)
    np.testing.assert_allclose(_used(on, x, u), np.concatenate(expected), rtol=1e-9, atol=1e-12)
