"""What a motion must keep: limits of position, speed, acceleration and torque of each coordinate.

They are those of the robot unless others are given. A joint that follows another one limits it: its
limits, taken back through the ratio, are those of its leader too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_joint_vector, frozen
from armdyn.errors import ExcitationError, UnknownNameError, counted, shown
from armdyn.model import Limits
from armdyn.robot import Robot

Given = npt.ArrayLike | Mapping[str, float] | None
"""A limit for all joints, one for each, or some by the names of the joints."""
GivenRange = Sequence[Sequence[float]] | Array | Mapping[str, Sequence[float]] | None
"""Lowest and highest position of each joint, (n, 2), or of some by their names."""


@dataclass(frozen=True, slots=True, eq=False)
class MotionLimits:
    """Limits of n coordinates, each (n,) [rad or m, per s, s²; N m or N]."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    """Infinite where there is none."""
    torque: Array
    """Infinite where there is none."""

    @property
    def middle(self) -> Array:
        """The middle of the positions."""
        return 0.5 * (self.lower + self.upper)

    @property
    def room(self) -> Array:
        """How far positions go to either side of the middle."""
        return 0.5 * (self.upper - self.lower)

    def shares(self, q: Array, qd: Array, qdd: Array, tau: Array) -> dict[str, Array]:
        """The largest share of each limit that motions and torques (m, n) use, each (n,)."""
        return {
            "position": np.abs((q - self.middle) / self.room).max(0),
            "speed": np.abs(qd / self.speed).max(0),
            "acceleration": np.abs(qdd / self.acceleration).max(0),
            "torque": np.abs(tau / self.torque).max(0),
        }

    def within(self, share: float) -> "MotionLimits":
        """Limits of which only a share is used, positions about their middle."""
        room = share * self.room
        rates = (share * limit for limit in (self.speed, self.acceleration, self.torque))
        return MotionLimits(self.middle - room, self.middle + room, *rates)


def motion_limits(
    robot: Robot, position: GivenRange, speed: Given, acceleration: Given, torque: Given
) -> MotionLimits:
    """The limits of a robot, those that are given before its own.

    Raises:
        ExcitationError: A joint has no limits of position or no limit of speed, or no room.
    """
    own = [_limits(robot, i) for i in range(robot.n)]
    low, high = _ranges(robot, position, np.array([(x.lower, x.upper) for x in own])).T
    found = MotionLimits(
        frozen(low),
        frozen(high),
        _each(robot, "speed", speed, np.array([x.velocity for x in own])),
        _each(robot, "acceleration", acceleration, np.full(robot.n, np.inf)),
        _each(robot, "torque", torque, np.array([x.effort for x in own])),
    )
    _check_there(robot, "position", np.isfinite(low) & np.isfinite(high))
    _check_there(robot, "speed", np.isfinite(found.speed))
    for name, lower, upper in zip(robot.joint_names, low, high, strict=True):
        if not lower < upper:
            raise ExcitationError(
                f"joint {name!r}: its positions go from {lower:g} to {upper:g}, so that it cannot "
                "move; give other limits of position, or lock it with with_locked"
            )
    return found


def _limits(robot: Robot, coordinate: int) -> Limits:
    """The limits of a coordinate: of its own joint, and of those that follow it."""
    model = robot.model
    joint = model.joints[model.independent[coordinate]].limits
    lower, upper = sorted((joint.lower, joint.upper))
    # zero is written where a limit is not known
    speed, effort = joint.velocity or np.inf, joint.effort or np.inf
    if model.coupling is not None:
        ratios, offsets = model.coupling
        for follower, ratio, offset in zip(
            model.joints, ratios[:, coordinate], offsets, strict=True
        ):
            if follower.mimic is not None and ratio:
                ends = sorted(
                    (
                        (follower.limits.lower - offset) / ratio,
                        (follower.limits.upper - offset) / ratio,
                    )
                )
                lower, upper = max(lower, ends[0]), min(upper, ends[1])
                speed = min(speed, (follower.limits.velocity or np.inf) / abs(ratio))
    return Limits(lower, upper, speed, effort)


def _ranges(robot: Robot, given: GivenRange, own: Array) -> Array:
    """Lowest and highest positions, (n, 2)."""
    if given is None:
        return own
    pairs: list[Any] = list(own)
    if isinstance(given, Mapping):
        for name, pair in given.items():
            pairs[_index(robot, "position", name)] = pair
    else:
        pairs = list(given)
    try:
        found = np.asarray(pairs, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (robot.n, 2) or np.isnan(found).any():
        raise ExcitationError(
            f"position: expected lowest and highest positions of {counted(robot.n, 'joint')}, "
            "shape "
            f"({robot.n}, 2), or of some joints by their names, got {shown(given)}"
        )
    return found


def _each(robot: Robot, what: str, given: Given, own: Array) -> Array:
    """A positive limit of each joint, (n,)."""
    if given is None:
        return frozen(own)
    if isinstance(given, Mapping):
        values = own.copy()
        for name, value in given.items():
            values[_index(robot, what, name)] = _number(robot, what, value)[0]
    else:
        values = _number(robot, what, given)
    if not (values > 0).all():
        raise ExcitationError(
            f"{what}: a limit must be positive, got {shown(given)}; leave it out for that of the "
            "robot"
        )
    return frozen(values)


def _number(robot: Robot, what: str, given: Any) -> Array:
    """One number for all joints, or one for each, (n,)."""
    if np.ndim(given) == 0:
        given = [given] * robot.n
    values = check_joint_vector(what, given, robot.n)
    if values.ndim != 1:
        raise ExcitationError(f"{what}: expected one limit a joint, got shape {values.shape}")
    return values


def _index(robot: Robot, what: str, name: object) -> int:
    if name not in robot.joint_names:
        raise UnknownNameError(f"{what}: joint of {robot.name!r} named", name, robot.joint_names)
    return robot.joint_names.index(str(name))


def _check_there(robot: Robot, what: str, known: Array) -> None:
    missing = [name for name, there in zip(robot.joint_names, known, strict=True) if not there]
    if not missing:
        return
    example = f'{{"{missing[0]}": {"(-1.5, 1.5)" if what == "position" else "1.0"}}}'
    flag = f"--{what} {missing[0]}={'-1.5:1.5' if what == 'position' else '1.0'}"
    raise ExcitationError(
        f"robot {robot.name!r} has no limit{'s' * (what == 'position')} of {what} of "
        f"{', '.join(missing)}, without which a motion is not safe; give {what}={example} "
        f"({flag}), or one for each joint"
    )
