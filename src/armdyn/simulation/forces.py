"""What drives a simulation: torques and wrenches as functions, clipped to limits if asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import SimulationError, check_known, counted, require, shown
from armdyn.io.csv.trajectory import torques_from_csv
from armdyn.mechanics.base_state import BaseState
from armdyn.robot import Robot
from armdyn.simulation.base import base_torque, base_vectors
from armdyn.simulation.checks import TIME_ROUNDING, floats

DEFAULT_STEP = 1e-3
"""Fixed step if none is given [s]."""
Torque = Callable[..., Array]
"""Torques (n,) at a time and a state, of the base too if it floats."""
Wrench = npt.ArrayLike | Mapping[str, npt.ArrayLike]
Pull = Callable[[float], Wrench | None]
"""The wrench of the environment at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """A motion that is to be computed, and how, as `armdyn.simulate` takes it."""

    robot: Robot
    q: Array
    """Positions at the start, (..., n)."""
    qd: Array
    """Velocities at the start, (..., n)."""
    duration: float
    drive: Any
    """The torque or the controller."""
    wrench: Any
    base: Any
    """The motion of the base."""
    method: str
    dt: float | None
    step: float | None
    friction: bool
    stops: bool
    bounce: float
    rtol: float
    atol: float
    progress: Callable[[float], None] | None
    floating: BaseState | None = None
    """Where a base that nothing holds starts; None: it is held."""


class Driven:
    """The torque, the wrench and the motion of the base, checked each time they are asked for."""

    def __init__(self, setup: Setup):
        robot, wrench, self.given = setup.robot, setup.wrench, setup.drive
        self.label, self._torque = torque_function(robot, setup.drive, setup.duration)
        motion = base_vectors(robot, setup.base, 0.0, setup.duration)
        self._base = None if motion is None else base_torque(robot, motion)
        self._wrench: Pull = wrench if callable(wrench) else lambda _: wrench

    def torque(self, t: float, q: Array, qd: Array, base: BaseState | None = None) -> Array:
        """Torques (n,), for the state of a base that floats too."""

        def refusal(what: str, then: str = "") -> SimulationError:
            then = then or f"the state was q = {_said(q)}, qd = {_said(qd)}"
            return SimulationError(f"{self.label} {what}; {then}")

        now = f"at t = {t:.6g} s"
        expected = f"expected {q.shape[-1]} torques"
        more = () if base is None else (base,)
        try:
            given = self._torque(t, q.copy(), qd.copy(), *more)
        except SimulationError:
            raise
        except Exception as error:
            then = "since the base floats, it is called with (t, q, qd, base)"
            then = then if more and isinstance(error, TypeError) else ""
            raise refusal(f"raised {type(error).__name__} {now}: {error}", then) from error
        try:
            tau = np.array("" if np.ma.is_masked(given) else given, dtype=float)
        except (TypeError, ValueError):
            raise refusal(f"gave {given!r} {now}", expected) from None
        if tau.shape != q.shape:
            what = f"gave an array of shape {tau.shape} {now}"
            raise refusal(what, f"{expected}, shape {q.shape}")
        if not np.isfinite(tau).all():
            raise refusal(f"gave {_said(tau)} {now}, which are no finite torques")
        return tau

    def base(self, t: float, q: Array, qd: Array) -> Array:
        """Torques that the motion of the base gives at the joints, (..., n)."""
        return np.zeros(q.shape) if self._base is None else self._base(t, q, qd)

    def wrench(self, t: float) -> Wrench | None:
        """The wrench of the environment on the arm."""
        try:
            given = self._wrench(t)
        except Exception as error:
            raise SimulationError(
                f"the external wrench raised {type(error).__name__} at t = {t:.6g} s: {error}"
            ) from error
        each = [floats(x) for x in (given.values() if isinstance(given, Mapping) else (given,))]
        if given is None or all(x.shape == (6,) and np.isfinite(x).all() for x in each):
            return given
        raise SimulationError(
            f"the external wrench is {shown(given)} at t = {t:.6g} s; expected force and moment, 6 "
            "finite numbers, or a mapping of link names to such"
        )


def torque_function(robot: Robot, given: Any, duration: float) -> tuple[str, Torque]:
    """What messages call the torques, and the function that gives them."""
    n = robot.n
    if given is None:
        return "no torque", lambda t, q, *_: np.zeros_like(q)
    if callable(given):
        return f"the torque function {getattr(given, '__name__', type(given).__name__)}", given
    if isinstance(given, str | Path):
        return f"the torques of {given}", torque_table(robot, Path(given), duration)
    constant = floats(given)
    sound = constant.shape[-1:] == (n,) and np.isfinite(constant).all()
    expected = (
        f"{n} finite numbers, a function of (t, q, qd), a controller or the name of a CSV file"
    )
    require(sound, "torque", expected, given, SimulationError)

    def held(t: float, q: Array, *_: Any) -> Array:
        try:
            return np.broadcast_to(constant, q.shape)
        except ValueError:
            raise SimulationError(
                f"torque: expected {counted(n, 'number')}, or as many for each arm, shape "
                f"{q.shape}, got shape {constant.shape}; torques that change are a function or a "
                "CSV file"
            ) from None

    return "the torque", held


def torque_table(robot: Robot, path: Path, duration: float) -> Torque:
    """Torques of a CSV with the columns t and tau1, tau2, ..., linear between rows."""
    times, values = torques_from_csv(path, robot.model)
    if times[0] > 0 or times[-1] < duration * (1 - TIME_ROUNDING):
        raise SimulationError(
            f"{path}: its torques are for {times[0]:.6g} to {times[-1]:.6g} s, but the simulation "
            f"lasts from 0 to {duration:.6g} s; give torques for all of it, or a shorter duration"
        )

    def torque(t: float, q: Array, *_: Any) -> Array:
        i = min(max(int(np.searchsorted(times, t)) - 1, 0), len(times) - 2)
        share = (t - times[i]) / (times[i + 1] - times[i])
        return np.broadcast_to(values[i] + share * (values[i + 1] - values[i]), q.shape)

    return torque


def _said(values: Array) -> str:
    return np.array2string(values, precision=6, separator=", ", threshold=20)


Saturation = Literal["off", "warn", "clip"]
"""What becomes of torques beyond the effort limits: nothing, a warning, or the limit."""


def saturated(robot: Robot, drive: Any, duration: float, how: Saturation) -> Any:
    """What drives the simulation then, held between the effort limits of the joints if clipped."""
    check_known("saturation", how, get_args(Saturation))
    limits = robot.effort_limits
    if how != "clip" or drive is None or np.isinf(limits).all():
        return drive
    label, torque = torque_function(robot, drive, duration)

    def clipped(t: float, *state: Any) -> Array:
        return np.clip(np.asarray(torque(t, *state), float), -limits, limits)

    clipped.__name__ = f"{label}, clipped to the effort limits"
    return clipped
