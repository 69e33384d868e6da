"""Motions from files, and as tables of instants."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TrajectoryError, shown
from armdyn.io.csv.table import numbered_columns, write_csv
from armdyn.io.csv.trajectory import trajectory_from_csv, warn_of_unused
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_positive
from armdyn.simulation.trajectories.piecewise import Piecewise, Trajectory, hermite

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
