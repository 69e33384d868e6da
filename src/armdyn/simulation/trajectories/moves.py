"""Rest, and moves with trapezoidal speed."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, real
from armdyn.errors import TrajectoryError
from armdyn.robot import Robot
from armdyn.simulation.checks import check_limit, check_point, check_positive, check_range
from armdyn.simulation.trajectories.piecewise import MARGIN, Piecewise
from armdyn.simulation.trajectories.polynomial import check_way


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
    speeding, cruising = [0.0, 0.0, half], [half, top * cruise, 0.0]
    slowing, end_state = [1 - half, 2 * half, -half], [1.0, 0.0, -half / ramp**2]
    law = np.array([speeding, cruising, slowing, end_state])
    kept = [0, 1, 2, 3] if cruise else [0, 2, 3]
    pieces = law[kept, :, None] * (end - start)
    pieces[:, 0] += start
    pieces[-1, 0] = end
    return Piecewise(np.cumsum([0.0, ramp, cruise, ramp])[kept], pieces)
