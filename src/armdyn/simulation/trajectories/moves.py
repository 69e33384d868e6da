"""Moves from one configuration to another, and rest."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.errors import TrajectoryError
from armdyn.simulation.trajectories.checks import (
    check_limit,
    check_point,
    check_positive,
    check_range,
    check_rate,
    joints_of,
)
from armdyn.simulation.trajectories.piecewise import MARGIN, Piecewise, hermite

_SPEED = 15 / 8
"""Highest speed of a quintic move from rest to rest over way 1 in time 1."""
_BEND = 10 / math.sqrt(3)
"""Its highest acceleration."""
_STEP = 1.03
"""Ratio of the durations that are tried one after the other."""
_TRIALS = 600


def hold(q: npt.ArrayLike, duration: float = 0.0, *, robot: Robot | None = None) -> Piecewise:
    """Rest at q (n,); after its duration a motion rests anyway."""
    q = check_point("q", q, joints_of(robot))
    length = check_positive("duration", duration) if duration != 0 else 0.0
    check_range(robot, q, q)
    state = np.zeros((3, len(q)))
    state[0] = q
    return Piecewise(np.array([0.0, length]), np.stack([state, state])) if length else Piecewise(
        np.zeros(1), state[None]
    )


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
    start = check_point("start", start, joints_of(robot))
    end = check_point("end", end, len(start))
    n = len(start)
    v = np.stack(
        [
            check_rate("start_velocity", start_velocity, n),
            check_rate("end_velocity", end_velocity, n),
        ]
    )
    a = np.stack(
        [
            check_rate("start_acceleration", start_acceleration, n),
            check_rate("end_acceleration", end_acceleration, n),
        ]
    )

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
        limits = check_limit("velocity", velocity, n), check_limit("acceleration", acceleration, n)
        way = np.abs(end - start)
        if v.any() or a.any():
            move = lasting(_search(lasting, way, v, a, *limits))
        else:
            shortest = max((_SPEED * way / limits[0]).max(), np.sqrt(_BEND * way / limits[1]).max())
            move = lasting((1 + MARGIN) * _some(shortest))
    check_range(robot, *move.reach())
    return move


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
    line in the space of joints; where the way is too short for the top speed the profile is a
    triangle.

    Args:
        start: First configuration, (n,) [rad or m].
        end: Last configuration, (n,).
        velocity: Limit of speed, of all joints or (n,).
        acceleration: Limit of acceleration, likewise.
        duration: How long it takes [s]; None: as short as the limits allow. A longer one slows
            the whole profile down.
        robot: Whose joint limits the move must keep; None: no one's.

    Raises:
        TrajectoryError: The duration is too short for the limits, the move has no length, or a
            joint limit would be passed.
    """
    start = check_point("start", start, joints_of(robot))
    end = check_point("end", end, len(start))
    way = end - start
    with np.errstate(divide="ignore"):
        top = float((check_limit("velocity", velocity, len(way)) / np.abs(way)).min())
        rise = float((check_limit("acceleration", acceleration, len(way)) / np.abs(way)).min())
    check_range(robot, *np.sort([start, end], axis=0))
    if rise == math.inf:
        _some(0.0 if not way.any() else math.nan)
    top = min(top, math.sqrt(rise))
    ramp = top / rise
    cruise = max(1 / top - ramp, 0.0)
    law = np.array([[0.0, 0.0, 1.0], [ramp / 2 * top, top * cruise, 0.0]])
    law = np.array(
        [
            [0.0, 0.0, top * ramp / 2],
            [top * ramp / 2, top * cruise, 0.0],
            [1 - top * ramp / 2, top * ramp, -top * ramp / 2],
            [1.0, 0.0, -rise / 2],
        ]
    )
    knots = np.cumsum([0.0, ramp, cruise, ramp])
    kept = np.array([True, cruise > 1e-9 * ramp, True, True])
    pieces = law[kept, :, None] * way
    pieces[:, 0] += start
    pieces[-1, 0] = end
    move = Piecewise(knots[kept], pieces)
    if duration is None:
        return move.slowed(1 + MARGIN)
    wanted = check_positive("duration", duration)
    if wanted < move.duration * (1 - MARGIN):
        raise TrajectoryError(
            f"the limits allow the move in {move.duration:.6g} s at the shortest, "
            f"so not in duration = {wanted:g}"
        )
    return move.slowed(wanted / move.duration)
