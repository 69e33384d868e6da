"""What torques and speeds allow along a path: bounds of its acceleration at each of its points.

On a path q(s) the torques are a(s) s̈ + b(s) ṡ² + c(s) + f(q'(s) ṡ) with a = M q', c = g(q),
b = M q'' + C(q, q') q' and the friction f. Without a viscous part f depends on the sign of q' alone
and the bounds of s̈ are linear in x = ṡ², which is what `toppra` takes; with one they are not, so
they are evaluated for any x.

Reference: H. Pham and Q.-C. Pham, A New Approach to Time-Optimal Path Parameterization Based on
Reachability Analysis, IEEE Transactions on Robotics 34 (2018).
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.robot import Robot
from armdyn.simulation.trajectories.piecewise import Piecewise

SLOWEST = 1e-6
"""Speed ṡ below which friction is that of this speed: dry friction acts at once."""
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
            speed = np.maximum(np.sqrt(x), SLOWEST)
            found = found + self.robot.friction_torque(self.slope[i] * speed[..., None])
        return found

    def bounds(self, i: Array | int, x: Array) -> tuple[Array, Array]:
        """Lowest and highest s̈ at points i for squares x of ṡ; the wrong way round for none."""
        rest, a = self.rest(i, x), np.broadcast_to(self.a[i], (*x.shape, self.a.shape[-1]))
        moved = np.abs(a) > NEGLIGIBLE * np.abs(self.a).max()
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([(-self.effort - rest) / a, (self.effort - rest) / a])
        low = np.where(moved, ends.min(0), -np.inf).max(-1)
        high = np.where(moved, ends.max(0), np.inf).min(-1)
        held = moved | (np.abs(rest) <= self.effort)
        return np.where(held.all(-1), low, np.inf), np.where(held.all(-1), high, -np.inf)

    @property
    def fastest(self) -> Array:
        """Squares of ṡ that are never exceeded, (N,): by speeds, or by what torques can reach."""
        with np.errstate(divide="ignore", invalid="ignore"):
            by_speed = (self.velocity / np.abs(self.slope)) ** 2
            push = (self.effort + np.abs(self.c)) / np.abs(self.a)
        by_speed = np.where(np.isnan(by_speed), np.inf, by_speed).min(-1)
        reach = FASTEST * 2 * (self.s[-1] - self.s[0]) * np.nanmin(push, -1).max()
        return np.minimum(by_speed, reach)
