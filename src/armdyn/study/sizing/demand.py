"""What the worst state asks of each motor, and a map of how hard motors work over two joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import save_picture
from armdyn.robot import Robot
from armdyn.sections import Section, Sectioned
from armdyn.study.sizing.heat_map import HeatMap, draw_worst_case


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """The state that asks most of the motor of one joint."""

    joint: str
    unit: str
    """Of its torque."""
    torque: float
    """What the motor gives there [N m or N]."""
    limit: float
    """What it can give; infinite if that is not known."""
    q: Array
    """Positions of all joints, (n,) [rad or m]."""
    qd: Array
    qdd: Array
    payload: float
    """What is held there [kg]."""
    breaking_payload: float
    """The lightest payload that takes the motor to its limit in this motion [kg]; infinite if
    none does, 0 if it is beyond the limit without any."""

    @property
    def use(self) -> float:
        """Torque over limit; 0 where there is no limit."""
        return abs(self.torque) / self.limit

    @property
    def margin(self) -> float:
        """What is left, in percent of the limit; negative: the motor breaks; nan: no limit."""
        return 100 * (1 - self.use) if np.isfinite(self.limit) else float("nan")

    @property
    def breaks(self) -> bool:
        """Whether the motor cannot give what is asked."""
        return self.use > 1

    def __str__(self) -> str:
        asked = f"{self.joint} needs {abs(self.torque):.4g} {self.unit}"
        if not np.isfinite(self.limit):
            return f"{asked}; the limit of its motor is not known"
        left = (
            f"{self.margin:.3g} % are left" if not self.breaks else f"{-self.margin:.3g} % missing"
        )
        return f"{asked} of {self.limit:.4g}: {left}"


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase(Sectioned):
    """The worst states of a robot, motor by motor."""

    robot: Robot = field(repr=False)
    demands: tuple[Demand, ...]
    """One a coordinate, in their order."""
    payload: float
    """The heaviest payload that was allowed [kg]."""
    speed: float
    """The share of the velocity limits that was allowed."""
    acceleration: Array
    """The largest accelerations that were allowed, (n,) [rad/s² or m/s²]."""
    map: HeatMap
    states: int
    """How many states were evaluated."""

    @property
    def worst(self) -> Demand:
        """The demand on the motor that has least left; without limits, the largest torque."""
        return max(self.demands, key=lambda demand: (demand.use, abs(demand.torque)))

    @property
    def broken(self) -> tuple[Demand, ...]:
        """The demands that motors cannot meet."""
        return tuple(demand for demand in self.demands if demand.breaks)

    def sections(self) -> tuple[Section, ...]:
        """The table of motors, and all numbers as data."""
        title = f"{self.robot.model.title or self.robot.name}: the worst case of each motor"
        allowed = f"up to {self.payload:g} kg held, {100 * self.speed:.3g} % of the velocity limits"
        most = float(self.acceleration.max(initial=0.0))
        lines = (
            f"over all positions within the limits, {allowed}, accelerations up to {most:g}",
            str(self.worst),
            f"found among {self.states:,} states; that there is none worse is not proved",
        )
        rows = tuple(
            (
                demand.joint,
                f"{demand.torque:.4g} {demand.unit}",
                *(("-", "-") if np.isinf(demand.limit) else
                  (f"{demand.limit:.4g}", f"{demand.margin:.3g} %")),
                f"{demand.payload:.3g}",
                "-" if np.isinf(demand.breaking_payload) else f"{demand.breaking_payload:.3g}",
                " ".join(f"{x:.3g}" for x in demand.q),
                " ".join(f"{x:.3g}" for x in demand.qd),
            )
            for demand in self.demands
        )  # fmt: skip
        columns = ("joint", "torque", "limit", "margin", "held [kg]", "breaks at [kg]", "q", "qd")
        data = {
            "robot": self.robot.name,
            "payload": self.payload,
            "speed": self.speed,
            "acceleration": self.acceleration.tolist(),
            "states": self.states,
            "worst": self.worst.joint,
            "joints": [_data(demand) for demand in self.demands],
        }
        return (Section(title, lines, columns, rows, 1, data),)

    def plot(self, path: str | Path) -> None:
        """Draw the use of each motor and the map, to a .png, .pdf or .svg file."""
        name = self.robot.model.title or self.robot.name
        bars = [(demand.joint, demand.use, str(demand)) for demand in self.demands]
        save_picture(path, draw_worst_case, f"{name}: worst case", str(self.worst), bars, self.map)


def _data(demand: Demand) -> dict[str, Any]:
    return {
        "joint": demand.joint,
        "torque": demand.torque,
        "limit": demand.limit,
        "use": demand.use,
        "margin_percent": demand.margin,
        "payload": demand.payload,
        "breaking_payload": demand.breaking_payload,
        "q": demand.q.tolist(),
        "qd": demand.qd.tolist(),
        "qdd": demand.qdd.tolist(),
    }
