"""Motions with a jerk and a snap, which joints that give need, and input shaping."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import TrajectoryError, require
from armdyn.simulation.checks import (
    check_each,
    check_increasing,
    check_point,
    check_positive,
    check_times,
    floats,
)
from armdyn.simulation.trajectories.piecewise import Motion, Trajectory

ORDERS = 5
"""Positions and derivatives up to the snap."""
REST = ((1, 0.0), (2, 0.0), (3, 0.0))
"""Derivatives of a spline at its ends that vanish."""


class SmoothTrajectory(Trajectory, Protocol):
    """A trajectory that has derivatives up to the snap, where the jerk does not jump."""

    def derivatives(self, t: npt.ArrayLike) -> Array:
        """q to q⁗ at times of any shape, (5, ..., n)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Smooth:
    """A motion along a curve of scipy, with its derivatives."""

    curve: Any
    """A spline of time, with values (n,)."""
    duration: float
    """How long it takes [s]."""
    slopes: tuple[Any, ...] = field(init=False, repr=False)
    """The curve and its derivatives."""

    def __post_init__(self) -> None:
        slopes = (self.curve, *map(self.curve.derivative, range(1, ORDERS)))
        object.__setattr__(self, "slopes", slopes)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.curve.c.shape[-1])

    def derivatives(self, t: npt.ArrayLike) -> Array:
        """q to q⁗ at times of any shape [s], (5, ..., n); it rests before and after."""
        t = check_times(t)
        inside = np.clip(t, 0.0, self.duration)
        rows = np.stack([slope(inside) for slope in self.slopes])
        rows[1:] *= ((t >= 0) & (t <= self.duration))[..., None]
        return rows

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """Positions, velocities and accelerations (..., n) at times of any shape [s]."""
        return Motion(*self.derivatives(t)[:3])


def smooth_move(start: npt.ArrayLike, end: npt.ArrayLike, duration: float) -> Smooth:
    """A move from rest to rest whose snap is continuous, by polynomials of degree nine.

    Args:
        start: First configuration, (n,) [rad or m].
        end: Last configuration, (n,).
        duration: How long it takes [s].
    """
    from scipy.interpolate import BPoly, PPoly  # noqa: PLC0415 (slow to import)

    first = check_point("start", start)
    last = check_point("end", end, len(first))
    T = check_positive("duration", duration)
    ends = [[x, *np.zeros((ORDERS - 1, len(first)))] for x in (first, last)]
    return Smooth(PPoly.from_bernstein_basis(BPoly.from_derivatives([0.0, T], ends)), T)


def smooth_spline(times: npt.ArrayLike, points: npt.ArrayLike) -> Smooth:
    """A move from rest to rest through all points along the spline of degree seven.

    Its first six derivatives are continuous, at its ends the first three, which vanish there.

    Args:
        times: When each point is passed, (m,), from 0 on [s].
        points: Two or more configurations, (m, n) [rad or m].
    """
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415 (slow to import)

    q = check_point("points", points, many=True)
    t = check_increasing("times", times, TrajectoryError)
    sound = len(t) == len(q) and t[0] == 0
    require(sound, "times", f"one for each of {len(q)} points, from 0 on", times, TrajectoryError)
    ends = [[(order, np.full(q.shape[1], x)) for order, x in REST] for _ in range(2)]
    return Smooth(make_interp_spline(t, q, 7, bc_type=ends), float(t[-1]))


def smoothed(times: npt.ArrayLike, points: npt.ArrayLike, cutoff: float) -> Smooth:
    """The motion of a recording without what is faster than a cutoff, as a spline of degree seven.

    A Butterworth filter of order four runs over it forwards and backwards, without a delay.

    Args:
        times: Instants, (m,), evenly spaced [s].
        points: Positions at them, (m, n) [rad or m].
        cutoff: Frequency from which on it damps, below half of that of the samples [Hz].
    """
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415 (slow to import)
    from scipy.signal import butter, sosfiltfilt  # noqa: PLC0415 (slow to import)

    t = check_increasing("times", times, TrajectoryError)
    q = check_point("points", points, many=True)
    even = len(t) == len(q) and np.ptp(np.diff(t)) < 1e-6 * (t[-1] - t[0])
    require(even, "times", f"{len(q)}, evenly spaced", times, TrajectoryError)
    rate = (len(t) - 1) / (t[-1] - t[0])
    low = 0 < check_positive("cutoff", cutoff, "Hz") < rate / 2
    require(low, "cutoff", f"less than {rate / 2:g} Hz", cutoff, TrajectoryError)
    calm = sosfiltfilt(butter(4, cutoff, fs=rate, output="sos"), q, axis=0)
    return Smooth(make_interp_spline(t - t[0], calm, 7), float(t[-1] - t[0]))


def derivatives_of(trajectory: Any) -> Any:
    """The function of a trajectory that gives q to q⁗, (5, ..., n), at times.

    Raises:
        TrajectoryError: It has no jerk or snap.
    """
    found = getattr(trajectory, "derivatives", None)
    if found is None:
        raise TrajectoryError(
            f"a motion of type {type(trajectory).__name__} has q, q̇ and q̈, and its jerk jumps or "
            "is not known; joints that give need the jerk and the snap too: take smooth_move, "
            "smooth_spline or smoothed of armdyn.simulation"
        )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Shaped:
    """A motion as the sum of shares of it that start one after another, to excite no vibration.

    Each mode of a natural frequency f and a share ζ of critical damping gets two impulses, half a
    period 1/(f √(1-ζ²)) apart, of the ratio 1 to exp(-πζ/√(1-ζ²)), so that the second cancels what
    the first excites.
    Reference: N. Singer and W. Seering, Preshaping command inputs to reduce system vibration, 1990.
    """

    trajectory: Any
    shares: Array
    """They add up to 1, (k,)."""
    delays: Array
    """When each starts, (k,) [s]."""

    @classmethod
    def of(cls, trajectory: Any, frequencies: npt.ArrayLike, damping: npt.ArrayLike = 0.0) -> Self:
        """The motion without vibrations of given frequencies [Hz] and damping, a share or more."""
        many = np.size(frequencies)
        f = check_each("frequencies", frequencies, many, TrajectoryError, "Hz")
        zeta = check_each("damping", damping, many, TrajectoryError, zero=True)
        require((zeta < 1).all(), "damping", "shares below 1", damping, TrajectoryError)
        slower = np.sqrt(1 - zeta**2)
        left = np.exp(-np.pi * zeta / slower)
        shares = product(*np.stack([1 / (1 + left), left / (1 + left)], -1).tolist())
        delays = product(*np.stack([0.0 * f, 0.5 / (f * slower)], -1).tolist())
        return cls(trajectory, np.prod([*shares], -1), np.sum([*delays], -1))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.trajectory.n)

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.trajectory.duration + self.delays.max())

    def _sum(self, rows: Any, t: npt.ArrayLike) -> Array:
        parts = zip(self.shares, self.delays, strict=True)
        terms = (share * np.asarray(rows(floats(t) - delay)) for share, delay in parts)
        return sum(terms, np.zeros(()))

    def derivatives(self, t: npt.ArrayLike) -> Array:
        """q to q⁗ at times of any shape [s], (5, ..., n), if the motion has them."""
        return self._sum(derivatives_of(self.trajectory), t)

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """Positions, velocities and accelerations (..., n) at times of any shape [s]."""
        return Motion(*self._sum(self.trajectory, t))
