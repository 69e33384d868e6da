"""What a simulation starts from and what drives it, from the words of a command line."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
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
FREELY = {"revolute": math.pi, "prismatic": 0.5}
"""How far from 0 an unlimited joint may start [rad or m]."""
DURATION = 1.0


def check_files(inputs: Sequence[str | None], output: Path | None, plot: Path | None) -> None:
    """Refuse, before anything is computed, files that could not be written."""
    from armdyn.figures import check_plot
    from armdyn.simulation.files import check_save

    if plot is not None:
        check_plot(plot)
    if output is not None:
        check_save(output)
    for path in (output, plot):
        if path is None:
            continue
        if not path.parent.is_dir():
            raise typer.BadParameter(f"{path}: there is no folder {path.parent}")
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise typer.BadParameter(f"{path}: it cannot be written there")
        for name in inputs:
            if name and path.exists() and _is_file(name) and path.samefile(name):
                raise typer.BadParameter(f"{path} is read by this run; write to another file")


def start(arm: Robot, q0: str, qd0: str, arms: int | None, seed: int) -> tuple[Array, Array]:
    """Positions and velocities at the start, (n,), or (arms, n)."""
    lower, upper = arm.limits.T
    qd = np.zeros(arm.n) if qd0 == "zeros" else np.array(_each("--qd0", qd0, arm.n))
    if arms is not None:
        if q0 != "zeros":
            raise typer.BadParameter("--arms chooses where arms start; leave out --q0")
        low, high = _room(arm)
        q = np.random.default_rng(seed).uniform(low, high, (arms, arm.n))
        return q, np.broadcast_to(qd, q.shape)
    if q0 == "zeros":
        return np.zeros(arm.n), qd
    if q0 == "middle":
        limited = np.isfinite(lower) & np.isfinite(upper)
        return np.where(limited, 0.5 * (np.nan_to_num(lower) + np.nan_to_num(upper)), 0.0), qd
    return np.array(_each("--q0", q0, arm.n)), qd


class Drive:
    """Torques and controllers of a simulation, and how long it takes."""

    def __init__(self, arm: Robot, q: Array, duration: float | None):
        self.arm, self.q = arm, q
        self.duration = DURATION if duration is None else duration
        """How long the simulation takes [s]."""
        self._open = duration is None

    def torque(self, text: str) -> list[float] | Path:
        """Torques as numbers, or the file that has them."""
        if not text.lower().endswith(".csv"):
            return _each("--torque", text, self.arm.n)
        from armdyn.io.csv.trajectory import torques_from_csv

        times, _ = torques_from_csv(text, self.arm.n)
        self._take(float(times[-1]))
        return Path(text)

    def controller(
        self,
        name: str,
        target: str | None,
        move: str | None,
        move_time: float | None,
        gains: Mapping[str, str | None],
        friction: bool,
    ) -> Callable[..., Any] | None:
        """The controller of that name; None for free motion."""
        given = {option: text for option, text in gains.items() if text is not None}
        odd = [option for option in given if option not in GAINS[name]]
        if odd:
            raise typer.BadParameter(f"--{odd[0]}: the controller {name!r} has no such gain")
        if move_time is not None and move is None:
            raise typer.BadParameter("--move-time: there is no --move that could take so long")
        if name == "free":
            if target or move or friction:
                option = "--target" if target else "--move" if move else "--compensate"
                others = ", ".join(list(GAINS)[1:])
                raise typer.BadParameter(f"{option} needs a --controller: {others}")
            return None
        count = 6 if name == "impedance" else self.arm.n
        values = {option: _gain(f"--{option}", text, count) for option, text in given.items()}
        motion = self._motion(target, move, move_time)
        if name == "impedance":
            if friction:
                raise typer.BadParameter("--compensate: impedance does not follow a velocity")
            return self._impedance(motion, values)
        from armdyn.simulation import ComputedTorque, GravityPD, SlotineLi

        laws: dict[str, Callable[..., Any]] = {
            "gravity-pd": GravityPD,
            "computed-torque": ComputedTorque,
            "slotine-li": SlotineLi,
        }
        return laws[name](self.arm, motion, friction=friction, **values)

    def _motion(self, target: str | None, move: str | None, move_time: float | None) -> Any:
        """What a controller follows: positions, or a trajectory."""
        from armdyn.simulation import from_csv, quintic

        if move is not None:
            if target is not None:
                raise typer.BadParameter("give a --target or a --move, not both")
            end = _each("--move", move, self.arm.n)
            if self.q.ndim > 1:
                raise typer.BadParameter("--move has one start; give many arms a --target")
            if move_time is not None:
                self._take(move_time)
            return quintic(self.q, end, self.duration if move_time is None else move_time)
        if target is None:
            if self.q.ndim > 1:
                raise typer.BadParameter("many arms under a controller need a --target")
            return self.q
        if not target.lower().endswith(".csv"):
            return _each("--target", target, self.arm.n)
        trajectory = from_csv(target, self.arm)
        self._take(trajectory.duration)
        return trajectory

    def _impedance(self, motion: Any, gains: dict[str, Any]) -> Callable[..., Any]:
        from armdyn.simulation import CartesianImpedance

        names = {"kp": "stiffness", "kd": "damping"}
        values = {names[option]: value for option, value in gains.items()}
        arm = self.arm
        if callable(motion):
            return CartesianImpedance(arm, lambda t: arm.forward_kinematics(motion(t).q), **values)
        return CartesianImpedance(arm, arm.forward_kinematics(motion), **values)

    def _take(self, duration: float) -> None:
        """Last as long as what is followed, if nothing was said."""
        if self._open:
            self.duration = duration


def _room(arm: Robot) -> tuple[Array, Array]:
    """Where joints may start; those without a limit near 0, or near the one that they have."""
    lower, upper = arm.limits.T
    kinds = [arm.model.joints[i].kind for i in arm.model.independent]
    free = np.array([FREELY[kind] for kind in kinds])
    low = np.where(np.isfinite(upper), upper - 2 * free, -free)
    high = np.where(np.isfinite(lower), lower + 2 * free, free)
    return np.where(np.isfinite(lower), lower, low), np.where(np.isfinite(upper), upper, high)


def _each(option: str, text: str, n: int) -> list[float]:
    return numbers(option, text, (n,))


def _gain(option: str, text: str, count: int) -> float | list[float]:
    values = numbers(option, text, tuple(dict.fromkeys((1, count))))
    return values[0] if len(values) == 1 else values


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:
        return False
