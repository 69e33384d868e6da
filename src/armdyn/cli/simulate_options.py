"""What a simulation starts from and what drives it, from the words of a command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from armdyn.cli.options import numbers

if TYPE_CHECKING:
    from armdyn.arrays import Array
    from armdyn.dynamics import Robot

GAINS: Mapping[str, tuple[str, ...]] = {
    "free": (),
    "gravity-pd": ("kp", "kd"),
    "computed-torque": ("kp", "kd"),
    "slotine-li": ("rate", "kd"),
    "impedance": ("kp", "kd"),
}
"""The controllers and the gains that each has."""
DEFAULT_DURATION = 1.0
"""How long a simulation takes if no option says it [s]."""


def start(arm: Robot, q0: str, qd0: str, arms: int | None, seed: int) -> tuple[Array, Array]:
    """Positions and velocities at the start, (n,), or (arms, n)."""
    lower, upper = arm.limits.T
    qd = np.zeros(arm.n) if qd0 == "zeros" else np.array(numbers("--qd0", qd0, (arm.n,)))
    if arms is not None:
        if q0 != "zeros":
            raise typer.BadParameter("--arms chooses where arms start; leave out --q0")
        low, high = arm.model.ranges.T
        q = np.random.default_rng(seed).uniform(low, high, (arms, arm.n))
        return q, np.broadcast_to(qd, q.shape)
    if q0 == "zeros":
        return np.zeros(arm.n), qd
    if q0 == "middle":
        limited = np.isfinite(lower) & np.isfinite(upper)
        return np.where(limited, 0.5 * (np.nan_to_num(lower) + np.nan_to_num(upper)), 0.0), qd
    return np.array(numbers("--q0", q0, (arm.n,))), qd


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
    move_time: float | None
    """How long the move takes [s]."""
    gains: Mapping[str, str | None]
    compensate: bool

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
        count = 6 if self.name == "impedance" else arm.n
        values = {option: _gain(f"--{option}", text, count) for option, text in given.items()}
        motion, time = self._motion(arm, q, duration)
        if self.name == "impedance":
            if self.compensate:
                raise typer.BadParameter("--compensate: impedance does not follow a velocity")
            return _impedance(arm, motion, values), time
        from armdyn.simulation import ComputedTorque, GravityPD, SlotineLi

        laws = {"gravity-pd": GravityPD, "computed-torque": ComputedTorque}
        law: Callable[..., Any] = laws.get(self.name, SlotineLi)
        return law(arm, motion, friction=self.compensate, **values), time

    def _check(self, gains: Mapping[str, str]) -> None:
        """Refuse options that the controller does not have."""
        for option in gains:
            if option not in GAINS[self.name]:
                raise typer.BadParameter(
                    f"--{option}: the controller {self.name!r} has no such gain"
                )
        if self.move_time is not None and self.move is None:
            raise typer.BadParameter("--move-time: there is no --move that could take so long")
        options = {"--target": self.target, "--move": self.move, "--compensate": self.compensate}
        for option, value in options.items():
            if value and self.name == "free":
                others = ", ".join(list(GAINS)[1:])
                raise typer.BadParameter(f"{option} needs a --controller: {others}")

    def _motion(self, arm: Robot, q: Array, duration: float) -> tuple[Any, float | None]:
        """What a controller follows, positions or a trajectory, and how long that takes [s]."""
        from armdyn.simulation import from_csv, quintic

        if self.move is not None:
            if self.target is not None:
                raise typer.BadParameter("give a --target or a --move, not both")
            end = numbers("--move", self.move, (arm.n,))
            if q.ndim > 1:
                raise typer.BadParameter("--move has one start; give many arms a --target")
            time = duration if self.move_time is None else self.move_time
            return quintic(q, end, time), time
        if self.target is None:
            if q.ndim > 1:
                raise typer.BadParameter("many arms under a controller need a --target")
            return q, None
        if not self.target.lower().endswith(".csv"):
            return numbers("--target", self.target, (arm.n,)), None
        trajectory = from_csv(self.target, arm)
        return trajectory, trajectory.duration


def _impedance(arm: Robot, motion: Any, gains: dict[str, Any]) -> Callable[..., Any]:
    from armdyn.simulation import CartesianImpedance

    names = {"kp": "stiffness", "kd": "damping"}
    values = {names[option]: value for option, value in gains.items()}
    if callable(motion):
        return CartesianImpedance(arm, lambda t: arm.forward_kinematics(motion(t).q), **values)
    return CartesianImpedance(arm, arm.forward_kinematics(motion), **values)


def _gain(option: str, text: str, count: int) -> float | list[float]:
    values = numbers(option, text, tuple(dict.fromkeys((1, count))))
    return values[0] if len(values) == 1 else values
