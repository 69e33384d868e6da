"""The interface of trajectories; motions of polynomials, from files, as tables of instants."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen
from armdyn.errors import TrajectoryError, shown
from armdyn.io.csv.table import numbered_columns, write_csv
from armdyn.io.csv.trajectory import trajectory_from_csv, warn_of_unused
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_positive, check_times


class Motion(NamedTuple):
    """Positions, velocities and accelerations, each (..., n)."""

    q: Array
    qd: Array
    qdd: Array


class Trajectory(Protocol):
    """A motion; before time 0 it rests at its start, after its duration at its end."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        ...

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        ...

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """The motion at times of any shape."""
        ...


MARGIN = 1e-12
"""By how much, relatively, a duration exceeds the shortest, so that rounding breaks no limit."""

_POWERS = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4], [0, 0, 0, 1, 2, 3]])
_FACTORS = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20]])
"""Powers of u in a polynomial and its first two derivatives, and their factors."""


@dataclass(frozen=True, slots=True, eq=False)
class Piecewise:
    """A motion of n joints whose pieces are polynomials in time.

    Piece k starts at time t_k and is Σ c_ki uⁱ with u = (t - t_k) / (t_{k+1} - t_k). The last row
    of `pieces` is no piece but the state at the end, [q, q̇, q̈/2], so that a move to rest ends
    exactly at rest.
    """

    knots: Array
    """Where pieces start and the last one ends, from 0 on, shape (k + 1,) [s]."""
    pieces: Array
    """Coefficients, lowest degree first, shape (k + 1, degree + 1, n), degree 5 at most."""
    lengths: Array = field(init=False, repr=False)
    """How long each piece takes, the last one being 1, shape (k + 1,) [s]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", frozen(self.knots))
        object.__setattr__(self, "pieces", frozen(self.pieces))
        object.__setattr__(self, "lengths", frozen(np.append(np.diff(self.knots), 1.0)))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.pieces.shape[-1]

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.knots[-1])

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """Positions, velocities and accelerations (..., n) at times of any shape [s]."""
        t = check_times(t)
        end = self.knots[-1]
        inside = np.minimum(np.maximum(t, 0.0), end)
        k = np.minimum(self.knots.searchsorted(inside, side="right"), len(self.knots)) - 1
        length = self.lengths[k]
        u = (inside - self.knots[k]) / length
        degree = self.pieces.shape[1]
        terms = _FACTORS[:, :degree] * u[..., None, None] ** _POWERS[:, :degree]
        rows = terms @ self.pieces[k]
        scale = (((t >= 0) & (t <= end)) / length)[..., None]
        return Motion(rows[..., 0, :].copy(), rows[..., 1, :] * scale, rows[..., 2, :] * scale**2)

    def slowed(self, factor: float) -> Self:
        """The same path in `factor` times the time."""
        pieces = self.pieces.copy()
        pieces[-1] /= np.power(factor, np.arange(pieces.shape[1]))[:, None]
        return type(self)(factor * self.knots, pieces)

    def peaks(self) -> tuple[Array, Array]:
        """Highest speed and highest acceleration of each joint, (n,) each.

        They are taken at the ends of the pieces and at the roots of their next derivatives.
        """
        length = self.lengths[:-1, None]
        speed, bend = (np.abs(_extremes(self._derivative(order))).max(0) for order in (1, 2))
        return (speed / length).max(0), (bend / length**2).max(0)

    def reach(self) -> tuple[Array, Array]:
        """Lowest and highest position of each joint, (n,) each."""
        ends = self.pieces[-1, 0]
        if len(self.pieces) == 1:
            return ends, ends
        found = _extremes(self._derivative(0))
        return np.minimum(ends, found.min((0, 1))), np.maximum(ends, found.max((0, 1)))

    def _derivative(self, order: int) -> Array:
        """Coefficients of a derivative in u of each piece, lowest first, (degree + 1, k, n)."""
        return np.polynomial.polynomial.polyder(np.moveaxis(self.pieces[:-1], 1, 0), order)


def hermite(t: Array, q: Array, qd: Array, qdd: Array) -> Piecewise:
    """The polynomials of degree five between states (m, n); time is counted from the first."""
    h = np.diff(t)[:, None]
    v0 = h * qd[:-1]
    v1 = h * qd[1:]
    a0 = h**2 * qdd[:-1] / 2
    a1 = h**2 * qdd[1:] / 2
    way = np.diff(q, axis=0)
    pieces = np.zeros((len(t), 6, q.shape[-1]))
    pieces[:, 0] = q
    pieces[:-1, 1], pieces[:-1, 2] = v0, a0
    pieces[:-1, 3] = 10 * way - 6 * v0 - 4 * v1 - 3 * a0 + a1
    pieces[:-1, 4] = -15 * way + 8 * v0 + 7 * v1 + 3 * a0 - 2 * a1
    pieces[:-1, 5] = 6 * way - 3 * (v0 + v1) - a0 + a1
    pieces[-1, 1], pieces[-1, 2] = qd[-1], qdd[-1] / 2
    return Piecewise(t - t[0], pieces)


def _extremes(c: Array) -> Array:
    """Values at 0, 1 and turning points of polynomials with coefficients c (degree + 1, ...)."""
    slopes = np.polynomial.polynomial.polyder(c)
    points = np.zeros((len(slopes) + 1, *c.shape[1:]))
    points[1] = 1.0
    for index in np.ndindex(c.shape[1:]):
        # the real part of a complex root is a point like any other, and it is the root itself
        # where rounding has parted a double one
        roots = np.roots(slopes[::-1][(slice(None), *index)]).real
        points[(slice(2, 2 + len(roots)), *index)] = np.clip(roots, 0.0, 1.0)
    value = np.zeros_like(points)
    for coefficient in c[::-1]:
        value = value * points + coefficient
    return value


STEP_ROUNDING = 1e-9
"""A remainder below this part of a step is rounding."""

MOST_SAMPLES = 10_000_000
"""Most instants of a table."""


class Samples(NamedTuple):
    """A motion at m instants."""

    t: Array
    """Time, shape (m,) [s]."""
    q: Array
    """Positions, shape (m, n) [rad or m]."""
    qd: Array
    """Velocities, shape (m, n)."""
    qdd: Array
    """Accelerations, shape (m, n)."""

    def save(self, path: str | Path) -> None:
        """Write a trajectory file, t, q1..qn, qd1..qdn, qdd1..qddn; it appears whole."""
        groups = {"q": self.q, "qd": self.qd, "qdd": self.qdd}
        write_csv(path, {"t": self.t} | numbered_columns(groups))


def sampled(trajectory: Trajectory, dt: float) -> Samples:
    """A motion every dt seconds from its start on, and at its end."""
    dt = check_positive("dt", dt)
    if not hasattr(trajectory, "duration"):
        raise TrajectoryError(f"expected a trajectory, got {shown(trajectory)}")
    steps = trajectory.duration / dt
    if not steps <= MOST_SAMPLES:
        raise TrajectoryError(f"dt: {steps:.3g} instants cannot be kept; take a longer dt")
    t = np.append(dt * np.arange(np.ceil(steps - STEP_ROUNDING)), trajectory.duration)
    return Samples(t, *trajectory(t))


def from_csv(path: str | Path, robot: Robot, *, degrees: bool = False) -> Piecewise:
    """The motion in a trajectory file, by polynomials of degree five between its lines.

    At the lines it is exactly what the file says; time is counted from the first one.

    Args:
        path: A file with columns t, q1..qn (or the names of the joints) and, where known,
            qd1..qdn, qdd1..qddn; "-" is standard input.
        robot: Whose joints the columns are.
        degrees: Whether angles and their rates are in degrees there.

    Raises:
        TrajectoryError: The file cannot be read or does not fit, with the line concerned.
    """
    table = trajectory_from_csv(path, check_robot(robot, floats=True).model, degrees=degrees)
    warn_of_unused(table.source, table.unused)
    return hermite(table.t, table.q, table.qd, table.qdd)
