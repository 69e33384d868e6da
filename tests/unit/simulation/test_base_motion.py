"""Arms on bases that move: laws of relative motion."""

import numpy as np
import pytest

import armdyn
from armdyn import BaseMotion
from armdyn.errors import ShapeError, SimulationError, TrajectoryError
from armdyn.simulation.forces import sampled_base
from support.simulation_laws import pendulum, slider

METHODS = {"DOP853": {}, "rk4": {"step": 2e-3}, "symplectic": {"step": 2e-3}}
X, Y, Z = np.eye(3)
STANDING = np.column_stack([-Z, Y, X])
"""How the base of a table stands, so that its rails lie along x and y."""


def table(*rows):
    """A body on rails along x, and then y, without gravity; nothing else has a mass."""
    row = {"joint": "prismatic", "alpha": -np.pi / 2}
    T = np.eye(4)
    T[:3, :3] = STANDING
    return armdyn.from_dh([row | each for each in rows], gravity=(0, 0, 0), base=T)


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_lift_that_accelerates_changes_gravity(method):
    arm, options = pendulum(), METHODS[method] | {"method": method, "dt": 0.02}
    lift = BaseMotion(linear_acceleration=(4.0, 0.2, 0.3))
    moved = armdyn.simulate(arm, [0.7], duration=0.2, base_motion=lift, **options)
    field = arm.with_gravity(arm.gravity - lift.linear_acceleration)
    still = armdyn.simulate(field, [0.7], duration=0.2, **options)
    np.testing.assert_allclose(moved.q, still.q, atol=1e-9)
    assert moved.energy_drift < 1e-5
    np.testing.assert_allclose(sum(moved.terms().values()), moved.tau, atol=1e-9)
    # the observer in the lift sees another energy than the one in the field, and accounts for it
    np.testing.assert_allclose(
        moved.energy - moved.energy[0], moved.work[:, 2], atol=1e-5 * np.abs(moved.energy).max()
    )


@pytest.mark.slow
def test_a_base_that_stands_otherwise_is_a_base_placed_otherwise():
    arm, R = pendulum(1.0), np.array([[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]])
    moved = armdyn.simulate(arm, [0.4], duration=0.5, base_motion=BaseMotion(R))
    T = np.eye(4)
    T[:3, :3] = R
    np.testing.assert_allclose(
        moved.q, armdyn.simulate(arm.with_base(T), [0.4], duration=0.5).q, atol=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_slide_on_a_turntable_flies_outwards(method):
    """q̈ = ω² q: the centrifugal field."""
    turntable = BaseMotion(angular_velocity=(0, 0, 2.0))
    found = armdyn.simulate(
        table({"mass": 2.0}),
        [0.5],
        duration=0.2,
        base_motion=turntable,
        method=method,
        dt=0.02,
        **METHODS[method],
    )
    np.testing.assert_allclose(found.q[:, 0], 0.5 * np.cosh(2 * found.t), rtol=1e-5)
    assert found.energy_drift < 1e-6
    assert found.work[-1, 2] == pytest.approx(found.kinetic[-1], rel=1e-5)


@pytest.mark.slow
def test_a_free_body_on_a_spinning_table_goes_straight():
    """Coriolis, centrifugal and Euler's forces together are no force in the world."""
    arm = table({"mass": 0.0}, {"mass": 2.0})

    def spinning(t):
        angle, rate, slope = 0.8 * t + 0.3 * t**3, 0.8 + 0.9 * t**2, 1.8 * t
        return BaseMotion(about_z(angle) @ STANDING, rate * Z, slope * Z)

    start, pushed = np.array([0.3, -0.2]), np.array([0.1, 0.4])
    found = armdyn.simulate(arm, start, pushed, 1.5, base_motion=spinning, dt=0.1)
    turned = [
        about_z(0.8 * t + 0.3 * t**3)[:2, :2] @ q for t, q in zip(found.t, found.q, strict=True)
    ]
    leaving = pushed + 0.8 * np.array([-start[1], start[0]])
    np.testing.assert_allclose(turned, start + found.t[:, None] * leaving, atol=1e-8)
    assert found.energy_drift < 1e-8
    assert "base1" in found.columns()
    total = sum(found.terms().values())
    np.testing.assert_allclose(total, found.tau, atol=1e-9)


@pytest.mark.slow
def test_a_body_with_dry_friction_stays_until_the_base_pulls_away():
    arm = table({"mass": 1.0, "coulomb": 2.0})
    found = armdyn.simulate(
        arm,
        [0.0],
        duration=1.0,
        base_motion=lambda t: BaseMotion(linear_acceleration=(4 * t, 0, 0)),
    )
    assert [(event.kind, round(event.t, 6)) for event in found.events] == [("starts", 0.5)]
    np.testing.assert_allclose(found.qd[-1], -2.0 * 0.25, atol=1e-7)  # -∫(4t - 2) dt from 0.5 to 1


@pytest.mark.slow
def test_samples_files_and_functions_are_one_motion(tmp_path):
    arm, t = pendulum(), np.linspace(0, 0.1, 101)
    angle = 0.3 * np.sin(3 * t)
    rate, slope = 0.9 * np.cos(3 * t), -2.7 * np.sin(3 * t)

    def rolling(s):
        return BaseMotion(
            about_z(0.3 * np.sin(3 * s)),
            0.9 * np.cos(3 * s) * Z,
            -2.7 * np.sin(3 * s) * Z,
            (s, 0, 1),
        )

    vectors = np.outer(rate, Z), np.outer(slope, Z), np.column_stack([t, 0 * t, 1 + 0 * t])
    samples = t, BaseMotion(np.array([about_z(a) for a in angle]), *vectors)
    half = np.column_stack([t, np.cos(angle / 2), 0 * t, 0 * t, np.sin(angle / 2), *vectors[2].T])
    by_quaternion, by_angles = tmp_path / "q.csv", tmp_path / "rpy.csv"
    names = {"header": "t,qw,qx,qy,qz,ax,ay,az", "comments": "", "delimiter": ","}
    np.savetxt(by_quaternion, half, **names)
    angles = np.column_stack(
        [t, 0 * t, 0 * t, angle, *(v.T[2] for v in vectors[:2]), *vectors[2].T]
    )
    whole = np.insert(angles, [4, 4, 5, 5], 0.0, axis=1)
    np.savetxt(
        by_angles, whole, **(names | {"header": "t,roll,pitch,yaw,wx,wy,wz,wdx,wdy,wdz,ax,ay,az"})
    )
    runs = [
        armdyn.simulate(arm, [0.7], duration=0.1, base_motion=given, rtol=1e-6, dt=0.05)
        for given in (rolling, samples, by_quaternion, str(by_angles))
    ]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q, runs[0].q, atol=2e-6)


@pytest.mark.slow
def test_each_arm_may_have_a_base_of_its_own():
    arm, start = pendulum(1.0), np.array([[0.1], [0.5]])
    lifts = np.array([[0, 0, 1.0], [2.0, 0, 0]])
    options = {"method": "rk4", "duration": 0.2, "dt": 0.1}
    many = armdyn.simulate(arm, start, base_motion=BaseMotion(linear_acceleration=lifts), **options)
    for k in range(2):
        motion = BaseMotion(linear_acceleration=lifts[k])
        one = armdyn.simulate(arm, start[k], base_motion=motion, **options)
        np.testing.assert_array_equal(many.q[k], one.q)


def test_bad_motions_are_refused_by_name(tmp_path):
    arm = slider()

    def refused(error, words, given, **options):
        with pytest.raises(error, match=words):
            armdyn.simulate(arm, [0.0], duration=1.0, base_motion=given, **options)

    three = BaseMotion(angular_velocity=np.zeros((3, 3)))
    refused(ShapeError, r"wrong shape, \(3,\), for arms of shape \(\).*\(times, motion\)", three)
    refused(
        ShapeError, r"wrong shape, \(3,\); expected one motion for each of the 2", ([0, 1], three)
    )
    refused(
        ShapeError,
        r"base_motion at t = 0 s: rotation of the base.*\(..., 3, 3\)",
        lambda t: BaseMotion(np.eye(2)),
    )
    refused(SimulationError, "base_motion: expected an armdyn.BaseMotion, a function", 3)
    refused(SimulationError, "gave 7 at t = 0 s; expected an armdyn.BaseMotion", lambda t: 7)
    refused(SimulationError, "raised KeyError at t = 0 s", lambda t: {}[t])
    refused(SimulationError, "base_motion: time goes backwards at row 1", ([1, 0], BaseMotion()))
    late = ([0, 0.5], BaseMotion())
    refused(SimulationError, "from 0 to 0.5 s, but it is needed from 0 to 1 s", late)
    for header, words in (
        ("t,wx,wy", "the column wz is missing"),
        ("wx,wy,wz", "missing: t"),
        ("t,wx,wy,wz,bank", "not known: 'bank'"),
        ("t", "there is no motion in it"),
        ("t,qw,qx,qy,qz,roll,pitch,yaw", "the rotation is given twice"),
    ):
        file = tmp_path / "bad.csv"
        file.write_text(header + "\n" + ",".join("0" for _ in header.split(",")) + "\n")
        refused(TrajectoryError, words, file)
    file.write_text("t,qw,qx,qy,qz\n0,0,0,0,0\n")
    refused(TrajectoryError, "a quaternion of length 0 says no rotation", file)


def test_one_sample_holds_for_ever():
    motion = BaseMotion(linear_acceleration=(1, 2, 3))
    vectors = sampled_base(slider().model.base[:3, :3], [3.0], motion, (0.0, 1.0))
    found = vectors(np.zeros((2, 5)))
    assert found.shape == (2, 5, 18)
    assert (found[..., 15:] == (1, 2, 3)).all()
