"""Checks of the arguments of trajectories."""

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_joint_vector, frozen
from armdyn.dynamics import Robot
from armdyn.errors import ShapeError, TrajectoryError

LIMIT_ROUNDING = 1e-12
"""A joint so little outside its limits counts as at them [rad or m]."""


def check_point(what: str, value: npt.ArrayLike, n: int | None = None) -> Array:
    """A finite configuration (n,), of any n if None."""
    point = check_joint_vector(what, value, n or _length(value))
    if point.ndim != 1 or not point.size:
        raise ShapeError(f"{what}: expected one configuration, shape (n,), got {point.shape}")
    return frozen(_finite(what, point))


def check_points(what: str, value: npt.ArrayLike, n: int | None = None) -> Array:
    """Two or more finite configurations (m, n), of any n if None."""
    points = check_joint_vector(what, value, n or _length(value))
    if points.ndim != 2 or len(points) < 2 or not points.size:
        raise ShapeError(
            f"{what}: expected two or more configurations, shape (m, n), got {points.shape}"
        )
    return frozen(_finite(what, points))


def check_rate(what: str, value: npt.ArrayLike, n: int) -> Array:
    """A finite rate of each joint (n,); a number is the rate of all."""
    return _finite(what, check_joint_vector(what, _for_all(value, n), n))


def check_limit(what: str, value: npt.ArrayLike | None, n: int) -> Array:
    """A positive limit of each joint (n,); a number is that of all, None and infinity are none."""
    if value is None:
        return np.full(n, math.inf)
    limit = check_joint_vector(what, _for_all(value, n), n)
    if limit.ndim != 1:
        raise ShapeError(f"{what}: expected a number or shape ({n},), got shape {limit.shape}")
    if not (limit > 0).all():
        raise TrajectoryError(
            f"{what}: a limit must be positive, got {limit.tolist()}; leave it out for none"
        )
    return limit


def check_positive(what: str, value: Any, unit: str = "s") -> float:
    """A positive finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str | bool) or not 0 < number < math.inf:
        raise TrajectoryError(f"{what}: expected a positive number [{unit}], got {value!r}")
    return number


def check_times(value: npt.ArrayLike) -> Array:
    """Times of any shape; NaN goes through."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"t: expected real numbers [s], got {value!r}") from None


def check_range(robot: Robot | None, low: Array, high: Array) -> None:
    """A TrajectoryError if the positions between low and high (n,) leave the limits of a robot."""
    if robot is None:
        return
    for name, (lower, upper), least, most in zip(
        robot.joint_names, robot.limits, low, high, strict=True
    ):
        for found, beyond in ((least, lower - least), (most, most - upper)):
            if beyond > LIMIT_ROUNDING:
                raise TrajectoryError(
                    f"joint {name!r} would go to {found:.6g}, outside its limits "
                    f"[{lower:g}, {upper:g}], by {beyond:.3g}; choose other positions"
                )


class _Reaching(Protocol):
    def reach(self) -> tuple[Array, Array]: ...


def check_motion(robot: Robot | None, motion: _Reaching) -> None:
    """A TrajectoryError if a motion leaves the limits of a robot at any instant."""
    if robot is not None:
        check_range(robot, *motion.reach())


def joints_of(robot: Robot | None) -> int | None:
    """How many coordinates a configuration has; None: any number."""
    return None if robot is None else robot.n


def _length(value: npt.ArrayLike) -> int:
    try:
        return np.shape(value)[-1]
    except (ValueError, IndexError):
        return 1


def _for_all(value: npt.ArrayLike, n: int) -> npt.ArrayLike:
    return np.full(n, value) if np.ndim(value) == 0 else value


def _finite(what: str, values: Array) -> Array:
    if not np.isfinite(values).all():
        raise TrajectoryError(f"{what}: expected finite numbers, got {values.tolist()}")
    return values
