"""`armdyn simulate`: the motion that torques cause."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import typer

from armdyn.cli.console import deliver, status
from armdyn.cli.motion_options import (
    BaseTwist,
    Degrees,
    base_start,
    joint_values,
    warn_of_degrees,
)
from armdyn.cli.options import (
    BASE_MOTION,
    WRENCH,
    Plot,
    RobotSource,
    asking,
    file_option,
    flag,
    numbers,
    one_or_each,
    option,
    optional,
)
from armdyn.errors import ArmdynWarning
from armdyn.loops.coordinates import coordinates_of

if TYPE_CHECKING:
    from armdyn.arrays import Array
    from armdyn.robot import Robot


_EACH = "Q1,Q2,..."
GAINS: Mapping[str, Mapping[str, str]] = {
    "free": {},
    "gravity-pd": {"kp": "kp", "kd": "kd"},
    "computed-torque": {"kp": "kp", "kd": "kd"},
    "slotine-li": {"rate": "rate", "kd": "kd"},
    "elastic-feedforward": {"kp": "kp", "kd": "kd"},
    "operational-space": {"kp": "kp", "kd": "kd"},
    "impedance": {"kp": "stiffness", "kd": "damping"},
}
"""The controllers and the gains that each has: the options, and their names in Python."""
LAWS = {"impedance": "CartesianImpedance", "gravity-pd": "GravityPD"}
"""Classes of controllers that are called otherwise than these."""
OF_THE_TOOL = ("operational-space", "impedance")
"""Controllers in coordinates of the tool."""
OPTIONS = "step dt rtol atol friction stops bounce saturation"
DEFAULT_DURATION = 1.0
"""How long a simulation takes if no option says it [s]."""
BAR_DELAY = 1.0
"""Time after which a progress bar appears [s]."""
BAR_PERIOD = 0.05
"""Least time between two changes of the progress bar [s]."""


@dataclass(frozen=True)
class Start:
    """The options that say where arms start."""

    q0: str = option("start", "Positions at the start, zeros, middle or start.", _EACH)
    qd0: str = option("zeros", "Velocities at the start, or zeros.", _EACH)
    degrees: Degrees = False
    arms: int | None = optional(
        "Simulate many arms that start anywhere within their limits.", min=1, max=10_000_000
    )
    seed: int = option(0, "Chooses the starts of many arms.", min=0)

    def state(self, arm: Robot) -> tuple[Array, Array]:
        """Positions and velocities at the start, (n,), or (arms, n)."""
        still = self.qd0 == "zeros"
        qd = np.zeros(arm.n) if still else joint_values(arm, "--qd0", self.qd0, self.degrees)
        if self.arms is not None:
            if self.q0 != "start":
                raise typer.BadParameter("--arms chooses where arms start; leave out --q0")
            random = np.random.default_rng(self.seed)
            q = coordinates_of(arm.model).drawn_in_ranges(random, self.arms)
            return q, np.broadcast_to(qd, q.shape)
        q = self._position(arm)
        for joint, value, (low, high) in zip(arm.joint_names, q, arm.limits, strict=True):
            if not low <= value <= high:
                text = (
                    f"{joint} starts at {value:.4g}, beyond its limits of {low:.4g} to {high:.4g}"
                )
                warnings.warn(text, ArmdynWarning, stacklevel=2)
        return q, qd

    def _position(self, arm: Robot) -> Array:
        """Where one arm starts, (n,): by a word, or by numbers."""
        if self.q0 == "start":
            return arm.start
        if self.q0 == "zeros":
            return np.zeros(arm.n)
        if self.q0 == "middle":
            limited = np.isfinite(arm.limits).all(axis=1)
            return np.where(limited, np.nan_to_num(arm.limits).mean(axis=1), 0.0)
        q = joint_values(arm, "--q0", self.q0, self.degrees)
        warn_of_degrees(arm, q)
        return q


@dataclass(frozen=True)
class Control:
    """The options that choose a controller and what it follows."""

    controller: Literal[
        "free",
        "gravity-pd",
        "computed-torque",
        "slotine-li",
        "elastic-feedforward",
        "operational-space",
        "impedance",
    ] = option("free", "The law that gives the torques; free: none.")
    target: str | None = optional(
        "What the controller holds, by default the start, or a trajectory it follows.",
        f"{_EACH}|CSV",
    )
    move: str | None = optional("Instead, a smooth move from the start to there.", _EACH)
    line: str | None = optional(
        "Instead, a straight line of the tool to there, in m and world axes.", "X,Y,Z"
    )
    move_time: float | None = optional(
        "How long the move or line takes, in s; the duration by default."
    )
    kp: str | None = optional(
        "Stiffness, one for all joints (or coordinates of the tool) or one each.", "K[,K,...]"
    )
    kd: str | None = optional("Damping, likewise.", "K[,K,...]")
    rate: str | None = optional("How fast slotine-li corrects errors, in 1/s.", "K[,K,...]")
    compensate: bool = flag("--compensate", "Whether the controller knows of friction.")

    def law(
        self, arm: Robot, q: Array, duration: float, degrees: bool
    ) -> tuple[Callable[..., Any] | None, float | None]:
        """The controller, None for free motion, and how long what it follows takes [s].

        The arm starts at q; a move takes the duration [s] if nothing else is said.
        """
        self._check()
        if self.controller == "free":
            return None, None
        motion, time = self._motion(arm, q, duration, degrees)
        of_tool = self.controller in OF_THE_TOOL
        if of_tool and self.compensate:
            raise typer.BadParameter(f"--compensate: {self.controller} does not follow a velocity")
        from armdyn import simulation
        from armdyn.formulations.cartesian import default_task

        usual = self.controller.title().replace("-", "")
        count = 6 if self.controller == "impedance" else arm.n
        if self.controller == "operational-space":
            count = len(default_task(coordinates_of(arm.model)))
        gains: dict[str, Any] = {} if of_tool else {"friction": self.compensate}
        for word, name in GAINS[self.controller].items():
            if (text := getattr(self, word)) is not None:
                counts = tuple(dict.fromkeys((1, count)))
                gains[name] = one_or_each(f"--{word}", text, counts)
        return getattr(simulation, LAWS.get(self.controller, usual))(arm, motion, **gains), time

    @property
    def _ways(self) -> dict[str, str | None]:
        return {"--target": self.target, "--move": self.move, "--line": self.line}

    def _check(self) -> None:
        """Refuse options that the controller does not have."""
        for word in ("kp", "kd", "rate"):
            if getattr(self, word) is not None and word not in GAINS[self.controller]:
                raise typer.BadParameter(
                    f"--{word}: the controller {self.controller!r} has no such gain"
                )
        if self.move_time is not None and self.move is None and self.line is None:
            raise typer.BadParameter("--move-time: there is no --move that could take so long")
        for word, value in {**self._ways, "--compensate": self.compensate}.items():
            if value and self.controller == "free":
                others = ", ".join(list(GAINS)[1:])
                raise typer.BadParameter(f"{word} needs a --controller: {others}")

    def _motion(
        self, arm: Robot, q: Array, duration: float, degrees: bool
    ) -> tuple[Any, float | None]:
        """What a controller follows, positions or a motion, and how long that takes [s]."""
        from armdyn.simulation import from_csv, quintic, smooth_move

        given = [word for word, text in self._ways.items() if text is not None]
        if len(given) > 1:
            raise typer.BadParameter(f"give a {given[0]} or a {given[1]}, not both")
        if self.move is not None or self.line is not None:
            if q.ndim > 1:
                raise typer.BadParameter(f"{given[0]} has one start; give many arms a --target")
            time = duration if self.move_time is None else self.move_time
            if self.line is not None:
                return self._line(arm, q, numbers("--line", self.line, (3,)), time), time
            along = smooth_move if self.controller == "elastic-feedforward" else quintic
            return along(q, joint_values(arm, "--move", str(self.move), degrees), time), time
        if self.target is None:
            if q.ndim > 1:
                raise typer.BadParameter("many arms under a controller need a --target")
            return q, None
        if not (self.target.lower().endswith(".csv") or self.target == "-"):
            return joint_values(arm, "--target", self.target, degrees), None
        trajectory = from_csv(self.target, arm, degrees=degrees)
        return trajectory, trajectory.duration

    def _line(self, arm: Robot, q: Array, position: list[float], time: float) -> Any:
        """A straight line of the tool, which keeps its orientation if it can."""
        from armdyn.simulation import cartesian_line, tool_line
        from armdyn.simulation.controllers import standing_arm

        if self.controller not in OF_THE_TOOL:
            turn: Any = "keep" if arm.n >= 6 else "free"
            return cartesian_line(arm, q, position, turn, duration=time)
        start = standing_arm(arm).forward_kinematics(q)
        end = start.copy()
        end[:3, 3] = position
        return tool_line(start, end, duration=time)


def simulate(
    robot: RobotSource,
    *,
    start: Start,
    duration: float | None = optional(
        "How long, in s; that of a torque, target or move given, or else 1."
    ),
    torque: str | None = optional("Torques: numbers, or columns t, tau1..taun.", "T1,T2,...|CSV"),
    control: Control,
    base_motion: Path | None = optional(BASE_MOTION, "FILE.csv"),
    base_twist: BaseTwist = None,
    method: str | None = optional(
        "DOP853 (the default), RK45, RK23, Radau, BDF, LSODA; with a fixed step rk4 (the "
        "default for many arms), symplectic, rodas3 for stiff arms, auto.",
    ),
    elastic: bool = flag("--elastic", "Let transmissions give: motors and links move apart."),
    simulated: Any = asking("armdyn.simulation.simulator:simulate", OPTIONS, wrench=WRENCH),
    output: Path | None = file_option("Write the motion to a .csv or .parquet file."),
    plot: Plot = None,
) -> None:
    """Simulate the motion that torques and external forces cause.

    Ctrl-C ends a simulation early and keeps what was computed. Exit code 0: it went to its end. 1:
    it was interrupted, or it diverged. 2: bad input.
    """
    from armdyn.simulation.result import check_save

    if output is not None:
        check_save(output)
    arm = robot.open()
    q, qd = start.state(arm)
    tau, torque_time = torques(arm, torque)
    known = _first(duration, torque_time, DEFAULT_DURATION)
    law, followed = control.law(arm, q, known, start.degrees)
    lasting = _first(duration, followed, known)
    with telling(lasting) as tell:
        result = simulated(
            arm, q, qd, lasting, torque=tau, controller=law, progress=tell,
            base_motion=base_motion, base=base_start(arm, base_twist), elastic=elastic,
            method=method or ("DOP853" if start.arms is None else "auto" if elastic else "rk4"),
        )  # fmt: skip
    finished = result.status == "finished"
    deliver(result, colour="" if finished else "yellow", save=output, plot=plot)
    raise typer.Exit(0 if finished else 1)


def _first(*times: float | None) -> float:
    return next(time for time in times if time is not None)


def torques(arm: Robot, text: str | None) -> tuple[list[float] | Path | None, float | None]:
    """The torques of --torque, as numbers or as their file, and how long they last [s]."""
    if text is None:
        return None, None
    if not text.lower().endswith(".csv"):
        return numbers("--torque", text, (arm.n,)), None
    from armdyn.io.csv.trajectory import torques_from_csv

    times, _ = torques_from_csv(text, arm.model)
    return Path(text), float(times[-1])


@contextmanager
def telling(duration: float) -> Iterator[Callable[[float], None] | None]:
    """Whom to tell the time reached: a bar on the terminal, if the run is long."""
    if not sys.stderr.isatty():
        yield None
        return
    began = told = time.monotonic()
    with ExitStack() as shown:
        show: Callable[..., None] | None = None

        def tell(t: float) -> None:
            nonlocal told, show
            now = time.monotonic()
            if now - told > BAR_PERIOD and now - began > BAR_DELAY:
                told = now
                words = "s (Ctrl-C keeps what is done)"
                show = show or shown.enter_context(status("simulating", words, ".4g"))
                show("simulating", t, duration)

        yield tell
