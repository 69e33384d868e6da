"""Checks of the arguments of trajectories and simulations."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_joint_vector, frozen
from armdyn.errors import ArmdynError, ShapeError, TrajectoryError, require, shown
from armdyn.robot import Robot, check_robot

LIMIT_ROUNDING = 1e-12
"""A joint so little outside its limits counts as at them [rad or m]."""
TIME_ROUNDING = 1e-11
"""Share by which the last time of a table may be short: files have twelve digits of it."""


def floats(value: npt.ArrayLike | None) -> Array:
    """Numbers as an array; NaN if they are none, or if some are masked."""
    try:
        return np.array(np.nan) if np.ma.is_masked(value) else np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def check_point(
    what: str, value: npt.ArrayLike, joints: Robot | int | None = None, many: bool = False
) -> Array:
    """A finite configuration (n,) of a robot or of n joints, of any n if None; many: (m, n)."""
    joints = np.atleast_1d(floats(value)).shape[-1] if joints is None else joints
    n = joints if isinstance(joints, int) and 0 <= joints < 10**6 else check_robot(joints, True).n
    points = check_joint_vector(what, value, n or 1)
    if points.ndim != 1 + many or not points.size or len(points) < 1 + many:
        wanted = ("one configuration, shape (n,)", "two or more configurations, shape (m, n)")[many]
        raise ShapeError(f"{what}: expected {wanted}, got {points.shape}")
    return frozen(check_finite(what, points))


def check_rate(what: str, value: npt.ArrayLike, n: int) -> Array:
    """A finite rate of each joint (n,); a number is the rate of all."""
    return check_finite(what, _for_all(what, value, n))


def check_limit(
    what: str,
    value: npt.ArrayLike | None,
    n: int,
    error: type[ArmdynError] = TrajectoryError,
    otherwise: str = "none",
) -> Array:
    """A positive limit of each joint (n,); a number is that of all, None and infinity are none."""
    if value is None:
        return np.full(n, math.inf)
    limit = _for_all(what, value, n)
    if not (limit > 0).all():
        raise error(
            f"{what}: a limit must be positive, got {limit.tolist()}; leave it out for {otherwise}"
        )
    return limit


def check_each(
    what: str,
    value: npt.ArrayLike,
    n: int,
    error: type[ArmdynError],
    unit: str = "",
    *,
    zero: bool = False,
) -> Array:
    """A positive number of each joint, (n,), from one for all or one for each; or zero."""
    numbers = floats(value)
    inside = np.isfinite(numbers) & (numbers >= 0 if zero else numbers > 0)
    fits = inside.all() and numbers.shape in ((), (1,), (n,))
    if not fits or np.asarray(value).dtype.kind == "b":
        raise error(
            f"{what}: expected a number that is {'not negative' if zero else 'positive'}, or {n} "
            f"of them, one for each joint{f' [{unit}]' if unit else ' or direction'}, got "
            f"{shown(value)}"
        )
    return np.array(np.broadcast_to(numbers, (n,)))


def check_increasing(what: str, value: npt.ArrayLike, error: type[ArmdynError]) -> Array:
    """Times that increase, (m,)."""
    times = floats(value)
    if times.ndim != 1 or not times.size or not np.isfinite(times).all():
        raise error(f"{what}: expected finite times of shape (m,) [s], got {shown(value)}")
    for k in np.flatnonzero(np.diff(times) <= 0) + 1:
        word = "stands still" if times[k] == times[k - 1] else "goes backwards"
        raise error(
            f"{what}: time {word} at row {k}, from {times[k - 1]:.9g} to {times[k]:.9g} s; sort "
            "the rows, and leave out those that come twice"
        )
    return times


def check_positive(what: str, value: Any, unit: str = "s") -> float:
    """A positive finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    sound = not isinstance(value, str | bool) and 0 < number < math.inf
    require(sound, what, f"a positive number [{unit}]", value, TrajectoryError)
    return number


def check_times(value: npt.ArrayLike) -> Array:
    """Times of any shape; NaN goes through."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"t: expected real numbers [s], got {shown(value)}") from None


def check_range(robot: Robot | None, reach: Callable[[], tuple[Array, Array]]) -> None:
    """A TrajectoryError if lowest or highest positions (n,) are beyond the limits of a robot."""
    if robot is None:
        return
    for name, (lower, upper), least, most in zip(
        robot.joint_names, robot.limits, *reach(), strict=True
    ):
        for found, beyond in ((least, lower - least), (most, most - upper)):
            if beyond > LIMIT_ROUNDING:
                raise TrajectoryError(
                    f"joint {name!r} would go to {found:.6g}, outside its limits "
                    f"[{lower:g}, {upper:g}], by {beyond:.3g}; choose other positions"
                )


def _for_all(what: str, value: npt.ArrayLike, n: int) -> Array:
    """A number of each joint (n,), from one for each or one for all."""
    with suppress(ValueError):  # numbers and lists mixed, which the check of the numbers refuses
        value = np.full(n, value) if np.ndim(value) == 0 else value
    numbers = check_joint_vector(what, value, n)
    if numbers.ndim != 1:
        raise ShapeError(f"{what}: expected a number or shape ({n},), got shape {numbers.shape}")
    return numbers


def check_finite(what: str, values: Array) -> Array:
    """The values, all of which are finite."""
    if not np.isfinite(values).all():
        raise TrajectoryError(f"{what}: expected finite numbers, got {values.tolist()}")
    return values
