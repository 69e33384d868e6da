"""What a motion must keep: limits of position, speed, acceleration and torque of each coordinate.

They are those of the robot unless others are given. A joint that follows another one limits it: its
limits, taken back through the ratio, are those of its leader too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen, record
from armdyn.errors import ExcitationError, UnknownNameError, counted, require
from armdyn.robot import Robot
from armdyn.simulation.checks import check_limit, floats

Given = npt.ArrayLike | Mapping[str, float] | None
"""A limit for all joints, one for each, or some by the names of the joints."""
GivenRange = Sequence[Sequence[float]] | Array | Mapping[str, Sequence[float]] | None
"""Lowest and highest position of each joint, (n, 2), or of some by their names."""


@record(eq=False)
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
    own, speeds, efforts = _own_limits(robot)
    low, high = _ranges(robot, position, own).T
    found = MotionLimits(
        frozen(low),
        frozen(high),
        _each(robot, "speed", speed, speeds),
        _each(robot, "acceleration", acceleration, np.full(robot.n, np.inf)),
        _each(robot, "torque", torque, efforts),
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


def _own_limits(robot: Robot) -> tuple[Array, Array, Array]:
    """Positions (n, 2), speeds and torques (n,) of the coordinates and of what follows them."""
    ranges = np.sort(robot.limits, axis=1)
    speed = robot.velocity_limits.copy()
    ratios, offsets = robot.model.coupling or ((), ())
    for joint, row, offset in zip(robot.model.joints, ratios, offsets, strict=False):
        for i in np.flatnonzero(row) if joint.mimic is not None else ():
            bounds = joint.limits.lower, joint.limits.upper
            first, last = sorted((bound - offset) / row[i] for bound in bounds)
            ranges[i] = max(ranges[i, 0], first), min(ranges[i, 1], last)
            speed[i] = min(speed[i], (joint.limits.velocity or np.inf) / abs(row[i]))
    return ranges, speed, robot.effort_limits


def _ranges(robot: Robot, given: GivenRange, own: Array) -> Array:
    """Lowest and highest positions, (n, 2)."""
    found = floats(_named(robot, "position", given, own))
    expected = f"lowest and highest positions of {counted(robot.n, 'joint')}, "
    expected += f"shape ({robot.n}, 2), or of some joints by their names"
    sound = found.shape == (robot.n, 2) and not np.isnan(found).any()
    require(sound, "position", expected, given, ExcitationError)
    return found


def _each(robot: Robot, what: str, given: Given, own: Array) -> Array:
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
