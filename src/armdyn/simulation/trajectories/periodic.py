"""Periodic motions as Fourier series."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_joint_vector, check_truth, frozen
from armdyn.errors import ShapeError, TrajectoryError
from armdyn.robot import Robot
from armdyn.simulation.checks import (
    check_finite,
    check_point,
    check_positive,
    check_range,
    check_times,
)
from armdyn.simulation.trajectories.moves import quintic
from armdyn.simulation.trajectories.piecewise import Motion, Piecewise


@dataclass(frozen=True, slots=True, eq=False)
class Fourier:
    """q = base + w Σ_k a_k sin(k ω t) + b_k cos(k ω t), w rising from 0 to 1 where it is ramped."""

    base: Array
    """What the motion is about, shape (n,) [rad or m]."""
    a: Array
    """Amplitudes of the sines, shape (harmonics, n)."""
    b: Array
    """Amplitudes of the cosines, shape (harmonics, n)."""
    frequency: float
    """Of the first harmonic [Hz]."""
    duration: float
    """How long it takes [s]."""
    ramp: Piecewise | None = None
    """w, of one coordinate; None: 1 from the start."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.base)

    @property
    def period(self) -> float:
        """Of the motion [s]."""
        return 1 / self.frequency

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """Positions, velocities and accelerations (..., n) at times of any shape [s]."""
        t = check_times(t)
        inside = np.clip(t, 0.0, self.duration)
        k = 2 * math.pi * self.frequency * np.arange(1, len(self.a) + 1)
        angle = inside[..., None] * k
        s = np.sin(angle)
        c = np.cos(angle)
        f = s @ self.a + c @ self.b
        fd = (k * c) @ self.a - (k * s) @ self.b
        fdd = -((k**2 * s) @ self.a + (k**2 * c) @ self.b)
        if self.ramp is not None:
            w, wd, wdd = self.ramp(inside)
            f, fd, fdd = w * f, wd * f + w * fd, wdd * f + 2 * wd * fd + w * fdd
        rest = ((t < 0) | (t > self.duration))[..., None]
        return Motion(self.base + f, np.where(rest, 0.0, fd), np.where(rest, 0.0, fdd))

    def reach(self) -> tuple[Array, Array]:
        """Lowest and highest position of each joint in a whole period and at the base, (n,) each.

        With z = exp(iωt) the velocity is the real part of Σ_k k (a_k + i b_k) z^k, so that its
        zeros are on the unit circle among the roots of a polynomial.
        """
        turns = np.arange(1, len(self.a) + 1)
        half = turns[:, None] * (self.a + 1j * self.b) / 2
        middle = np.zeros((1, self.n))
        polynomials = np.concatenate([half[::-1], middle, half.conj()])
        low = self.base.copy()
        high = self.base.copy()
        for j, polynomial in enumerate(polynomials.T):
            angle = np.angle(np.roots(polynomial))[:, None] * turns
            q = self.base[j] + np.sin(angle) @ self.a[:, j] + np.cos(angle) @ self.b[:, j]
            low[j], high[j] = q.min(initial=low[j]), q.max(initial=high[j])
        return low, high


def fourier(
    base: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    frequency: float,
    *,
    duration: float | None = None,
    periods: float | None = None,
    ramp: bool = False,
    robot: Robot | None = None,
) -> Fourier:
    """A periodic motion, q = base + Σ_k a_k sin(2πk f t) + b_k cos(2πk f t).

    Args:
        base: What the motion is about, (n,) [rad or m].
        a: Amplitudes of the sines, (harmonics, n); (n,) for one harmonic.
        b: Amplitudes of the cosines, likewise.
        frequency: f, of the first harmonic [Hz].
        duration: How long it takes [s].
        periods: The same in periods; exactly one of the two is given.
        ramp: Whether the motion starts at rest at the base and grows to its full size along a
            quintic in the first period.
        robot: Whose joint limits a whole period must keep; None: no one's.

    Raises:
        TrajectoryError: A number is not finite or not positive, neither or both of duration and
            periods are given, or a joint limit would be passed.
    """
    base = check_point("base", base, robot)
    a, b = _amplitudes("a", a, len(base)), _amplitudes("b", b, len(base))
    if len(a) != len(b):
        raise ShapeError(f"a has {len(a)} harmonics and b {len(b)}; give both the same number")
    frequency = check_positive("frequency", frequency, "Hz")
    if (duration is None) == (periods is None):
        raise TrajectoryError("give either duration= [s] or periods= of a periodic motion")
    if periods is not None:
        duration = check_positive("periods", periods, "1") / frequency
    rise = quintic([0.0], [1.0], 1 / frequency) if check_truth("ramp", ramp) else None
    motion = Fourier(base, a, b, frequency, check_positive("duration", duration), rise)
    check_range(robot, motion.reach)
    return motion


def _amplitudes(what: str, value: npt.ArrayLike, n: int) -> Array:
    rows = np.atleast_2d(check_joint_vector(what, value, n))
    if rows.ndim != 2 or not rows.size:
        raise ShapeError(f"{what}: expected shape (harmonics, {n}), got {np.shape(value)}")
    return frozen(check_finite(what, rows))
