import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import armdyn
from armdyn.errors import ShapeError, TrajectoryError
from armdyn.simulation.trajectories import fourier
from support.trajectory_laws import assert_derivatives, assert_rests_outside, assert_vectorised

RNG = np.random.default_rng(3)
BASE, A, B = np.array([0.2, -0.4, 1.0]), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))


@pytest.mark.parametrize("ramp", [False, True])
def test_it_is_a_motion(ramp):
    motion = fourier(BASE, A, B, 0.5, duration=7.0, ramp=ramp)
    assert (motion.n, motion.duration, motion.period) == (3, 7.0, 2.0)
    assert_derivatives(motion, np.linspace(0, 7, 71), 1e-8, 0.03)
    assert_rests_outside(motion)
    assert_vectorised(motion)


def test_it_repeats_itself_and_has_its_base_as_mean():
    motion = fourier(BASE, A, B, 0.5, periods=3)
    assert motion.duration == 6.0
    t = np.linspace(0, 2, 64, endpoint=False)
    for first, second in zip(motion(t), motion(t + 2), strict=True):
        np.testing.assert_allclose(first, second, atol=1e-10)
    np.testing.assert_allclose(motion(t).q.mean(0), BASE, atol=1e-13)


def test_a_pure_sine_is_a_harmonic_oscillator():
    motion = fourier([0.0], [0.3], [-0.4], 0.8, periods=2)
    q, qd, qdd = motion(np.linspace(0, 2.5, 30))
    w = 2 * math.pi * 0.8
    np.testing.assert_allclose(qdd, -(w**2) * q, atol=1e-12)
    np.testing.assert_allclose(q**2 + (qd / w) ** 2, 0.25, atol=1e-13)


def test_the_ramp_starts_at_rest_at_the_base_and_is_over_after_a_period():
    full = fourier(BASE, A, B, 0.5, periods=3)
    ramped = fourier(BASE, A, B, 0.5, periods=3, ramp=True)
    np.testing.assert_array_equal(ramped(0).q, BASE)
    assert not ramped(0).qd.any()
    assert not ramped(0).qdd.any()
    late = np.linspace(2, 6, 50)
    for one, other in zip(full(late), ramped(late), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(full(2.0), ramped(2 - 1e-9), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("frequency", [0.4, 1.7])
def test_in_the_first_period_the_ramp_is_a_quintic_share_of_the_motion(frequency):
    full, ramped = (fourier(BASE, A, B, frequency, periods=2, ramp=ramp) for ramp in (False, True))
    s = np.linspace(0, 1, 12)[:, None]
    share = 10 * s**3 - 15 * s**4 + 6 * s**5
    t = s[:, 0] / frequency
    np.testing.assert_allclose(ramped(t).q, BASE + share * (full(t).q - BASE), atol=1e-12)


def test_its_reach_is_found_at_its_turning_points():
    motion = fourier(BASE, A, B, 0.5, periods=1)
    low, high = motion.reach()
    t = np.linspace(0, 2, 2001)
    q = motion(t).q
    for j in range(3):
        for bound, sign, start in (
            (low, 1, t[q[:, j].argmin()]),
            (high, -1, t[q[:, j].argmax()]),
        ):
            found = minimize_scalar(
                lambda x, j=j, sign=sign: sign * motion(x).q[j],
                bounds=(max(start - 1e-3, 0), min(start + 1e-3, 2)),
                method="bounded",
                options={"xatol": 1e-10},
            )
            assert sign * bound[j] == pytest.approx(found.fun, abs=1e-9)


def test_a_joint_without_amplitudes_rests_exactly():
    motion = fourier([0.1, 0.2], [[0.3, 0.0]], [[0.1, 0.0]], 1.0, periods=1)
    at = motion(np.linspace(0, 1, 9))
    assert (at.q[:, 1] == 0.2).all()
    assert not at.qd[:, 1].any()
    np.testing.assert_array_equal([bound[1] for bound in motion.reach()], [0.2, 0.2])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"periods": None}, TrajectoryError, "either duration= .* or periods="),
        ({"duration": 2.0}, TrajectoryError, "either duration= .* or periods="),
        ({"periods": -1}, TrajectoryError, "periods: expected a positive number"),
        ({"frequency": 0}, TrajectoryError, r"frequency: expected a positive number \[Hz\]"),
        ({"a": A[:, :2]}, ShapeError, r"a: expected shape \(..., 3\)"),
        ({"a": A[None]}, ShapeError, r"a: expected shape \(harmonics, 3\)"),
        ({"a": A[:2]}, ShapeError, "a has 2 harmonics and b 4"),
        ({"b": np.nan * B}, TrajectoryError, "b: expected finite numbers"),
        ({"base": [0, np.inf, 0]}, TrajectoryError, "base: expected finite numbers"),
    ],
)
def test_what_cannot_be_is_said(change, error, message):
    with pytest.raises(error, match=message):
        fourier(**{"base": BASE, "a": A, "b": B, "frequency": 1.0, "periods": 2} | change)


def test_a_robot_lends_its_joint_limits():
    scara = armdyn.load("scara")
    with pytest.raises(TrajectoryError, match="would go to 0.13, outside"):
        fourier(np.zeros(4), [0.1, 0.1, 0.13, 0.1], np.zeros(4), 1.0, periods=1, robot=scara)
    fourier(np.zeros(4), [0.1, 0.1, 0.12, 0.1], np.zeros(4), 1.0, periods=1, robot=scara)
