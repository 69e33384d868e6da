"""Motions of the tool: straight lines and circles in space, followed by a law of time.

Joints follow a straight line by differential inverse kinematics. Over the part s of the way the
tool has the constant twist V, and the joints

    q' = J⁺ V,    q'' = -J⁺ J' q' + (1 - J⁺ J) J'ᵀ J⁺ᵀ q'

where the second term is how J⁺ itself changes in the null space of a redundant arm (Golub and
Pereyra 1973). The differential equation is integrated, its solution brought onto the line at nodes
as `armdyn.kinematics.pose_search` does it, and q, q', q'' at these are joined by polynomials of
degree five.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant
from armdyn.errors import SingularityError, TrajectoryError, counted, require
from armdyn.formulations.spatial import cross, rotate
from armdyn.kinematics.pose_search import PoseSearch
from armdyn.model.transform import check_transform, rotation_from_vector, rotation_vector, transform
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_point, check_positive, check_range
from armdyn.simulation.trajectories.moves import quintic
from armdyn.simulation.trajectories.piecewise import Piecewise, hermite


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


SINGULAR = 1e-3
"""Singular values below this part of the largest are damped: 1/σ becomes σ/ε²."""
FIRST_NODES, MAX_NODES = 32, 8192
"""Pieces of the path in the first trial, and in the last one."""
MAX_LOST_TWIST = 1e-6
"""A line that loses a larger part of the twist is not followed."""
VELOCITY_TOLERANCE, ACCELERATION_TOLERANCE = 1e2, 1e4
"""Tolerances of q' and q'' in units of that of the position."""
NODE_TOLERANCE = 1e-15
"""Distance of the tool from its line at the nodes [m and rad]."""
CHECKED_PLACES = np.array([0.28, 0.5, 0.72])
"""Places in a piece where q', and in the middle q and q'', have their largest errors."""


class _Follower:
    """An arm whose tool is to follow a line, in so many coordinates of the tool."""

    def __init__(self, robot: Robot, line: ToolPath, count: int):
        self.robot, self.line, self.rows = robot, line, slice(count)
        self.twist = np.concatenate([line.way, line.turn])[:count]
        """Change of the prescribed coordinates with s, constant on the line, (3,) or (6,)."""
        far = np.full(robot.n, np.inf)  # limits are checked when the path is known
        arm = robot.forward_kinematics, robot.jacobian, -far, far
        self.search = PoseSearch(*arm, tuple(range(count)), least_damping=SINGULAR**2)

    def jacobian(self, q: Array) -> Array:
        return self.robot.jacobian(q)[..., self.rows, :]

    def slopes(self, q: Array) -> Array:
        """q' = J⁺ V at configurations (..., n)."""
        return damped_inverse(self.jacobian(q)) @ self.twist

    def rates(self, q: Array) -> tuple[Array, Array]:
        """q' and q'' at configurations (..., n)."""
        J = self.jacobian(q)
        J_inv = damped_inverse(J)
        slope = J_inv @ self.twist
        Jd = self.robot.jacobian_dot(q, slope)[..., self.rows, :]
        column = slope[..., None]
        null = np.swapaxes(Jd, -1, -2) @ np.swapaxes(J_inv, -1, -2) @ column
        bend = null - J_inv @ (Jd @ column + J @ null)
        return slope, bend[..., 0]

    def lost(self, q: Array) -> float:
        """The part of the twist that the joints cannot give at q (n,)."""
        missing = self.twist - self.jacobian(q) @ self.slopes(q)
        return float(np.linalg.norm(missing) / np.linalg.norm(self.twist))

    def integrate(self, q0: Array) -> Any:
        """The solution of q' = J⁺ V from q0, a function of s."""
        from scipy.integrate import solve_ivp  # noqa: PLC0415 (slow to import)

        if self.lost(q0) > MAX_LOST_TWIST:
            raise self.failure(0.0, q0)

        def margin(_: float, q: Array) -> float:
            return MAX_LOST_TWIST - self.lost(q)

        margin.terminal = True  # type: ignore[attr-defined]
        accuracy = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12, "dense_output": True}
        run = solve_ivp(lambda _, q: self.slopes(q), (0.0, 1.0), q0, events=margin, **accuracy)
        if run.status != 0:
            raise self.failure(float(run.t[-1]), run.y[:, -1])
        return run.sol

    def deviation(self, path: Piecewise, s: Array) -> Array:
        """How far the path is from what it should be at s (m,), in units of the tolerances."""
        q, slope, bend = path(s)
        away = np.abs(self.search.error(self.line(s).pose, q)[:, self.rows]).max(-1)
        due, due_bend = self.rates(q)
        size = 1.0 + np.abs(due).max(-1)
        wrong = np.abs(slope - due).max(-1) / size / VELOCITY_TOLERANCE
        bent = np.abs(bend - due_bend).max(-1) / (size + np.abs(due_bend).max(-1))
        return np.max([away, wrong, bent / ACCELERATION_TOLERANCE], axis=0)

    def failure(self, s: float, q: Array, how: str = "") -> SingularityError:
        """Why the line is not followed beyond s, where the arm is at q (n,)."""
        # the smallest singular value that is not zero everywhere, and the largest
        n = self.robot.n
        anywhere = 0.3 + 0.1 * np.arange(3)[:, None] + np.sin(1.7 * np.arange(1, n + 1))
        rank = int(np.linalg.matrix_rank(self.jacobian(anywhere), tol=1e-9).max())
        values = np.linalg.svd(self.jacobian(q), compute_uv=False)
        least = float(values[max(rank, 1) - 1])
        largest = float(values[0])
        found = (
            f"the tool cannot follow the line{how} beyond {100 * s:.3g} % of it: the smallest "
            f"singular value of the Jacobian is {least:.3g} there, the largest {largest:.3g}. "
        )
        if least < 2 * SINGULAR * largest:
            return SingularityError(
                found + "The arm is stretched out or otherwise singular; choose a target within "
                "reach, another start, or another orientation"
            )
        held = "" if len(self.twist) == 3 else ' and turn it as asked; pass orientation="free" or'
        return SingularityError(
            found
            + f"Its {counted(self.robot.n, 'joint')} cannot move the tool in this direction{held}"
            f"{'' if held else ';'} choose another target"
        )


def damped_inverse(J: Array) -> Array:
    """J⁺ of matrices (..., m, n), with singular values below ε = SINGULAR σ₁ damped."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    edge = np.maximum(SINGULAR * s[..., :1], 1e-12)
    inverted = np.where(s > edge, 1 / np.maximum(s, edge), s / edge**2)
    return np.swapaxes(Vt, -1, -2) @ (inverted[..., None] * np.swapaxes(U, -1, -2))


LINE_TOLERANCE = 1e-10
"""Distance of the tool from its line that is allowed by default [m and rad]."""


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
    line, free = _line(robot, q0, position, orientation)
    law = law_of_time(line, duration, speed, acceleration)
    arm = _Follower(robot, line, 3 if free else 6)
    solution, nodes = arm.integrate(q0), FIRST_NODES
    while True:
        s = np.linspace(0.0, 1.0, nodes + 1)
        q, _ = arm.search.descend(line(s).pose, solution(s).T, NODE_TOLERANCE)
        q[0] = q0
        path = hermite(s, q, *arm.rates(q))
        between = (s[:-1, None] + CHECKED_PLACES / nodes).ravel()
        error = arm.deviation(path, between)
        if error.max() <= tolerance:
            check_range(robot, path.reach)
            return AlongPath(path, law)
        if nodes >= MAX_NODES:
            worst = int(error.argmax())
            raise arm.failure(float(between[worst]), path(between[worst]).q, f" to {tolerance:g} m")
        nodes *= 2


def _line(
    robot: Robot, q0: Array, position: npt.ArrayLike, orientation: npt.ArrayLike
) -> tuple[ToolPath, bool]:
    """The line, and whether the orientation does not matter."""
    start = robot.forward_kinematics(q0)
    way = check_constant("position", position, (3,)) - start[:3, 3]
    if not isinstance(orientation, str):
        goal = transform(check_constant("orientation", orientation, (3, 3)))
        turn = rotation_vector(check_transform("orientation", goal)[:3, :3] @ start[:3, :3].T)
        return straight(start, way, turn), False
    expected = 'a rotation (3, 3), "keep" or "free"'
    require(orientation in ("keep", "free"), "orientation", expected, orientation, TrajectoryError)
    return straight(start, way, np.zeros(3)), orientation == "free"
