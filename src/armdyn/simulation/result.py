"""What a simulation gives: states, the forces that caused them, energies, a file, a picture."""

import importlib.util
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import MissingExtraError, WriteError, counted
from armdyn.forks import cached_property
from armdyn.html import html_text
from armdyn.io.atomic import ending, replacing
from armdyn.io.csv.table import numbered_columns, write_csv
from armdyn.report.figures import save_picture
from armdyn.report.portrait import figure_html
from armdyn.robot import Robot
from armdyn.simulation.hand import Hand
from armdyn.simulation.limits import Excess, excesses
from armdyn.simulation.plots import curves, draw
from armdyn.simulation.system import WORK, Event

FORMATS = (".csv", ".parquet")
DRY_ROUNDING = 1e-12
"""Dry friction below this part of the other friction is rounding."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """A motion; arrays have the shape (..., m, n) for m instants and any number of arms."""

    robot: Robot
    method: str
    t: Array
    """Times, (m,) [s]."""
    q: Array
    """Positions [rad or m]."""
    qd: Array
    """Velocities."""
    qdd: Array
    """Accelerations."""
    tau: Array
    """Torques of the actuators [N m or N]."""
    friction: Array
    """Torques that friction took, those that hold a joint included."""
    stop: Array
    """Torques that stops gave."""
    external: Array
    """Torques that the wrench of the environment gave at the joints."""
    base: Array
    """Torques that the motion of the base gave at the joints, see `armdyn.simulation.base`."""
    work: Array
    """Energy since the start that actuators gave, friction took, the environment and the motion of
    the base gave and impacts took, (..., m, 4) [J]."""
    events: tuple[Event, ...] = ()
    """When joints stuck, started, hit their stops and left them."""
    status: str = "finished"
    """"finished", "interrupted" or "diverged"."""
    message: str = ""
    """Why it ended early, with time and state."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """Steps, evaluations of the dynamics, seconds."""
    reference: Array | None = None
    """Positions that a controller of joints was to follow, as q; None without one."""

    @property
    def tracking_error(self) -> Array | None:
        """How far the reference was from the positions, as q [rad or m]; None without one."""
        return None if self.reference is None else self.reference - self.q

    @cached_property
    def kinetic(self) -> Array:
        """Kinetic energy, (..., m) [J]."""
        return self.robot.kinetic_energy(self.q, self.qd)

    @cached_property
    def potential(self) -> Array:
        """Potential energy, (..., m) [J]."""
        return self.robot.potential_energy(self.q)

    @cached_property
    def energy(self) -> Array:
        """Their sum, (..., m) [J]."""
        return self.kinetic + self.potential

    @cached_property
    def power(self) -> Array:
        """Power of the actuators, (..., m) [W]."""
        return np.sum(self.tau * self.qd, axis=-1)

    @cached_property
    def hand(self) -> Hand:
        """Pose, velocity and acceleration of the tool."""
        return Hand.of(self.robot, self.q, self.qd, self.qdd)

    @cached_property
    def balance(self) -> Array:
        """Energy that is unaccounted for, (..., m) [J]: zero but for errors of integration."""
        given, taken, pulled, lost = np.moveaxis(self.work, -1, 0)
        gained = self.energy - self.energy[..., :1]
        return gained - given + taken - pulled + lost

    @cached_property
    def energy_drift(self) -> float:
        """The largest energy unaccounted for, relative to the energies that were exchanged.

        Those count as a millionth of the energy at least: an arm at rest exchanges rounding alone.
        """
        if not self.t.size:
            return 0.0
        swing = np.ptp(self.potential, axis=-1) + self.kinetic.max(axis=-1)
        moved = np.abs(self.work).max(axis=(-1, -2))
        least = 1e-6 * np.abs(self.energy).max(axis=-1)
        scale = np.maximum(swing + moved, least + np.finfo(float).tiny)
        return float((np.abs(self.balance).max(axis=-1) / scale).max())

    @cached_property
    def excesses(self) -> tuple[Excess, ...]:
        """Where positions, speeds and torques go beyond limits, of many arms where most."""
        return excesses(self.robot.model, self.t, self.q, self.qd, self.tau)

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return math.prod(self.q.shape[:-2])

    def terms(self) -> dict[str, Array]:
        """What the torques of the actuators are made of; the terms add up to `tau`.

        Dry friction is Coulomb's and Stribeck's while a joint slips, and what holds it while it
        sticks.
        """
        ledger = self.robot.ledger(self.q, self.qd, self.qdd)
        rubs = self.friction.any()
        rows = ledger.viscous, ledger.offset
        viscous, offset = rows if rubs else map(np.zeros_like, rows)
        dry = self.friction - viscous - offset
        rounding = DRY_ROUNDING * (np.abs(viscous) + np.abs(offset))
        return {
            "inertial": ledger.inertial,
            "coriolis": ledger.coriolis,
            "gravity": ledger.gravity,
            "rotor": ledger.rotor,
            "viscous": viscous,
            "offset": offset,
            "dry friction": np.where(np.abs(dry) > rounding, dry, 0.0),
            "external": -self.external,
            "base": -self.base,
            "stops": -self.stop,
        }

    def __repr__(self) -> str:
        many = f", {counted(self.arms, 'arm')}" if self.q.ndim > 2 else ""
        last = self.t[-1] if self.t.size else 0.0
        return (
            f"<Simulation of {self.robot.name!r}{many}, {last:.6g} s by {self.method}, "
            f"{self.status}, energy drift {self.energy_drift:.1e}>"
        )

    def data(self) -> dict[str, Any]:
        """A summary as plain data; several arms have lists of what one arm has."""
        texts = ("method", "status", "message", "arms")
        scalars = {"kinetic": self.kinetic, "potential": self.potential}
        return {
            "robot": self.robot.name,
            **{name: getattr(self, name) for name in texts},
            "duration": float(self.t[-1]),
            **{name: getattr(self, name)[..., -1, :].tolist() for name in ("q", "qd")},
            **{name: values[..., -1].tolist() for name, values in scalars.items()},
            "hand": self.hand.data(),
            "work": {name: self.work[..., -1, k].tolist() for k, name in enumerate(WORK)},
            "unaccounted": self.balance[..., -1].tolist(),
            "energy_drift": self.energy_drift,
            "tracking": self._tracking(),
            "excesses": [excess.data() for excess in self.excesses],
            "events": [{"t": e.t, "kind": e.kind, "joint": e.joint} for e in self.events],
            "statistics": dict(self.statistics),
        }

    def _tracking(self) -> dict[str, list[float]] | None:
        """Largest and root mean square error of each joint, over all arms and instants."""
        if self.tracking_error is None:
            return None
        error = self.tracking_error.reshape(-1, self.robot.n)
        rms = np.sqrt(np.mean(np.square(error), axis=0))
        return {"largest": np.abs(error).max(axis=0).tolist(), "rms": rms.tolist()}

    def columns(self) -> dict[str, Array]:
        """A table: t, q1.., qd1.., qdd1.., tau1.., what else acts, energies, the hand.

        Several arms are one below the other, with their number, from 0 on, in a column `arm`.
        """
        others = ("friction", "stop", "external", "base")
        acting = [name for name in others if getattr(self, name).any()]
        named = {"arm": np.repeat(np.arange(self.arms), len(self.t))} if self.q.ndim > 2 else {}
        named["t"] = np.tile(self.t, self.arms)
        followed = ["reference"] if self.reference is not None else []
        for name in ("q", "qd", "qdd", "tau", *acting, *followed):
            named |= numbered_columns({name: getattr(self, name).reshape(-1, self.robot.n)})
        named |= {name: getattr(self, name).reshape(-1) for name in ("kinetic", "potential")}
        return named | self.hand.columns()

    def save(self, path: str | Path) -> None:
        """Write the motion to a .csv or .parquet file; several arms get a column `arm`.

        A CSV has twelve digits of each number, Parquet has all of them, and the names of the robot
        and of the method in its metadata. The file appears whole or not at all.

        Raises:
            MissingExtraError: pyarrow is not installed, and the file is a Parquet one.
            WriteError: The ending is not one of these, or the file cannot be written.
        """
        check_save(path)
        columns = self.columns()
        if ending(path, ".csv") == ".csv":
            write_csv(path, columns)
            return
        import pyarrow  # noqa: PLC0415 (an extra)
        import pyarrow.parquet  # noqa: PLC0415 (an extra)

        told = {"robot": self.robot.name, "method": self.method, "status": self.status}
        table = pyarrow.table(columns, metadata=told)
        with replacing(path) as stream:
            pyarrow.parquet.write_table(table, stream)

    def _repr_html_(self) -> str:
        """How it ended and its plots, in a notebook."""
        name = self.robot.model.title or self.robot.name
        text = f"{name}: {self.t[-1]:.6g} s by {self.method}, {self.status}"
        return html_text(text) + figure_html(lambda: draw(self, curves(self)))

    def plot(self, path: str | Path) -> None:
        """Draw positions, torques with their terms, energies and power to a .png, .pdf or .svg.

        Of many arms it shows the median, and bands that hold a half and nine tenths of them.
        """
        save_picture(path, lambda: draw(self, curves(self)))


def check_save(path: str | Path) -> None:
    """Refuse, before anything is computed, a file that could not be written."""
    kind = ending(path, ".csv")
    if kind not in FORMATS:
        raise WriteError(
            f"cannot write a simulation to {str(path)!r}: the ending must be one of "
            f"{', '.join(FORMATS)}"
        )
    if kind == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "parquet", "writing Parquet")
