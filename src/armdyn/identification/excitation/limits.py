"""What a motion must keep: limits of position, speed, acceleration and torque of each coordinate.

They are those of the robot unless others are given. A joint that follows another one limits it: its
limits, taken back through the ratio, are those of its leader too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen
from armdyn.errors import ExcitationError, UnknownNameError, counted, shown
from armdyn.model import Limits
from armdyn.robot import Robot
from armdyn.simulation.checks import check_limit

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
        """The share of each limit that motions and torques (..., n) use, with their signs."""
        return {
            "position": (q - self.middle) / self.room,
            "speed": qd / self.speed,
            "acceleration": qdd / self.acceleration,
            "torque": tau / self.torque,
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
        _each(robot, "speed", speed, [x.velocity for x in own]),
        _each(robot, "acceleration", acceleration, [np.inf] * robot.n),
        _each(robot, "torque", torque, [x.effort for x in own]),
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
    if model.coupling is None:
        return Limits(lower, upper, speed, effort)
    ratios, offsets = model.coupling
    for follower, ratio, offset in zip(model.joints, ratios[:, coordinate], offsets, strict=True):
        if follower.mimic is not None and ratio:
            bounds = follower.limits.lower, follower.limits.upper
            first, last = sorted((bound - offset) / ratio for bound in bounds)
            lower, upper = max(lower, first), min(upper, last)
            speed = min(speed, (follower.limits.velocity or np.inf) / abs(ratio))
    return Limits(lower, upper, speed, effort)


def _ranges(robot: Robot, given: GivenRange, own: Array) -> Array:
    """Lowest and highest positions, (n, 2)."""
    try:
        found = np.asarray(_named(robot, "position", given, own), dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (robot.n, 2) or np.isnan(found).any():
        raise ExcitationError(
            f"position: expected lowest and highest positions of {counted(robot.n, 'joint')}, "
            f"shape ({robot.n}, 2), or of some joints by their names, got {shown(given)}"
        )
    return found


def _each(robot: Robot, what: str, given: Given, own: Sequence[float]) -> Array:
    """A positive limit of each joint, (n,)."""
    chosen = _named(robot, what, given, own)
    return frozen(check_limit(what, chosen, robot.n, ExcitationError, "that of the robot"))


def _named(robot: Robot, what: str, given: Any, own: Any) -> Any:
    """What is given for all joints; or their own, with those that are given by name."""
    if not isinstance(given, Mapping):
        return own if given is None else given
    values = list(own)
    for name, value in given.items():
        if name not in robot.joint_names:
            known = robot.joint_names
            raise UnknownNameError(f"{what}: joint of {robot.name!r} named", name, known)
        values[robot.joint_names.index(str(name))] = value
    return values


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
