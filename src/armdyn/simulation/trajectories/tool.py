"""Motions of the tool: straight lines and circles in space, followed by a law of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

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


class ToolPath(Protocol):
    """A way of the tool over the part s of it, from 0 to 1."""

    def pose(self, s: Array) -> Array:
        """Where the tool is at parts s (...), (..., 4, 4)."""
        ...

    def slopes(self, s: Array) -> tuple[Array, Array]:
        """The twist for s' = 1, and its derivative, (..., 6) each."""
        ...

    @property
    def size(self) -> float:
        """How long it is [m]; how far the tool turns if it only turns [rad]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ToolLine:
    """A straight line on which the tool turns about one axis."""

    start: Array
    """Position at the start, (3,) [m]."""
    way: Array
    """From the start to the end, (3,) [m]."""
    R: Array
    """Rotation at the start, (3, 3)."""
    turn: Array
    """Axis times angle of the turn on the way, (3,) [rad]."""
    free: bool = False
    """Whether the orientation does not matter."""

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of the Jacobian that the line prescribes."""
        return tuple(range(3 if self.free else 6))

    @property
    def twist(self) -> Array:
        """Change of the prescribed coordinates with s, constant on the line, (3,) or (6,)."""
        return np.concatenate([self.way, self.turn])[: len(self.rows)]

    @property
    def size(self) -> float:
        """How long it is [m]; how far the tool turns if it only turns [rad]."""
        return float(np.linalg.norm(self.way)) or float(np.linalg.norm(self.turn))

    def pose(self, s: Array) -> Array:
        """Where the tool is at parts s (...) of the way, (..., 4, 4)."""
        s = s[..., None]
        return _poses(rotation_from_vector(s * self.turn) @ self.R, self.start + s * self.way)

    def slopes(self, s: Array) -> tuple[Array, Array]:
        """The twist for s' = 1, which is constant, and its derivative."""
        twist = np.concatenate([self.way, self.turn])
        return np.broadcast_to(twist, (*s.shape, 6)), np.zeros((*s.shape, 6))


@dataclass(frozen=True, slots=True, eq=False)
class ToolCircle:
    """An arc of a circle; the tool turns with it, or keeps its orientation."""

    start: Array
    """Pose at the start, (4, 4)."""
    centre: Array
    """Centre of the circle, (3,) [m]."""
    turn: Array
    """Axis times angle of the arc, (3,) [rad]."""
    turns: bool
    """Whether the tool turns with the arc."""

    @property
    def size(self) -> float:
        """Length of the arc [m]."""
        return float(np.linalg.norm(np.cross(self.turn, self.start[:3, 3] - self.centre)))

    def pose(self, s: Array) -> Array:
        """Where the tool is at parts s (...) of the way, (..., 4, 4)."""
        Q, R = rotation_from_vector(s[..., None] * self.turn), self.start[:3, :3]
        place = self.centre + rotate(Q, self.start[:3, 3] - self.centre)
        return _poses(Q @ R if self.turns else np.broadcast_to(R, Q.shape), place)

    def slopes(self, s: Array) -> tuple[Array, Array]:
        """The twist for s' = 1, and its derivative, (..., 6) each."""
        Q = rotation_from_vector(s[..., None] * self.turn)
        v = cross(self.turn, rotate(Q, self.start[:3, 3] - self.centre))
        turning = np.broadcast_to(self.turns * self.turn, v.shape)
        bend = cross(self.turn, v)
        return np.concatenate([v, turning], -1), np.concatenate([bend, np.zeros_like(v)], -1)


@dataclass(frozen=True, slots=True, eq=False)
class AlongTool:
    """A path of the tool, followed by a law of time s(t)."""

    path: ToolPath
    law: Piecewise
    """s over time, of one coordinate."""

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return self.law.duration

    def __call__(self, t: npt.ArrayLike) -> ToolMotion:
        """The tool at times of any shape [s]."""
        s, sd, sdd = self.law(t)
        slope, bend = self.path.slopes(s[..., 0])
        return ToolMotion(self.path.pose(s[..., 0]), slope * sd, bend * sd**2 + slope * sdd)


def tool_line(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    *,
    duration: float | None = None,
    speed: float | None = None,
    acceleration: float | None = None,
) -> AlongTool:
    """A tool that moves in a straight line from one pose to another, from rest to rest.

    Start and end are transforms (4, 4) in the world. It turns about one axis in proportion to the
    way. The other arguments are those of `cartesian_line`.
    """
    T, goal = check_transform("start", start), check_transform("end", end)
    turn = rotation_vector(goal[:3, :3] @ T[:3, :3].T)
    line = ToolLine(T[:3, 3], goal[:3, 3] - T[:3, 3], T[:3, :3], turn)
    return AlongTool(line, law_of_time(line, duration, speed, acceleration))


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
) -> AlongTool:
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
    turn = check_constant("angle", angle, ()) * direction / length
    T = check_transform("start", start)
    circle = ToolCircle(T, check_constant("centre", centre, (3,)), turn, turns)
    return AlongTool(circle, law_of_time(circle, duration, speed, acceleration))


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


def _poses(R: Array, position: Array) -> Array:
    T = np.zeros((*position.shape[:-1], 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, position, 1.0
    return T
