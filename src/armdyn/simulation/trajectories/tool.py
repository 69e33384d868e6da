"""Motions of the tool: straight lines and circles in space, followed by a law of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant
from armdyn.errors import TrajectoryError
from armdyn.formulations.spatial import cross, rotate
from armdyn.model.transform import check_transform, rotation_from_vector, rotation_vector
from armdyn.simulation.checks import check_positive
from armdyn.simulation.trajectories.moves import quintic
from armdyn.simulation.trajectories.piecewise import Piecewise


class ToolMotion(NamedTuple):
    """Where the tool is and how it moves, in world axes."""

    pose: Array
    """Its place, (..., 4, 4) [m]."""
    twist: Array
    """Velocity of its origin and angular velocity, (..., 6) [m/s, rad/s]."""
    rate: Array
    """Acceleration of its origin and angular acceleration, (..., 6) [m/s², rad/s²]."""


@dataclass(frozen=True, slots=True, eq=False)
class ToolPath:
    """A way of the tool over the part s of it, from 0 to 1: a straight line, or an arc."""

    start: Array
    """Pose at the start, (4, 4)."""
    way: Array
    """How far it goes straight on, (3,) [m]."""
    turn: Array
    """Axis times angle by which it turns on the way, (3,) [rad]."""
    arc: Array
    """Axis times angle by which it goes round a centre, (3,) [rad]."""
    centre: Array
    """That centre, (3,) [m]."""

    @property
    def size(self) -> float:
        """How long it is [m]; how far the tool turns if it only turns [rad]."""
        first = self.way + np.cross(self.arc, self.start[:3, 3] - self.centre)
        return float(np.linalg.norm(first)) or float(np.linalg.norm(self.turn))

    def __call__(self, s: Array) -> ToolMotion:
        """The tool at parts s (...) of the way, with derivatives by s in place of rates."""
        along = s[..., None]
        arm = self.start[:3, 3] - self.centre
        if self.arc.any():
            arm = rotate(rotation_from_vector(along * self.arc), arm)
        pose = np.zeros((*s.shape, 4, 4))
        pose[..., :3, :3] = rotation_from_vector(along * self.turn) @ self.start[:3, :3]
        pose[..., :3, 3] = self.centre + arm + along * self.way
        pose[..., 3, 3] = 1.0
        twist, bend = np.zeros((2, *s.shape, 6))
        round_it = cross(self.arc, arm)
        twist[..., :3] = self.way + round_it
        twist[..., 3:] = self.turn
        bend[..., :3] = cross(self.arc, round_it)
        return ToolMotion(pose, twist, bend)


@dataclass(frozen=True, slots=True, eq=False)
class AlongPath:
    """A path of the joints or of the tool, followed by a law of time s(t)."""

    path: Any
    """A `Motion` or a `ToolMotion` over the part s of the way, from 0 to 1."""
    law: Piecewise
    """s over time, of one coordinate."""

    @property
    def n(self) -> int:
        """Number of coordinates, of a path of joints."""
        return int(self.path.n)

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return self.law.duration

    def __call__(self, t: npt.ArrayLike) -> Any:
        """Positions (or the pose), velocities and accelerations at times of any shape [s]."""
        s, sd, sdd = self.law(t)
        at = self.path(s[..., 0])
        return type(at)(at[0], at[1] * sd, at[2] * sd**2 + at[1] * sdd)


def tool_line(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    *,
    duration: float | None = None,
    speed: float | None = None,
    acceleration: float | None = None,
) -> AlongPath:
    """A tool that moves in a straight line from one pose to another, from rest to rest.

    Start and end are transforms (4, 4) in the world. It turns about one axis in proportion to the
    way. The other arguments are those of `cartesian_line`.
    """
    T = check_transform("start", start)
    goal = check_transform("end", end)
    turn = rotation_vector(goal[:3, :3] @ T[:3, :3].T)
    line = straight(T, goal[:3, 3] - T[:3, 3], turn)
    return AlongPath(line, law_of_time(line, duration, speed, acceleration))


def straight(start: Array, way: Array, turn: Array) -> ToolPath:
    """A straight line from a pose (4, 4) on, with a turn about one axis, (3,) each."""
    return ToolPath(start, way, turn, np.zeros(3), start[:3, 3])


def tool_circle(
    start: npt.ArrayLike,
    centre: npt.ArrayLike,
    axis: npt.ArrayLike,
    angle: float = 2 * np.pi,
    *,
    turns: bool = False,
    duration: float | None = None,
    speed: float | None = None,
    acceleration: float | None = None,
) -> AlongPath:
    """A tool that moves on an arc of a circle, from rest to rest.

    Args:
        start: Its pose at the start, (4, 4) in the world.
        centre: Centre of the circle in the world, (3,) [m].
        axis: Direction about which it goes round, (3,).
        angle: How far it goes round, a whole turn by default [rad].
        turns: Whether the tool turns with the arc; otherwise it keeps its orientation.
        duration: How long it takes [s]; None: as short as the limits allow.
        speed: Limit of the speed along the arc [m/s].
        acceleration: Limit of the acceleration along the arc [m/s²].
    """
    direction = check_constant("axis", axis, (3,))
    length = float(np.linalg.norm(direction))
    if not length:
        raise TrajectoryError("axis: expected a direction, got the vector zero")
    arc = check_constant("angle", angle, ()) * direction / length
    middle = check_constant("centre", centre, (3,))
    circle = ToolPath(check_transform("start", start), np.zeros(3), turns * arc, arc, middle)
    return AlongPath(circle, law_of_time(circle, duration, speed, acceleration))


def law_of_time(
    path: ToolPath, duration: float | None, speed: float | None, acceleration: float | None
) -> Piecewise:
    """s(t) from rest to rest on a path, in a duration [s] or within limits of the tool."""
    size = path.size
    if not size:
        raise TrajectoryError("the tool is already there: a line needs another position or turn")
    if (duration is None) == (speed is None and acceleration is None):
        raise TrajectoryError(
            "give either the duration of a line, or limits (speed=, acceleration=) of the tool"
        )
    top = None if speed is None else check_positive("speed", speed, "m/s") / size
    bend = None
    if acceleration is not None:
        bend = check_positive("acceleration", acceleration, "m/s²") / size
    return quintic([0.0], [1.0], duration, velocity=top, acceleration=bend)
