"""The search for joints that bring a frame to a pose: damped least squares within limits.

The error of a pose is e = (p_w - p, log R_w Rᵀ), in axes of the world or of the wanted pose, and

    δ = (JᵀJ + λ 1)⁻¹ Jᵀ e,    λ ∝ |e|²

is the step of Levenberg and Marquardt. Where a part of the turn does not matter, J has the exact
slope of the logarithm; where all of it matters, the gradient is the same without it. A joint that a
step would push beyond its limit is held there. Reference: T. Sugihara, Solvability-unconcerned
inverse kinematics by the Levenberg-Marquardt method, IEEE Transactions on Robotics, 2011.
"""

from collections.abc import Callable

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, Array, record
from armdyn.formulations.solve import solve_ltdl
from armdyn.formulations.spatial import dot, rotate, rotate_back, skew, transpose
from armdyn.model.transform import rotation_vector

DAMPING_FACTOR = 4.0
"""λ/|e|² is divided by this after a step that brings the frame nearer, or else multiplied."""
LARGEST_DAMPING = 1e6
"""A search whose λ/|e|² grows beyond this is at its end."""
MOST_STEPS = 20
"""Steps of a search from one start."""
LEAST_GAIN = 0.05
"""A search ends where a step takes a smaller part off |e|²."""
SIDE_BY_SIDE = 64
"""From so many matrices on, they are solved in operations on all of them."""
SMALLEST_DAMPING = 1e-200
"""λ where J is zero."""
SMALL_TURN = 1e-4
"""Below this angle the slope of the logarithm is that at 0 [rad]."""


@record(eq=False)
class PoseSearch:
    """A frame of an arm and the coordinates of its pose that matter; B is any number of poses."""

    forward: Callable[[Array], Array]
    """The frame in the world, (B, 4, 4), at joints (B, n)."""
    jacobian: Callable[[Array], Array]
    """Its geometric Jacobian in world axes, (B, 6, n)."""
    lower: Array
    """Lowest positions of the joints, (n,) [rad or m]."""
    upper: Array
    """Highest positions of the joints, (n,) [rad or m]."""
    rows: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    """The m coordinates that matter, numbers of x, y, z, rx, ry, rz."""
    own_axes: bool = False
    """Whether these are along the axes of the wanted pose, and not of the world."""
    size: float = 1.0
    """Length that counts as much as one radian [m]."""
    least_damping: float = RELATIVE_PIVOT
    """The part of |J|² that λ has at least."""

    @property
    def weight(self) -> Array:
        """What each coordinate of an error is multiplied with to be compared, (m,)."""
        return np.where(np.array(self.rows) < 3, 1.0 / self.size, 1.0)

    @property
    def turns(self) -> bool:
        """Whether the orientation matters."""
        return max(self.rows) >= 3

    def error(self, T: Array, q: Array) -> Array:
        """What the frame lacks in all coordinates to be at poses T (B, 4, 4), (B, 6) [m, rad]."""
        error = pose_error(T, self.forward(q), self.turns)
        R = T[:, :3, :3]
        if not self.own_axes:
            return error
        return np.concatenate([rotate_back(R, error[:, :3]), rotate_back(R, error[:, 3:])], -1)

    def slopes(self, T: Array, q: Array, error: Array) -> Array:
        """J with de = -J dq in the coordinates that matter, (B, m, n), where e is the error."""
        J = self.jacobian(q)
        linear, angular = J[:, :3], J[:, 3:]
        if self.own_axes:
            linear, angular = (transpose(T[:, :3, :3]) @ half for half in (linear, angular))
        if 0 < len({3, 4, 5} & set(self.rows)) < 3:
            angular = logarithm_slope(error[:, 3:]) @ angular
        return np.concatenate([linear, angular], 1)[:, self.rows]

    def met(self, error: Array, tolerance: float) -> Array:
        """Whether errors (..., 6) are within the tolerance [m and rad]."""
        return np.abs(error[..., self.rows]).max(-1) <= tolerance

    def cost(self, error: Array) -> Array:
        """|e|² of errors (..., 6), lengths in units of the size."""
        weighted = error[..., self.rows] * self.weight
        return dot(weighted, weighted)

    def descend(
        self, T: Array, q: Array, tolerance: float, least_gain: float = LEAST_GAIN
    ) -> tuple[Array, Array]:
        """Joints (B, n), and errors (B, 6), where the searches from q (B, n) end."""
        q = np.clip(q, self.lower, self.upper)
        error, damping = self.error(T, q), np.ones(len(q))
        cost = self.cost(error)
        live = np.flatnonzero(~self.met(error, tolerance))
        for _ in range(MOST_STEPS):
            if not live.size:
                break
            wanted, at, now, factor = T[live], q[live], cost[live], damping[live]
            J = self.slopes(wanted, at, error[live]) * self.weight[:, None]
            step = self.step(J, error[live][:, self.rows] * self.weight, at, factor * now)
            trial = np.clip(at + step, self.lower, self.upper)
            after = self.error(wanted, trial)
            then = self.cost(after)
            nearer = then < now
            moved = live[nearer]
            q[moved], error[moved], cost[moved] = trial[nearer], after[nearer], then[nearer]
            damping[live] = np.where(nearer, factor / DAMPING_FACTOR, factor * DAMPING_FACTOR)
            done = self.met(error[live], tolerance) | (nearer & (then > (1 - least_gain) * now))
            live = live[~done & (damping[live] < LARGEST_DAMPING)]
        return q, error

    def step(self, J: Array, e: Array, q: Array, damping: Array | float = 0.0) -> Array:
        """(JᵀJ + λ 1)⁻¹ Jᵀ e without the joints that it would push beyond their limits, (B, n)."""
        J = np.where(self.pushed(q, rotate_back(J, e))[:, None, :], 0.0, J)
        m, n = J.shape[1:]
        least = self.least_damping * (J * J).sum((-1, -2))
        added = (damping + np.maximum(least, SMALLEST_DAMPING))[:, None, None]
        if m < n:
            return rotate_back(J, _solve(J @ transpose(J) + added * np.eye(m), e))
        return _solve(transpose(J) @ J + added * np.eye(n), rotate_back(J, e))

    def pushed(self, q: Array, way: Array) -> Array:
        """Which joints are at a limit that a way (..., n) would pass, (..., n)."""
        return ((q <= self.lower) & (way < 0)) | ((q >= self.upper) & (way > 0))

    def along(self, T: Array, q: Array, way: Array) -> Array:
        """The part of a way (B, n) that leaves the frame where it is, within limits."""
        held = self.pushed(q, way)
        J = self.slopes(T, q, np.zeros((len(q), 6))) * self.weight[:, None]
        J = np.where(held[:, None, :], 0.0, J)
        way = np.where(held, 0.0, way)
        return way - self.step(J, rotate(J, way), q)


def pose_error(T: Array, X: Array, turns: bool = True) -> Array:
    """(p_w - p, log R_w Rᵀ) for wanted poses T and poses X (..., 4, 4); without turns 0 for it."""
    away = T[..., :3, 3] - X[..., :3, 3]
    R = T[..., :3, :3] @ transpose(X[..., :3, :3]) if turns else None
    return np.concatenate([away, np.zeros_like(away) if R is None else rotation_vector(R)], -1)


def _solve(A: Array, b: Array) -> Array:
    """A⁻¹ b of small symmetric matrices (B, k, k), all of them at once."""
    if len(A) < SIDE_BY_SIDE:
        return np.linalg.solve(A, b[..., None])[..., 0]
    paths = [tuple(range(k + 1)) for k in range(A.shape[-1])]
    # entries of one place side by side: each operation then reads consecutive numbers
    return solve_ltdl(paths, np.moveaxis(np.ascontiguousarray(np.moveaxis(A, 0, -1)), -1, 0), b)


def logarithm_slope(turn: Array) -> Array:
    """D with log(exp(turn) exp(-ω)) = turn - D ω for small ω, (..., 3, 3)."""
    angle = np.linalg.norm(turn, axis=-1)
    x = np.maximum(angle, SMALL_TURN)
    bend = (1 - x / 2 / np.tan(x / 2)) / x**2
    S = skew(turn)
    return np.eye(3) + S / 2 + bend[..., None, None] * (S @ S)
