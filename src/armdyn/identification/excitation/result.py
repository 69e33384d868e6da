"""The motion that was designed, with what it shows and which limits it uses."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.identification.excitation.picture import draw_excitation
from armdyn.identification.excitation.verify import Dense
from armdyn.report.figures import save_picture
from armdyn.report.result import Result, Section
from armdyn.robot import Robot
from armdyn.simulation.trajectories.periodic import Fourier
from armdyn.simulation.trajectories.recorded import Samples, sampled

STEP = 0.01
"""Time between the lines of a file [s]."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Excitation(Result):
    """A motion for the identification of a robot."""

    robot: Robot
    trajectory: Fourier
    """The motion; it starts and ends at rest."""
    criterion: str
    """What was made small: "condition" or "d-optimal"."""
    aim: str
    """What is to be found, in words."""
    parameters: tuple[str, ...]
    """The base parameters that are to be found, r of them."""
    singular_values: Array
    """Of the regressor stacked over the samples of one period, (r,), the largest first."""
    limits: MotionLimits
    """The limits as they are, without the margin."""
    margin: float
    dense: Dense
    """One period at many instants."""
    clearance: float | None
    """The distance that is kept [m]; None: distances were not looked at."""
    distances: tuple[Array, Array] | None
    """Times (k,) [s] and the least distance at each (k,) [m], far ones cut."""
    notes: tuple[str, ...]
    conditions: tuple[float, ...] = field(repr=False)
    """Condition number after each step of the search."""
    starts: tuple[float, ...]
    """Condition number with which the search from each start ended."""
    stopped: bool
    """Whether the search was ended before it had finished."""
    seed: int
    seconds: float
    """What the design took, compiling included [s]."""

    @property
    def condition(self) -> float:
        """Condition number of the base regressor along the motion, columns as they are."""
        return float(self.singular_values[0] / self.singular_values[-1])

    @property
    def shares(self) -> dict[str, Array]:
        """The largest share of each limit that the motion uses, each (n,)."""
        return self.limits.shares(*self.dense.motion, self.dense.tau)

    @property
    def least_distance(self) -> float | None:
        """Between any two solids along the motion [m]; None: distances were not looked at."""
        return None if self.distances is None else float(self.distances[1].min())

    def __repr__(self) -> str:
        return (
            f"<Excitation of {self.robot.name!r}, {self.trajectory.duration:g} s, condition "
            f"{self.condition:.4g}>"
        )

    def samples(self, dt: float = STEP) -> Samples:
        """The motion every dt seconds."""
        return sampled(self.trajectory, dt)

    def save(self, path: str | Path, dt: float = STEP) -> None:
        """Write a trajectory file with a line every dt seconds: t, q1..qn, qd1..qdn, qdd1..qddn."""
        self.samples(dt).save(path)

    def plot(self, path: str | Path) -> None:
        """Draw motions in their limits, the search and the clearance to a .png, .pdf or .svg."""
        save_picture(path, draw_excitation, self)

    # the report

    def sections(self) -> tuple[Section, ...]:
        """What the motion shows, and what it uses of each limit."""
        name = self.robot.model.title or self.robot.name
        title = f"{name}: motion of {self.trajectory.duration:g} s for identification"
        return (
            Section(title, self._lines(), data=self._data()),
            self._used(),
        )

    def _lines(self) -> tuple[str, ...]:
        motion, ends = self.trajectory, ", ".join(f"{c:.4g}" for c in sorted(self.starts))
        count = round(motion.duration * motion.frequency)
        lines = [
            f"condition number {self.condition:.4g} of the {len(self.parameters)} {self.aim}, "
            "columns as they are",
            f"{counted(count, 'period')} of {motion.period:.4g} s with {len(motion.a)} "
            f"harmonics up to {len(motion.a) * motion.frequency:.3g} Hz, from rest to rest",
            f"least {self.criterion} from {counted(len(self.starts), 'start')} (seed "
            f"{self.seed}), which ended at {ends}; {self.seconds:.1f} s",
        ]
        if self.stopped:
            lines.append("the search was stopped before it had finished")
        if self.least_distance is not None and self.clearance is not None:
            lines.append(
                f"links keep {self.least_distance:.3g} m from each other and from what is around; "
                f"{self.clearance:g} m are asked for"
            )
        return *lines, *self.notes

    def _used(self) -> Section:
        shares, limits = self.shares, self.limits
        q, qd, qdd = self.dense.motion
        rows = []
        joints = [self.robot.model.joints[i] for i in self.robot.model.independent]
        for i, joint in enumerate(joints):
            unit, torque_unit = joint.type.unit, joint.type.torque_unit
            peaks = (np.abs(values[:, i]).max() for values in (qd, qdd, self.dense.tau))
            bounds = limits.speed[i], limits.acceleration[i], limits.torque[i]
            cells = [
                f"{peak:.4g} of {bound:.4g}" if np.isfinite(bound) else f"{peak:.4g}"
                for peak, bound in zip(peaks, bounds, strict=True)
            ]
            rows.append(
                (
                    joint.name,
                    f"{unit}, {torque_unit}",
                    f"{q[:, i].min():.4g} to {q[:, i].max():.4g}",
                    f"{limits.lower[i]:.4g} to {limits.upper[i]:.4g}",
                    *cells,
                    f"{100 * max(float(share[i]) for share in shares.values()):.3g} %",
                )
            )
        columns = ("joint", "", "positions", "limits", "speed", "acceleration", "torque", "used")
        lines = (f"verified at {len(self.dense.t)} instants of a period; {self._unlimited()}",)
        return Section("Limits", lines, columns, tuple(rows), 2)

    def _unlimited(self) -> str:
        """What has no limit, in words."""
        free = [
            what
            for what in ("acceleration", "torque")
            if np.isinf(getattr(self.limits, what)).any()
        ]
        kept = f"a margin of {100 * self.margin:.3g} % is kept"
        return f"{kept}; {' and '.join(free)} not limited where no limit is shown" if free else kept

    def _data(self) -> dict[str, Any]:
        motion, names = self.trajectory, self.robot.joint_names
        return {
            "robot": self.robot.name,
            "duration": motion.duration,
            "frequency": motion.frequency,
            "criterion": self.criterion,
            "condition": self.condition,
            "parameters": list(self.parameters),
            "singular_values": self.singular_values.tolist(),
            "base": motion.base.tolist(),
            "a": motion.a.tolist(),
            "b": motion.b.tolist(),
            "used": {
                what: dict(zip(names, share.tolist(), strict=True))
                for what, share in self.shares.items()
            },
            "clearance": self.clearance,
            "least_distance": self.least_distance,
            "starts": list(self.starts),
            "steps": len(self.conditions),
            "stopped": self.stopped,
            "seed": self.seed,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }
