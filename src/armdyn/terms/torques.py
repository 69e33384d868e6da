"""Joint torques along a trajectory, split into the terms they are made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.errors import TrajectoryError
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model.friction.law import FRICTION_ROWS
from armdyn.simulation.limits import Excess, effort_limits, excesses

CHUNK = 2048
"""Instants computed at once, so that the arrays of every formulation stay small."""


@dataclass(frozen=True, slots=True, eq=False)
class TorqueReport:
    """The torques of a robot along a trajectory of m instants."""

    robot: str
    title: str
    """What people call the robot."""
    joints: tuple[str, ...]
    units: tuple[str, ...]
    """"N·m" for a joint that turns, "N" for one that slides."""
    trajectory: SampledMotion
    total: Array
    """What the actuators give, shape (m, n) [N m or N]."""
    terms: dict[str, Array]
    """The terms by name, each (m, n); they add up to the total."""
    formulation: str
    friction: bool
    """Whether friction is in the total."""
    limits: Array
    """Highest torque of each joint, (n,) [N m or N]; infinite where it is not known."""
    excesses: tuple[Excess, ...] = ()
    """Where the motion or the torque goes beyond a limit of a joint."""
    links: tuple[str, ...] = ()
    """The links that reactions are of."""
    reactions: Array | None = None
    """Force and moment on each link from its parent, world axes, (m, N, 6) [N, N m], if asked."""

    def __repr__(self) -> str:
        rows, n = self.total.shape
        return f"<TorqueReport of {self.robot!r}, {rows} instants, {n} joints>"

    @property
    def acting(self) -> dict[str, Array]:
        """The terms that are more than rounding somewhere."""
        rounding = 1e-12 * np.abs(self.total).max()
        return {name: v for name, v in self.terms.items() if np.abs(v).max() > rounding}

    @property
    def residual(self) -> float:
        """Largest difference between the total and the sum of the terms [N m or N]."""
        return float(np.abs(self.total - sum(self.terms.values())).max())

    def columns(self) -> dict[str, Array]:
        """The table t, tau1..n, inertial1..n, ... column by column; reactions come last.

        Those are fx, fy, fz, nx, ny and nz, with the number of the link.
        """
        table = {"t": self.trajectory.t}
        for name, values in {"tau": self.total, **self.terms}.items():
            table |= {f"{name}{i + 1}": values[:, i] for i in range(values.shape[1])}
        if self.reactions is not None:
            names = ("fx", "fy", "fz", "nx", "ny", "nz")
            for i in range(len(self.links)):
                columns = self.reactions[:, i].T
                table |= {f"{k}{i + 1}": c for k, c in zip(names, columns, strict=True)}
        return table

    def summary(self) -> dict[str, Any]:
        """Peak and RMS of every joint and term, as plain data."""
        t = self.trajectory.t
        peaks = np.abs(self.total).argmax(0)
        return {
            "robot": self.robot,
            "trajectory": {
                "file": self.trajectory.source,
                "rows": len(t),
                "duration": float(t[-1] - t[0]),
                "computed": list(self.trajectory.computed),
            },
            "formulation": self.formulation,
            "friction": self.friction,
            "residual": self.residual,
            "excesses": [excess.data() for excess in self.excesses],
            "joints": [
                {
                    "name": name,
                    "unit": self.units[i],
                    "limit": float(self.limits[i]) if np.isfinite(self.limits[i]) else None,
                    "peak_time": float(t[peaks[i]]),
                    **_extremes(t, self.total[:, i]),
                    "terms": {term: _extremes(t, v[:, i]) for term, v in self.terms.items()},
                }
                for i, name in enumerate(self.joints)
            ],
            "reactions": self._largest_reactions(),
        }

    def _largest_reactions(self) -> list[dict[str, Any]]:
        """For each link its largest force and moment, with their times."""
        if self.reactions is None:
            return []
        sizes = np.linalg.norm(self.reactions.reshape(*self.reactions.shape[:2], 2, 3), axis=-1)
        times, largest = self.trajectory.t[sizes.argmax(0)], sizes.max(0)
        return [
            {
                "link": link,
                "force": {"peak": float(largest[i, 0]), "peak_time": float(times[i, 0])},
                "moment": {"peak": float(largest[i, 1]), "peak_time": float(times[i, 1])},
            }
            for i, link in enumerate(self.links)
        ]


def torque_report(
    robot: Robot,
    trajectory: SampledMotion,
    *,
    friction: bool = True,
    formulation: str | None = None,
    reactions: bool = False,
    progress: Callable[[int], None] | None = None,
) -> TorqueReport:
    """The torques that drive a robot along a trajectory, and their terms; `reactions` if asked.

    A formulation gives the total only: the terms are always those of the ledger. `progress` is
    called with the number of instants computed since the last call.
    """
    rows, n = trajectory.q.shape
    if n != robot.n:
        raise TrajectoryError(
            f"the trajectory moves {n} joints, but {robot.name!r} has {robot.n}: "
            f"{', '.join(robot.joint_names)}"
        )
    total = np.empty((rows, n))
    received = np.empty((rows, len(robot.model.links), 6)) if reactions else None
    terms: dict[str, Array] = {}
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
        state = trajectory.q[part], trajectory.qd[part], trajectory.qdd[part]
        total[part] = robot.inverse_dynamics(*state, friction=friction, formulation=formulation)
        for name, values in robot.ledger(*state).terms.items():
            kept = terms.setdefault(name, np.zeros((rows, n)))
            # untouched zeros take no memory
            if values.any() and (friction or name not in FRICTION_ROWS):
                kept[part] = values
        if received is not None:
            received[part] = robot.reactions(*state)
        if progress is not None:
            progress(len(state[0]))
    moving = [robot.model.joints[i] for i in robot.model.independent]
    return TorqueReport(
        robot.name,
        robot.model.title or robot.name,
        robot.joint_names,
        tuple(joint.type.torque_unit for joint in moving),
        trajectory,
        total,
        terms,
        formulation or "minimal (compiled)",
        friction,
        effort_limits(robot.model),
        excesses(robot.model, trajectory.t, trajectory.q, trajectory.qd, total),
        tuple(link.name for link in robot.model.links),
        received,
    )


def _extremes(t: Array, values: Array) -> dict[str, float]:
    """The value of largest magnitude, and the root of the mean square over time."""
    peak = float(values[np.abs(values).argmax()])
    if len(t) == 1:
        return {"peak": peak, "rms": abs(peak)}
    square = np.square(values)
    integral = 0.5 * (square[1:] + square[:-1]) @ np.diff(t)
    return {"peak": peak, "rms": float(np.sqrt(integral / (t[-1] - t[0])))}
