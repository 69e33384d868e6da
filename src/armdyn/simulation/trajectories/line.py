"""Straight lines of the tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant
from armdyn.errors import TrajectoryError, shown
from armdyn.model.transform import check_transform, rotation_vector, transform
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_point, check_positive, check_range
from armdyn.simulation.protocols import Motion
from armdyn.simulation.trajectories.follow import follow
from armdyn.simulation.trajectories.piecewise import Piecewise
from armdyn.simulation.trajectories.tool import ToolLine, law_of_time

LINE_TOLERANCE = 1e-10
"""Distance of the tool from its line that is allowed by default [m and rad]."""


@dataclass(frozen=True, slots=True, eq=False)
class AlongPath:
    """A path q(s) of the joints, followed by a law of time s(t)."""

    path: Piecewise
    """The joints over the part s of the way, from 0 to 1."""
    law: Piecewise
    """s over time, of one coordinate."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.path.n

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return self.law.duration

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """Positions, velocities and accelerations (..., n) at times of any shape [s]."""
        s, sd, sdd = self.law(t)
        q, slope, bend = self.path(s[..., 0])
        return Motion(q, slope * sd, bend * sd**2 + slope * sdd)


def cartesian_line(
    robot: Robot,
    q0: npt.ArrayLike,
    position: npt.ArrayLike,
    orientation: npt.ArrayLike | Literal["keep", "free"] = "keep",
    *,
    duration: float | None = None,
    speed: float | None = None,
    acceleration: float | None = None,
    tolerance: float = LINE_TOLERANCE,
) -> AlongPath:
    """The tool moves from where it is to a position in a straight line, from rest to rest.

    The part of the way follows a quintic in time, and the orientation turns about one axis in
    proportion to it. The joints follow by q̇ = J⁺ v, the smallest velocities that do it.

    Args:
        robot: The robot.
        q0: Where it starts, (n,) [rad or m].
        position: Where the tool goes, in world axes, (3,) [m].
        orientation: How the tool is turned at the end, a rotation (3, 3) in world axes; "keep": as
            at the start; "free": any way that comes, for arms that cannot or need not hold it.
        duration: How long it takes [s]; None: as short as the limits allow.
        speed: Limit of the speed of the tool [m/s]; of its turning if it only turns [rad/s].
        acceleration: Limit of its acceleration along the line [m/s² or rad/s²].
        tolerance: How far the tool may be from the line at any instant [m and rad]. The joints are
            J⁺ times the rates of the tool to 1e2 times that in velocity and 1e4 times that in
            acceleration, relative to a path of parameter 0 to 1.

    Raises:
        SingularityError: The arm cannot follow the line, with the part of it that it can and the
            smallest singular value of the Jacobian there.
        TrajectoryError: An argument is not as described, or a joint limit would be passed.
    """
    q0 = check_point("q0", q0, check_robot(robot))
    check_range(robot, lambda: (q0, q0))
    tolerance = check_positive("tolerance", tolerance, "m")
    line = _line(robot, q0, position, orientation)
    law = law_of_time(line, duration, speed, acceleration)
    path = follow(robot, q0, line, tolerance)
    check_range(robot, path.reach)
    return AlongPath(path, law)


def _line(robot: Robot, q0: Array, position: npt.ArrayLike, orientation: npt.ArrayLike) -> ToolLine:
    start = robot.forward_kinematics(q0)
    R, p = start[:3, :3], start[:3, 3]
    way = check_constant("position", position, (3,)) - p
    if not isinstance(orientation, str):
        goal = transform(check_constant("orientation", orientation, (3, 3)))
        turn = rotation_vector(check_transform("orientation", goal)[:3, :3] @ R.T)
        return ToolLine(p, way, R, turn, free=False)
    if orientation not in ("keep", "free"):
        raise TrajectoryError(
            f'orientation: expected a rotation (3, 3), "keep" or "free", got {shown(orientation)}'
        )
    return ToolLine(p, way, R, np.zeros(3), free=orientation == "free")
