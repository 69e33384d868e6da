"""What a simulation gives: states, the forces that caused them, energies, a file, a picture."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import WriteError, check_installed, counted
from armdyn.forks import cached_property
from armdyn.io.atomic import ending
from armdyn.io.csv.table import numbered_columns, write_csv, write_parquet
from armdyn.mechanics.base_state import BaseState
from armdyn.report.portrait import figure_html
from armdyn.report.result import DrawnResult, Section, parts_of, unrounded, zero
from armdyn.robot import Robot
from armdyn.simulation.hand import Hand, base_of, base_section
from armdyn.simulation.limits import Excess, excess_section, excesses
from armdyn.simulation.plots import curves, draw
from armdyn.simulation.system import WORK, Event

FORMATS = (".csv", ".parquet")
DRY_ROUNDING = 1e-12
"""Dry friction below this part of the other friction is rounding."""
MAX_LISTED_EVENTS = 20
KEPT = "what was computed until then is kept"


@dataclass(frozen=True, eq=False)
class Simulation(DrawnResult):
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
    """Torques that the motion of the base gave at the joints, see `armdyn.simulation.forces`."""
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
    floating: Array | None = None
    """Pose, twist and acceleration of a base that nothing holds, (..., m, 24); None: it is held."""

    @classmethod
    def of(
        cls, robot: Robot, method: str, records: Sequence[Mapping[str, Any]], **told: Any
    ) -> Self:
        """The simulation of the records of `System.record`."""
        rows: dict[str, Any] = {
            name: np.stack([record[name] for record in records], axis=-2)
            for name in records[0]
            if name != "t"
        }
        return cls(robot, method, np.array([record["t"] for record in records]), **rows, **told)

    @property
    def tracking_error(self) -> Array | None:
        """How far the reference was from the positions, as q [rad or m]; None without one."""
        return None if self.reference is None else self.reference - self.q

    @property
    def base_state(self) -> BaseState | None:
        """Pose and twist of a base that nothing holds, at each instant."""
        return None if self.floating is None else base_of(self.floating)[0]

    @property
    def base_frame(self) -> Hand | None:
        """Its frame in the world, and how this moves."""
        return None if self.floating is None else Hand.of_base(self.floating)

    @cached_property
    def kinetic(self) -> Array:
        """Kinetic energy, (..., m) [J]."""
        if self.base_state is not None:
            return self.robot.free_base.kinetic_energy(self.base_state, self.q, self.qd)
        return self.robot.kinetic_energy(self.q, self.qd)

    @cached_property
    def potential(self) -> Array:
        """Potential energy, (..., m) [J]."""
        if self.base_state is not None:
            return self.robot.free_base.potential_energy(self.base_state, self.q)
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
        return Hand.of(self.robot, self.q, self.qd, self.qdd, self.floating)

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
        if self.floating is None:
            ledger = self.robot.ledger(self.q, self.qd, self.qdd)
        else:
            base, a = base_of(self.floating)
            ledger = self.robot.free_base.ledger(base, self.q, self.qd, a, self.qdd)
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
            "spin": ledger.spin,
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

    def sections(self) -> tuple[Section, ...]:
        """How it went, the state at the end, errors of tracking, where energy went, and events.

        In the data several arms have lists of what one arm has.
        """
        name, counts = self.robot.model.title or self.robot.name, self.statistics
        many = "" if self.q.ndim == 2 else f", {counted(self.arms, 'arm')}"
        told = [f"{counts[key]:.0f} {key}" for key in ("steps", "evaluations") if counts.get(key)]
        told += [f"residual {counts['residual']:.1e}"] if "residual" in counts else []
        told += [f"{counts['seconds']:.3g} s to compute"] if "seconds" in counts else []
        ended = () if self.status == "finished" else (self.message, KEPT)
        data = {"robot": self.robot.name, **parts_of(self, "method", "status", "message", "arms")}
        data |= {"duration": self.t[-1], "hand": self.hand.data(), "statistics": counts}
        data["excesses"] = [excess.data() for excess in self.excesses]
        title = f"{name}{many}: {self.t[-1]:.6g} s by {self.method}"
        return (
            Section(title, (", ".join(told), *ended), data=data),
            excess_section(self.excesses, given=False),
            self._final_section(),
            base_section(self.floating),
            self._tracking_section(),
            self._energy_section(),
            self._event_section(),
        )

    def _final_section(self) -> Section:
        final = {name: x[..., -1, :] for name, x in parts_of(self, "q", "qd", "qdd", "tau").items()}
        if self.q.ndim > 2:
            shares = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
            final = {
                f"{name} {share}": np.quantile(final[name].reshape(-1, self.robot.n), part, axis=0)
                for name in ("q", "qd")
                for share, part in shares.items()
            }
        rows = [
            (
                *(joint.name, f"{joint.type.unit}, {joint.type.torque_unit}"),
                *(f"{unrounded(x[i], float(np.abs(x).max())):.6g}" for x in final.values()),
            )
            for i, joint in enumerate(self.robot.model.coordinate_joints)
        ]
        data = {name: x[..., -1, :] for name, x in parts_of(self, "q", "qd").items()}
        return Section("At the end", (), ("joint", "", *final), rows, 2, data)

    def _tracking_section(self) -> Section:
        """How far arms were from what their controller was to follow; empty without one."""
        if self.tracking_error is None:
            return Section("", data={"tracking": None})
        error = self.tracking_error.reshape(-1, self.robot.n)  # over all arms and instants
        largest = np.abs(error).max(axis=0)
        rms = np.sqrt(np.mean(np.square(error), axis=0))
        rows = [
            (joint.name, joint.type.unit, *(f"{unrounded(x[i], 1.0):.6g}" for x in (largest, rms)))
            for i, joint in enumerate(self.robot.model.coordinate_joints)
        ]
        data = {"tracking": {"largest": largest, "rms": rms}}
        return Section("Error of tracking", (), ("joint", "", "largest", "RMS"), rows, 2, data)

    def _energy_section(self) -> Section:
        many = "" if self.q.ndim == 2 else ", mean of the arms"
        stored = {"kinetic": self.kinetic, "potential": self.potential, "sum": self.energy}
        scale = float(max(np.abs(values).max() for values in stored.values()))
        rows = []
        for name, values in stored.items():
            first = values[..., 0].mean()
            last = values[..., -1].mean()
            rows.append(
                (name, *(f"{unrounded(x, scale):.6g}" for x in (first, last, last - first)))
            )
        works = self.work[..., -1, :].reshape(-1, 4).mean(axis=0) * (1, -1, 1, -1)
        outside = "from the environment" + (" and the base" if self.base.any() else "")
        words = ("from actuators", "to friction", outside, "to impacts")
        rows += [
            (word, "", "", f"{unrounded(value, scale):.6g}")
            for word, value in zip(words, works, strict=True)
            if value
        ]
        rows.append(("unaccounted for", "", "", zero(self.balance[..., -1].mean(), scale)))
        title = f"Energy [J]{many}; drift {self.energy_drift:.1e}"
        data = {name: x[..., -1] for name, x in parts_of(self, "kinetic", "potential").items()}
        data["work"] = {name: self.work[..., -1, k] for k, name in enumerate(WORK)}
        data |= {"unaccounted": self.balance[..., -1], **parts_of(self, "energy_drift")}
        return Section(title, (), ("", "start", "end", "change"), rows, data=data)

    def _event_section(self) -> Section:
        lines = [str(event) for event in self.events[:MAX_LISTED_EVENTS]]
        more = len(self.events) - len(lines)
        lines += [f"and {more} more"] if more else []
        data = {"events": [parts_of(event, "t", "kind", "joint") for event in self.events]}
        return Section(f"Events: {len(self.events)}" if lines else "", lines, data=data)

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
        based = {} if self.base_frame is None else self.base_frame.columns("base")
        return named | self.hand.columns() | based

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
        told = {"robot": self.robot.name, "method": self.method, "status": self.status}
        write_parquet(path, columns, told)

    def _repr_html_(self) -> str:
        """The report and its plots, in a notebook."""
        return super()._repr_html_() + figure_html(self.figure)

    def figure(self) -> Any:
        """Positions, torques with their terms, energies and power.

        Of many arms it shows the median, and bands that hold a half and nine tenths of them.
        """
        return draw(self, curves(self))


def check_save(path: str | Path) -> None:
    """Refuse, before anything is computed, a file that could not be written."""
    kind = ending(path, ".csv")
    if kind not in FORMATS:
        raise WriteError(
            f"cannot write a simulation to {str(path)!r}: the ending must be one of "
            f"{', '.join(FORMATS)}"
        )
    if kind == ".parquet":
        check_installed("pyarrow", "parquet", "writing Parquet")
