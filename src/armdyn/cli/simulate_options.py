"""What a simulation starts from and what drives it, from the words of a command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from armdyn.cli.motion_options import joint_values, warn_of_degrees
from armdyn.cli.options import numbers
from armdyn.errors import ArmdynWarning
from armdyn.loops.coordinates import coordinates_of

if TYPE_CHECKING:
    from armdyn.arrays import Array
    from armdyn.robot import Robot

GAINS: Mapping[str, tuple[str, ...]] = {
    "free": (),
    "gravity-pd": ("kp", "kd"),
    "computed-torque": ("kp", "kd"),
    "slotine-li": ("rate", "kd"),
    "operational-space": ("kp", "kd"),
    "impedance": ("kp", "kd"),
}
"""The controllers and the gains that each has."""
OF_THE_TOOL = ("operational-space", "impedance")
"""Controllers in coordinates of the tool."""
DEFAULT_DURATION = 1.0
"""How long a simulation takes if no option says it [s]."""


def start(
    arm: Robot, q0: str, qd0: str, arms: int | None, seed: int, degrees: bool = False
) -> tuple[Array, Array]:
    """Positions and velocities at the start, (n,), or (arms, n)."""
    lower, upper = arm.limits.T
    qd = np.zeros(arm.n) if qd0 == "zeros" else joint_values(arm, "--qd0", qd0, degrees)
    if arms is not None:
        if q0 != "start":
            raise typer.BadParameter("--arms chooses where arms start; leave out --q0")
        q = coordinates_of(arm.model).drawn_in_ranges(np.random.default_rng(seed), arms)
        return q, np.broadcast_to(qd, q.shape)
    q = _position(arm, q0, degrees)
    for joint, value, low, high in zip(arm.joint_names, q, lower, upper, strict=True):
        if not low <= value <= high:
            text = f"{joint} starts at {value:.4g}, beyond its limits of {low:.4g} to {high:.4g}"
            warnings.warn(text, ArmdynWarning, stacklevel=2)
    return q, qd


def _position(arm: Robot, q0: str, degrees: bool) -> Array:
    """Where one arm starts, (n,): by a word, or by numbers."""
    if q0 == "start":
        return arm.start
    if q0 == "zeros":
        return np.zeros(arm.n)
    if q0 == "middle":
        limited = np.isfinite(arm.limits).all(axis=1)
        return np.where(limited, np.nan_to_num(arm.limits).mean(axis=1), 0.0)
    q = joint_values(arm, "--q0", q0, degrees)
    warn_of_degrees(arm, q)
    return q


def torques(arm: Robot, text: str | None) -> tuple[list[float] | Path | None, float | None]:
    """The torques of --torque, as numbers or as their file, and how long they last [s]."""
    if text is None:
        return None, None
    if not text.lower().endswith(".csv"):
        return numbers("--torque", text, (arm.n,)), None
    from armdyn.io.csv.trajectory import torques_from_csv

    times, _ = torques_from_csv(text, arm.n)
    return Path(text), float(times[-1])


@dataclass(frozen=True)
class ControllerOptions:
    """The options that choose a controller and what it follows."""

    name: str
    target: str | None
    move: str | None
    line: str | None
    move_time: float | None
    """How long the move or the line takes [s]."""
    gains: Mapping[str, str | None]
    compensate: bool
    degrees: bool = False
    """Whether angles are in degrees."""

    def controller(
        self, arm: Robot, q: Array, duration: float
    ) -> tuple[Callable[..., Any] | None, float | None]:
        """The controller, None for free motion, and how long what it follows takes [s].

        The arm starts at q; a move takes the duration [s] if nothing else is said.
        """
        given = {option: text for option, text in self.gains.items() if text is not None}
        self._check(given)
        if self.name == "free":
            return None, None
        motion, time = self._motion(arm, q, duration)
        if self.name in OF_THE_TOOL and self.compensate:
            raise typer.BadParameter(f"--compensate: {self.name} does not follow a velocity")
        law, count, names = self._law(arm)
        values = {
            names[option]: _gain(f"--{option}", text, count) for option, text in given.items()
        }
        extra = {} if self.name in OF_THE_TOOL else {"friction": self.compensate}
        return law(arm, motion, **extra, **values), time

    def _law(self, arm: Robot) -> tuple[Callable[..., Any], int, dict[str, str]]:
        """The class of the controller, how many gains it has of a kind, and their names."""
        from armdyn import simulation as laws
        from armdyn.formulations.cartesian import default_task

        names = {option: option for option in GAINS[self.name]}
        if self.name == "impedance":
            return laws.CartesianImpedance, 6, {"kp": "stiffness", "kd": "damping"}
        if self.name == "operational-space":
            return laws.OperationalSpace, len(default_task(coordinates_of(arm.model))), names
        of_joints = {"gravity-pd": laws.GravityPD, "computed-torque": laws.ComputedTorque}
        return of_joints.get(self.name, laws.SlotineLi), arm.n, names

    def _check(self, gains: Mapping[str, str]) -> None:
        """Refuse options that the controller does not have."""
        for option in gains:
            if option not in GAINS[self.name]:
                raise typer.BadParameter(
                    f"--{option}: the controller {self.name!r} has no such gain"
                )
        if self.move_time is not None and self.move is None and self.line is None:
            raise typer.BadParameter("--move-time: there is no --move that could take so long")
        ways = {"--target": self.target, "--move": self.move, "--line": self.line}
        options: dict[str, Any] = {**ways, "--compensate": self.compensate}
        for option, value in options.items():
            if value and self.name == "free":
                others = ", ".join(list(GAINS)[1:])
                raise typer.BadParameter(f"{option} needs a --controller: {others}")

    def _motion(self, arm: Robot, q: Array, duration: float) -> tuple[Any, float | None]:
        """What a controller follows, positions or a motion, and how long that takes [s]."""
        from armdyn.simulation import from_csv, quintic

        ways = {"--target": self.target, "--move": self.move, "--line": self.line}
        given = [option for option, text in ways.items() if text is not None]
        if len(given) > 1:
            raise typer.BadParameter(f"give a {given[0]} or a {given[1]}, not both")
        if self.move is not None or self.line is not None:
            if q.ndim > 1:
                raise typer.BadParameter(f"{given[0]} has one start; give many arms a --target")
            time = duration if self.move_time is None else self.move_time
            if self.line is not None:
                return self._line(arm, q, numbers("--line", self.line, (3,)), time), time
            return quintic(q, joint_values(arm, "--move", str(self.move), self.degrees), time), time
        if self.target is None:
            if q.ndim > 1:
                raise typer.BadParameter("many arms under a controller need a --target")
            return q, None
        if not (self.target.lower().endswith(".csv") or self.target == "-"):
            return joint_values(arm, "--target", self.target, self.degrees), None
        trajectory = from_csv(self.target, arm, degrees=self.degrees)
        return trajectory, trajectory.duration

    def _line(self, arm: Robot, q: Array, position: list[float], time: float) -> Any:
        """A straight line of the tool, which keeps its orientation if it can."""
        from armdyn.simulation import cartesian_line, tool_line

        if self.name not in OF_THE_TOOL:
            turn: Any = "keep" if arm.n >= 6 else "free"
            return cartesian_line(arm, q, position, turn, duration=time)
        start = arm.forward_kinematics(q)
        end = start.copy()
        end[:3, 3] = position
        return tool_line(start, end, duration=time)


def _gain(option: str, text: str, count: int) -> float | list[float]:
    values = numbers(option, text, tuple(dict.fromkeys((1, count))))
    return values[0] if len(values) == 1 else values
