"""The fastest motion along a path that torques and speeds of the joints allow, by reachability.

On a path q(s) the torques are a(s) s̈ + b(s) ṡ² + c(s) + f(q'(s) ṡ) with a = M q', c = g(q),
b = M q'' + C(q, q') q' and the friction f. Without a viscous part f depends on the sign of q' alone
and the bounds of s̈ are linear in x = ṡ², which is what `toppra` takes; with one they are not, so
they are evaluated for any x.

From the end backwards, the largest x from which the rest of the path can still be followed is found
at each point; forwards, each point is left with the largest acceleration that keeps within these.
Accelerations s̈ are constant between points.

Reference: H. Pham and Q.-C. Pham, A New Approach to Time-Optimal Path Parameterization Based on
Reachability Analysis, IEEE Transactions on Robotics 34 (2018).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_truth, check_whole, frozen
from armdyn.errors import TrajectoryError
from armdyn.report.figures import save_picture
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_limit, check_point
from armdyn.simulation.trajectories.piecewise import Piecewise, hermite
from armdyn.simulation.trajectories.tool import AlongPath

NEGLIGIBLE = 1e-12
"""Share of the largest torque per acceleration below which a joint has no part in it."""
FASTEST = 4.0
"""Times the speed that the largest acceleration reaches on the whole path."""


@dataclass(frozen=True, eq=False)
class PathLimits:
    """A path at points s, (N,), with the torques of its motions."""

    robot: Robot
    s: Array
    q: Array
    slope: Array
    """q'(s), (N, n)."""
    a: Array
    b: Array
    c: Array
    effort: Array
    """Largest torques, (n,)."""
    velocity: Array
    """Largest speeds, (n,)."""
    friction: bool

    @staticmethod
    def of(
        robot: Robot, path: Piecewise, s: Array, effort: Array, velocity: Array, friction: bool
    ) -> "PathLimits":
        """The limits of a path at points."""
        q, slope, bend = path(s)
        c = robot.gravity_vector(q)
        b = robot.inverse_dynamics(q, slope, bend, friction=False) - c
        a = np.einsum("...ij,...j->...i", robot.mass_matrix(q), slope)
        return PathLimits(robot, s, q, slope, a, b, c, effort, velocity, friction)

    def rest(self, i: Array | int, x: Array) -> Array:
        """Torques at points i without those of s̈, (..., n), for squares x of ṡ, (...)."""
        found = self.b[i] * x[..., None] + self.c[i]
        if self.friction:
            speed = np.maximum(np.sqrt(x), np.finfo(float).tiny)  # dry friction acts at once
            found = found + self.robot.friction_torque(self.slope[i] * speed[..., None])
        return found

    def bounds(self, i: Array | int, x: Array) -> tuple[Array, Array]:
        """Lowest and highest s̈ at points i for squares x of ṡ; the lowest is infinite for none."""
        rest = self.rest(i, x)
        a = np.broadcast_to(self.a[i], (*x.shape, self.a.shape[-1]))
        moved = np.abs(a) > NEGLIGIBLE * np.abs(self.a).max()
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([(-self.effort - rest) / a, (self.effort - rest) / a])
        low = np.where(moved, ends.min(0), -np.inf).max(-1)
        high = np.where(moved, ends.max(0), np.inf).min(-1)
        held = moved | (np.abs(rest) <= self.effort)
        return np.where(held.all(-1), low, np.inf), high

    @property
    def tried(self) -> tuple[Array, Array, Array]:
        """Squares of ṡ up to those never exceeded, and lowest and highest s̈, (N, SAMPLES) each.

        Speeds limit them, or what torques can reach.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            by_speed = (self.velocity / np.abs(self.slope)) ** 2
            push = (self.effort + np.abs(self.c)) / np.abs(self.a)
        by_speed = np.where(np.isnan(by_speed), np.inf, by_speed).min(-1)
        reach = FASTEST * 2 * (self.s[-1] - self.s[0]) * np.nanmin(push, -1).max()
        shares = np.linspace(0.0, 1.0, SAMPLES) ** 2
        tried = np.minimum(by_speed, reach)[:, None] * shares
        return tried, *self.bounds(np.arange(len(self.s))[:, None], tried)


SAMPLES = 200
"""Squares of the speed that are tried at each point before the largest one is looked for nearby."""
HALVINGS = 40
"""Steps of the search for it."""
ROUNDS = 6
"""How often limits are drawn in by what was exceeded between the points."""
EXCESS = 1e-3
"""Share by which a torque may exceed its limit between two points."""


@dataclass(frozen=True, eq=False)
class TimeOptimal:
    """The fastest motion along a path, with what it was found by."""

    trajectory: AlongPath
    """The motion as a function of time."""
    s: Array
    """Points along the path, (N,)."""
    speed: Array
    """ṡ at them, (N,)."""
    highest: Array
    """The largest ṡ at them from which the rest of the path can be followed, (N,)."""
    allowed: Array
    """The largest ṡ that torques and speeds allow at each point by itself, (N,)."""
    t: Array
    """When the points are reached, (N,) [s]."""
    tau: Array
    """Torques at them, (N, n) [N m or N]."""
    robot: Robot
    effort: Array
    """The limits of the torques, (n,)."""

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.t[-1])

    def plot(self, path: str | Path) -> None:
        """Draw the phase plane and the torques to a .png, .pdf or .svg file."""
        from armdyn.simulation.plots import draw_phase_plane  # noqa: PLC0415 (an extra)

        save_picture(path, draw_phase_plane, self)


def time_optimal(
    robot: Robot,
    points: npt.ArrayLike,
    *,
    effort: npt.ArrayLike | None = None,
    velocity: npt.ArrayLike | None = None,
    friction: bool = True,
    steps: int = 200,
) -> TimeOptimal:
    """The fastest motion from rest to rest along a path through points.

    Args:
        robot: The robot, whose friction acts.
        points: Positions (k, n), two or more; the path is the cubic spline through them over the
            length of the straight lines between them.
        effort: Largest torques, (n,); None: those of the robot, which must have all of them.
        velocity: Largest speeds, (n,); None: those of the robot, as far as it has them.
        friction: Whether friction is in the torques.
        steps: Pieces of constant acceleration along the path.

    Raises:
        TrajectoryError: The path cannot be followed within these limits.
    """
    robot = check_robot(robot)
    path = _path(check_point("points", points, robot, many=True))
    most = check_limit("effort", robot.effort_limits if effort is None else effort, robot.n)
    fast = check_limit("velocity", robot.velocity_limits if velocity is None else velocity, robot.n)
    free = ", ".join(robot.joint_names[i] for i in np.flatnonzero(np.isinf(most)))
    if free:
        raise TrajectoryError(f"{robot.name!r} has no limit of the torque of {free}; give `effort`")
    steps = check_whole("steps", steps, 10, error=TrajectoryError)
    s = np.linspace(0.0, path.duration, steps + 1)
    whole = PathLimits.of(robot, path, s, most, fast, check_truth("friction", friction))
    drawn_in = most
    for _ in range(ROUNDS):
        tightened = replace(whole, effort=drawn_in)
        ranges = _backward(tightened)
        x, u = _forward(tightened, ranges)
        beyond = _used(whole, x, u).max(0)
        if (beyond <= 1 + EXCESS).all():
            break
        drawn_in = drawn_in / np.maximum(beyond, 1.0)
    return _result(whole, path, x, u, ranges[1])


def _backward(on: PathLimits) -> tuple[Array, Array]:
    """Lowest and highest x at each point from which the end can be reached at rest."""
    count = len(on.s)
    step = on.s[1] - on.s[0]
    tried, low, high = on.tried
    lowest = np.zeros(count)
    highest = np.zeros(count)
    for i in range(count - 2, -1, -1):
        following = lowest[i + 1], highest[i + 1]
        sound = _reaches(tried[i], low[i], high[i], step, following)
        if not sound.any():
            raise TrajectoryError(
                f"the path cannot be followed within the limits: at {on.s[i] / on.s[-1]:.1%} of "
                f"it, joints at {np.round(on.q[i], 3).tolist()}, no speed leads on to its end; "
                "hold a lighter load, choose another path or higher limits"
            )
        first, last = np.flatnonzero(sound)[[0, -1]]
        lowest[i], highest[i] = tried[i, first], tried[i, last]
        leads_on = lambda x: _reaches(x, *on.bounds(i, x), step, following)  # noqa: B023, E731
        if first > 0:
            lowest[i] = _last_sound(leads_on, tried[i, first], tried[i, first - 1])
        if last + 1 < SAMPLES:
            highest[i] = _last_sound(leads_on, tried[i, last], tried[i, last + 1])
        # the acceleration that leads to the highest x of the next point must be allowed there, too
        brake, _ = on.bounds(i + 1, np.array(highest[i + 1]))
        if np.isfinite(brake):
            highest[i] = max(lowest[i], min(highest[i], highest[i + 1] - 2 * step * float(brake)))
    return lowest, highest


def _reaches(
    x: Array, low: Array, high: Array, step: float, following: tuple[float, float]
) -> Array:
    """Whether some acceleration that is allowed leads from x into the range of the next point."""
    down = x + 2 * step * low
    up = x + 2 * step * high
    return np.asarray((low <= high) & (down <= following[1]) & (up >= following[0]))


def _last_sound(sound: Callable[[Array], Any], inside: float, outside: float) -> float:
    """The last number that is sound, from one that is to one that is not, higher or lower."""
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if sound(np.array(middle)) else (inside, middle)
    return inside


def _forward(on: PathLimits, ranges: tuple[Array, Array]) -> tuple[Array, Array]:
    """x at each point and the acceleration s̈ after it."""
    (lowest, highest), step = ranges, on.s[1] - on.s[0]
    if lowest[0] > 0:
        raise TrajectoryError(
            "the path cannot be started from rest within the limits: somewhere on it the arm does "
            "not hold itself, and comes there too slowly; start farther away, hold a lighter load, "
            "or give higher limits"
        )
    x = np.zeros(len(on.s))
    u = np.zeros(len(on.s) - 1)
    for i in range(len(u)):
        low, high = (float(u) for u in on.bounds(i, np.array(x[i])))
        fastest = min(high, (highest[i + 1] - x[i]) / (2 * step))
        x[i + 1] = max(0.0, x[i] + 2 * step * _kept(on, i + 1, x[i], (low, fastest), step))
        u[i] = (x[i + 1] - x[i]) / (2 * step)
    return x, u


def _kept(on: PathLimits, end: int, x: float, between: tuple[float, float], step: float) -> float:
    """The largest acceleration in a range that torques allow at the end of the piece, too."""
    slowest, fastest = between

    def sound(u: Array) -> Array:
        return u <= on.bounds(end, np.maximum(0.0, x + 2 * step * u))[1]

    if fastest <= slowest or sound(np.array(fastest)):
        return fastest
    return _last_sound(sound, slowest, fastest)


def _used(on: PathLimits, x: Array, u: Array) -> Array:
    """Shares of the limits that the torques take at both ends of each piece, (2 N - 2, n)."""
    k = np.arange(len(u))
    ends = [on.rest(k + e, x[k + e]) + on.a[k + e] * u[:, None] for e in (0, 1)]
    return np.abs(np.concatenate(ends)) / on.effort


def _result(on: PathLimits, path: Piecewise, x: Array, u: Array, highest: Array) -> TimeOptimal:
    speed = np.sqrt(x)
    ds = np.diff(on.s)
    lasts = 2 * ds / (speed[1:] + speed[:-1])
    t = np.append(0.0, np.cumsum(lasts))
    rows = np.stack([on.s[:-1], speed[:-1] * lasts, 0.5 * u * lasts**2], 1)
    pieces = np.concatenate([rows, [[on.s[-1], 0.0, 0.0]]])[..., None]
    tau = on.rest(np.arange(len(x)), x) + on.a * np.append(u, u[-1])[:, None]
    tried, low, high = on.tried
    allowed = np.sqrt(np.where(low <= high, tried, 0.0).max(-1))
    arrays = {"s": on.s, "speed": speed, "highest": np.sqrt(highest), "allowed": allowed}
    arrays |= {"t": t, "tau": tau, "effort": on.effort}
    trajectory = AlongPath(path, Piecewise(t, pieces))
    return TimeOptimal(trajectory, robot=on.robot, **{k: frozen(x) for k, x in arrays.items()})


def _path(points: Array) -> Piecewise:
    """The cubic spline through points, over the length of the lines between them from 0 to 1."""
    from scipy.interpolate import CubicSpline  # noqa: PLC0415 (slow to import)

    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    for k in np.flatnonzero(lengths == 0):
        raise TrajectoryError(f"points {k + 1} and {k + 2} of the path are the same")
    way = np.append(0.0, np.cumsum(lengths))
    spline = CubicSpline(way / way[-1], points, bc_type="natural")
    return hermite(way / way[-1], points, spline(way / way[-1], 1), spline(way / way[-1], 2))
