"""Motions that are played: from a file, of a simulation, or made up between two poses."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.io.csv.trajectory import SampledMotion, trajectory_from_csv
from armdyn.simulation.controllers import GravityPD
from armdyn.simulation.limits import effort_limits
from armdyn.simulation.simulator import simulate
from armdyn.simulation.trajectories import quintic, sampled
from armdyn.studio.arm import State
from armdyn.studio.background import Tell
from armdyn.terms.torques import torque_report

RECORDED_INSTANTS = 400
"""Instants that are kept of a motion made here."""
TELL_PERIOD = 0.2
"""Time between two messages on how far a simulation is [s]."""
STIFFNESS, DAMPING = 60.0, 12.0
"""Springs that hold an arm, relative to the diagonal of the mass matrix [1/s², 1/s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A motion with its torques, at m instants."""

    title: str
    t: Array
    """(m,) [s]."""
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    """Torques of the actuators, (m, n)."""
    terms: dict[str, Array] = field(default_factory=dict)
    """What they are made of, (m, n) each."""
    note: str = ""
    """What people should know about it."""
    limits: Array | None = None
    """Highest torques, (n,), which a plot marks where they are exceeded; None: not known."""

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.t[-1] - self.t[0])

    def at(self, time: float, payload: float) -> State:
        """The state at a time since the start, on straight lines between the instants."""
        when = self.t[0] + min(max(time, 0.0), self.duration)
        q, qd, qdd = (
            np.array([np.interp(when, self.t, column) for column in rows.T])
            for rows in (self.q, self.qd, self.qdd)
        )
        return State(q, qd, qdd, payload)

    def columns(self) -> dict[str, Array]:
        """The table t, q1.., qd1.., qdd1.., tau1.., and the terms."""
        groups = {"q": self.q, "qd": self.qd, "qdd": self.qdd, "tau": self.tau, **self.terms}
        table = {"t": self.t}
        for name, values in groups.items():
            word = name.replace(" ", "_")
            table |= {f"{word}{i + 1}": values[:, i] for i in range(values.shape[1])}
        return table


def from_file(robot: Robot, path: Path) -> Recording:
    """The motion in a trajectory file, and the torques that it takes."""
    return _driven(robot, trajectory_from_csv(path, robot.model), path.name)


def there_and_back(robot: Robot, here: Array, there: Array, seconds: float) -> Recording:
    """A smooth move to another pose and back, and the torques that it takes."""
    half = seconds / 2
    out = sampled(quintic(here, there, half), seconds / RECORDED_INSTANTS)
    back = sampled(quintic(there, here, half), seconds / RECORDED_INSTANTS)
    t = np.concatenate([out.t, half + back.t[1:]])
    q, qd, qdd = (
        np.concatenate([getattr(out, key), getattr(back, key)[1:]]) for key in ("q", "qd", "qdd")
    )
    return _driven(robot, SampledMotion(t, q, qd, qdd), "there and back")


def simulated(robot: Robot, state: State, seconds: float, held: bool, tell: Tell) -> Recording:
    """What happens from a state on: without any torque, or held by springs and dampers."""
    law, told = None, 0.0
    if held:
        scale = np.diag(robot.mass_matrix(state.q))
        law = GravityPD(robot, state.q, STIFFNESS * scale, DAMPING * scale)

    def progress(t: float) -> None:
        nonlocal told
        if time.monotonic() - told > TELL_PERIOD:
            told = time.monotonic()
            tell(f"simulating, {t:.2f} of {seconds:g} s")

    found = simulate(
        robot, state.q, state.qd, seconds, controller=law, dt=seconds / RECORDED_INSTANTS,
        rtol=1e-7, atol=1e-8, progress=progress,
    )  # fmt: skip
    terms = {name: values for name, values in found.terms().items() if values.any()}
    title = "held by springs" if held else "let go"
    note = "; ".join(filter(None, (found.message, *map(str, found.excesses))))
    motion = found.t, found.q, found.qd, found.qdd, found.tau
    return Recording(title, *motion, terms, note, effort_limits(robot.model))


def _driven(robot: Robot, trajectory: SampledMotion, title: str) -> Recording:
    report = torque_report(robot, trajectory)
    motion = trajectory.t, trajectory.q, trajectory.qd, trajectory.qdd
    note = "; ".join(filter(None, (trajectory.note, *map(str, report.excesses))))
    return Recording(title, *motion, report.total, report.acting, note, report.limits)
