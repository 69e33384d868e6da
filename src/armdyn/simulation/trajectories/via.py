"""Moves through several configurations."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.errors import ShapeError, TrajectoryError
from armdyn.simulation.trajectories.checks import check_limit, check_motion, check_points, joints_of
from armdyn.simulation.trajectories.piecewise import MARGIN, Piecewise, hermite
from armdyn.simulation.trajectories.polynomial import check_way


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
    points = check_points("points", points, joints_of(robot))
    if (times is None) == (velocity is None and acceleration is None):
        raise TrajectoryError(
            "give either the times of the points, or limits (velocity=, acceleration=) from which "
            "they follow"
        )
    if times is not None:
        move = _spline(_check_increasing(times, len(points)), points)
    else:
        top = check_limit("velocity", velocity, points.shape[1])
        bend = check_limit("acceleration", acceleration, points.shape[1])
        move = _spline(_legs(points, top, bend), points)
        speeds, bends = move.peaks()
        factor = max((speeds / top).max(), np.sqrt(bends / bend).max())
        move = move.slowed((1 + MARGIN) * factor)
    check_motion(robot, move)
    return move


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


def _check_increasing(times: npt.ArrayLike, count: int) -> Array:
    try:
        t = np.asarray(times, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"times: expected {count} numbers [s], got {times!r}") from None
    if t.shape != (count,):
        raise ShapeError(f"times: expected one for each of {count} points, got shape {t.shape}")
    if not np.isfinite(t).all() or t[0] != 0:
        raise TrajectoryError(f"times: expected finite numbers from 0 on, got {t.tolist()}")
    for k, (before, after) in enumerate(pairwise(t)):
        if not after > before:
            raise TrajectoryError(
                f"times must increase from point to point, but point {k + 2} at {after:g} s "
                f"follows point {k + 1} at {before:g} s"
            )
    return t


def _spline(t: Array, points: Array) -> Piecewise:
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415 (slow to import)

    rest = [(order, np.zeros(points.shape[1])) for order in (1, 2)]
    spline = make_interp_spline(t, points, k=5, bc_type=(rest, rest))
    rates = np.stack([spline(t, nu=1), spline(t, nu=2)])
    rates[:, [0, -1]] = 0.0
    # dry friction must not follow the sign of rounding
    rates[..., np.ptp(points, axis=0) == 0] = 0.0
    return hermite(t, points, *rates)
