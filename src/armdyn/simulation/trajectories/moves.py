"""Rest, moves from one configuration to another or through several, and periodic motions.

They are polynomials of degree five, have trapezoidal speed, or are Fourier series.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_joint_vector, check_truth, frozen, real
from armdyn.errors import ShapeError, TrajectoryError, counted, require
from armdyn.robot import Robot
from armdyn.simulation.checks import (
    check_finite,
    check_increasing,
    check_limit,
    check_point,
    check_positive,
    check_range,
    check_rate,
    check_times,
)
from armdyn.simulation.trajectories.piecewise import MARGIN, Motion, Piecewise, hermite

QUINTIC_SPEED = 15 / 8
"""Highest speed of a quintic move from rest to rest over way 1 in time 1."""
TRIAL_RATIO, MAX_TRIALS = 1.03, 800
"""Ratio of one duration that is tried to the one before, and how many are tried."""
DURATION_TOLERANCE = 1e-11
"""Relative error of a duration that is found by trial."""

SHORTEST_MOVE = 1e-100
"""The shortest time of a move that follows from limits, or its square [s or s²]."""
LONGEST_MOVE = 1e30
"""The longest one, or its square, beyond which nothing moves [s or s²]."""


def quintic(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    duration: float | None = None,
    *,
    velocity: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    start_velocity: npt.ArrayLike = 0.0,
    end_velocity: npt.ArrayLike = 0.0,
    start_acceleration: npt.ArrayLike = 0.0,
    end_acceleration: npt.ArrayLike = 0.0,
    robot: Robot | None = None,
) -> Piecewise:
    """A move along polynomials of degree five, from rest to rest unless rates are given.

    Args:
        start: First configuration, (n,) [rad or m].
        end: Last configuration, (n,).
        duration: How long it takes [s]; None: as short as the limits allow.
        velocity: Limit of speed, of all joints or (n,); None: none.
        acceleration: Limit of acceleration, likewise.
        start_velocity: Velocity at the start, (n,) or one number for all joints.
        end_velocity: Velocity at the end.
        start_acceleration: Acceleration at the start.
        end_acceleration: Acceleration at the end.
        robot: Whose joint limits the move must keep; None: no one's.

    Raises:
        TrajectoryError: Neither or both of duration and limits are given, no duration keeps the
            limits, or a joint limit would be passed.
    """
    start = check_point("start", start, robot)
    end = check_point("end", end, len(start))
    v = _pair("velocity", start_velocity, end_velocity, len(start))
    a = _pair("acceleration", start_acceleration, end_acceleration, len(start))

    def lasting(T: float) -> Piecewise:
        return hermite(np.array([0.0, T]), np.stack([start, end]), v, a)

    if (duration is None) == (velocity is None and acceleration is None):
        raise TrajectoryError(
            "give either the duration of a move, or limits (velocity=, acceleration=) from which "
            "the shortest one follows"
        )
    if duration is not None:
        move = lasting(check_positive("duration", duration))
    else:
        top = check_limit("velocity", velocity, len(start))
        bend = check_limit("acceleration", acceleration, len(start))
        if v.any() or a.any():
            _check_ends(v, a, top, bend)
            move = lasting(_shortest(lasting, np.abs(end - start), v, top, bend))
        else:
            move = _within(lasting(1.0), top, bend)
    check_range(robot, move.reach)
    return move


def via_points(
    points: npt.ArrayLike,
    *,
    velocity: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    times: npt.ArrayLike | None = None,
    robot: Robot | None = None,
) -> Piecewise:
    """A move from rest to rest through all points, along the spline of degree five.

    Its first four derivatives are continuous. With limits instead of times, each leg takes its part
    of the time in the ratio its own limits suggest, and the whole is as short as the highest speed
    and acceleration found on it allow.

    Args:
        points: Two or more configurations, (m, n) [rad or m].
        velocity: Limit of speed, of all joints or (n,); None: none.
        acceleration: Limit of acceleration, likewise.
        times: When each point is passed, (m,), from 0 on [s]; instead of limits.
        robot: Whose joint limits the move must keep; None: no one's.

    Raises:
        TrajectoryError: Neither or both of times and limits are given, times do not increase, a
            point is there twice in a row, or a joint limit would be passed.
    """
    points = check_point("points", points, robot, many=True)
    if (times is None) == (velocity is None and acceleration is None):
        raise TrajectoryError(
            "give either the times of the points, or limits (velocity=, acceleration=) from which "
            "they follow"
        )
    if times is not None:
        t = check_increasing("times", times, TrajectoryError)
        expected = f"one for each of {counted(len(points), 'point')}, from 0 on"
        sound = len(t) == len(points) and t[0] == 0
        require(sound, "times", expected, times, TrajectoryError)
        move = _spline(t, points)
    else:
        top = check_limit("velocity", velocity, points.shape[1])
        bend = check_limit("acceleration", acceleration, points.shape[1])
        move = _within(_spline(_legs(points, top, bend), points), top, bend)
    check_range(robot, move.reach)
    return move


def _within(move: Piecewise, top: Array, bend: Array) -> Piecewise:
    """A move from rest to rest, as quick as limits of speed and acceleration allow."""
    speeds, bends = move.peaks()
    factor = max((speeds / top).max(), np.sqrt(bends / bend).max())
    return move.slowed((1 + MARGIN) * check_way(float(factor)))


def check_way(shortest: float) -> float:
    """A duration that follows from limits, or a TrajectoryError where nothing asks for any."""
    if not shortest > 0:
        raise TrajectoryError(
            "no joint that moves has a finite limit, so no duration follows from the limits; give "
            "duration=, or hold(q) where start and end are the same"
        )
    if shortest < SHORTEST_MOVE:
        raise TrajectoryError(f"the limits are so high that the move takes no time ({shortest:g})")
    if shortest > LONGEST_MOVE:
        raise TrajectoryError(f"the limits are so low that the move never ends ({shortest:g})")
    return shortest


def _pair(what: str, first: npt.ArrayLike, last: npt.ArrayLike, n: int) -> Array:
    return np.stack([check_rate(f"start_{what}", first, n), check_rate(f"end_{what}", last, n)])


def _check_ends(v: Array, a: Array, top: Array, bend: Array) -> None:
    for what, rates, limit in (("velocity", v, top), ("acceleration", a, bend)):
        for where, rate in zip(("start", "end"), rates, strict=True):
            for i in np.flatnonzero(np.abs(rate) > limit):
                raise TrajectoryError(
                    f"{where}_{what} of joint {i + 1} is {rate[i]:g}, beyond its limit {limit[i]:g}"
                )


def _shortest(
    lasting: Callable[[float], Piecewise], way: Array, v: Array, top: Array, bend: Array
) -> float:
    """The first duration that keeps the limits, from the shortest thinkable one on.

    With rates at the ends a longer move is not always a gentler one, so durations are tried in
    small steps; between the last that fails and the first that does not, the end of failure is
    bisected.
    """

    def fits(T: float) -> bool:
        speeds, bends = lasting(T).peaks()
        return bool((speeds <= top * (1 + MARGIN)).all() and (bends <= bend * (1 + MARGIN)).all())

    T = _bound(way, v, top, bend)
    if fits(T):
        return T
    for _ in range(MAX_TRIALS):
        low, T = T, TRIAL_RATIO * T
        if fits(T):
            break
    else:
        raise TrajectoryError(
            "no duration keeps the limits with these velocities and accelerations at the ends; "
            "lower them, raise the limits or give duration="
        )
    while T - low > DURATION_TOLERANCE * T:
        middle = (low + T) / 2
        low, T = (low, middle) if fits(middle) else (middle, T)
    return T


def _bound(way: Array, v: Array, top: Array, bend: Array) -> float:
    """A duration that no motion within the limits can undercut, or one that is surely too short."""
    speed = np.abs(v).max(0)
    # way ≤ speed T + bend T² / 2, without the difference of large numbers
    reach = 2 * way / (speed + np.sqrt(speed**2 + 2 * np.minimum(bend, 1e150) * way) + 1e-300)
    least = float(np.max([way / top, np.where(bend < math.inf, reach, 0.0), np.ptp(v, 0) / bend]))
    return least or check_way(1e-3 * float((speed / bend).max()))


def _legs(points: Array, top: Array, bend: Array) -> Array:
    """Times of the points in the ratio that the limits suggest for each leg."""
    way = np.abs(np.diff(points, axis=0))
    for k, leg in enumerate(way):
        if not leg.any():
            raise TrajectoryError(
                f"points {k + 1} and {k + 2} are the same, so no time between them follows from "
                "limits; leave one out or give times="
            )
    needed = np.maximum((way / top).max(1), np.sqrt(way / bend).max(1))
    check_way(float(needed.min()))
    return np.concatenate([[0.0], np.cumsum(needed)])


def _spline(t: Array, points: Array) -> Piecewise:
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415 (slow to import)

    rest = [(order, np.zeros(points.shape[1])) for order in (1, 2)]
    spline = make_interp_spline(t, points, k=5, bc_type=(rest, rest))
    rates = np.stack([spline(t, nu=1), spline(t, nu=2)])
    rates[:, [0, -1]] = 0.0
    # dry friction must not follow the sign of rounding
    rates[..., np.ptp(points, axis=0) == 0] = 0.0
    return hermite(t, points, *rates)


def hold(q: npt.ArrayLike, duration: float = 0.0, *, robot: Robot | None = None) -> Piecewise:
    """Rest at q (n,), which any motion does after its duration; so 0 is enough for ever."""
    q = check_point("q", q, robot)
    check_range(robot, lambda: (q, q))
    knots = [0.0] if real(duration) == 0 else [0.0, check_positive("duration", duration)]
    return Piecewise(np.array(knots), np.stack([[q, 0 * q, 0 * q]] * len(knots)))


def trapezoid(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    velocity: npt.ArrayLike,
    acceleration: npt.ArrayLike,
    duration: float | None = None,
    *,
    robot: Robot | None = None,
) -> Piecewise:
    """A move with constant acceleration, constant speed and constant deceleration.

    All joints have made the same part of their way at every instant, so the path is a straight
    line in the space of joints. Where it is too short for the top speed the profile is a triangle.

    Args:
        start: First configuration, (n,) [rad or m].
        end: Last configuration, (n,).
        velocity: Limit of speed, of all joints or (n,).
        acceleration: Limit of acceleration, likewise.
        duration: How long it takes [s]; None: as short as the limits allow. A longer one slows
            the whole profile down.
        robot: Whose joint limits the move must keep; None: no one's.

    Raises:
        TrajectoryError: The duration is too short for the limits, no duration follows from them,
            or a joint limit would be passed.
    """
    start = check_point("start", start, robot)
    end = check_point("end", end, len(start))
    check_range(robot, lambda: (np.minimum(start, end), np.maximum(start, end)))
    way = end - start
    if duration is not None and not way.any():
        return hold(start, duration)
    # of the part s of the way: 1 / the highest speed, 1 / the acceleration
    with np.errstate(over="ignore"):
        slow = float((np.abs(way) / check_limit("velocity", velocity, len(way))).max())
        lazy = float((np.abs(way) / check_limit("acceleration", acceleration, len(way))).max())
    check_way(max(slow, lazy))
    move = _profile(start, end, slow, check_way(lazy))
    if duration is None:
        return move.slowed(1 + MARGIN)
    wanted = check_positive("duration", duration)
    if wanted < move.duration * (1 - MARGIN):
        raise TrajectoryError(
            f"the limits allow this move in {move.duration:.6g} s at the shortest, "
            f"not in duration = {wanted:g}; take longer or raise the limits"
        )
    return move.slowed(wanted / move.duration)


def _profile(start: Array, end: Array, slow: float, lazy: float) -> Piecewise:
    """The shortest move; `slow` and `lazy` are 1 / the speed and 1 / the acceleration of s."""
    top = 1 / max(slow, math.sqrt(lazy))
    ramp = top * lazy
    cruise = 1 / top - ramp if slow > math.sqrt(lazy) else 0.0
    half = top * ramp / 2
    speeding = [0.0, 0.0, half]
    cruising = [half, top * cruise, 0.0]
    slowing = [1 - half, 2 * half, -half]
    end_state = [1.0, 0.0, -half / ramp**2]
    law = np.array([speeding, cruising, slowing, end_state])
    kept = [0, 1, 2, 3] if cruise else [0, 2, 3]
    pieces = law[kept, :, None] * (end - start)
    pieces[:, 0] += start
    pieces[-1, 0] = end
    return Piecewise(np.cumsum([0.0, ramp, cruise, ramp])[kept], pieces)


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
