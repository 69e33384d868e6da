"""What drives a simulation: torques and wrenches as functions, and the motion of a base.

The mass matrix does not depend on how the base moves, so an arm on a moving base is the arm on a
base at rest with one torque more at each joint,

    τ_base(q, q̇, t) = (C q̇ + g of the base at rest) - (C q̇ + g of the moving base),

what an observer on the base calls centrifugal, Coriolis, Euler's and inertial forces. Energies are
those that this observer sees, and the work of τ_base accounts for the rest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import ShapeError, SimulationError, check_known, counted, require, shown
from armdyn.io.csv.trajectory import base_motion_from_csv, torques_from_csv
from armdyn.mechanics.base_state import BaseState
from armdyn.model.base_motion import BaseMotion
from armdyn.model.transform import rotation_from_vector, rotation_vector
from armdyn.robot import Robot
from armdyn.simulation.checks import TIME_ROUNDING, check_increasing, floats

GivenBase = (
    BaseMotion | tuple[npt.ArrayLike, BaseMotion] | Callable[[float], BaseMotion] | str | Path
)
"""A motion of the base as people give it."""


def floating_start(robot: Robot, base: BaseState | None, base_motion: Any) -> BaseState | None:
    """Where a base that nothing holds starts; None if it is held."""
    start = robot.free_base.standing if base is None and robot.model.floating else base
    if start is not None:
        require(isinstance(start, BaseState), "base", "an armdyn.BaseState", start, SimulationError)
        if base_motion is not None:
            raise SimulationError("base_motion moves a base that is held; this one floats")
    return start


Vectors = Callable[[Any], Array]
"""`BaseMotion.vector` at a time [s]."""


def base_vectors(robot: Robot, given: Any, first: float, last: float) -> Vectors | None:
    """The motion of the base from the first to the last time [s]; None if it stands still."""
    standing = robot.model.base[:3, :3]
    if given is None:
        return None
    if isinstance(given, BaseMotion):
        vector = given.vector(standing)
        return lambda _: vector
    if callable(given):
        return lambda t: _asked(given, t).vector(standing)
    if isinstance(given, str | Path):
        return sampled_base(standing, *base_motion_from_csv(given), (first, last), str(given))
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], BaseMotion):
        return sampled_base(standing, given[0], given[1], (first, last))
    expected = "an armdyn.BaseMotion, a function of the time that gives one, a pair of times and a "
    expected += "BaseMotion, or the name of a CSV file"
    raise SimulationError(f"base_motion: expected {expected}, got {shown(given)}")


def sampled_base(
    standing: Array,
    times: npt.ArrayLike,
    motion: BaseMotion,
    span: tuple[float, float],
    source: str = "base_motion",
) -> Vectors:
    """A motion whose batch goes along times, for times of any shape within a span [s].

    Between samples vectors are on straight lines, and rotations turn the short way.
    """
    t = check_increasing(source, times, SimulationError)
    samples = _rows(standing, t, motion, source)
    if len(t) == 1:
        return lambda at: np.broadcast_to(samples[0], (*np.shape(at), samples.shape[-1]))
    if t[0] > span[0] or t[-1] < span[1] - TIME_ROUNDING * abs(span[1]):
        raise SimulationError(
            f"{source}: it says how the base moves from {t[0]:.6g} to {t[-1]:.6g} s, but it is "
            f"needed from {span[0]:.6g} to {span[1]:.6g} s"
        )
    R = samples[:, :9].reshape(-1, 3, 3)
    turns = rotation_vector(np.swapaxes(R[:-1], -1, -2) @ R[1:])

    def between(at: Any) -> Array:
        at = np.asarray(at, dtype=float)
        i = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
        share = np.asarray((at - t[i]) / (t[i + 1] - t[i]))[..., None]
        rows = samples[i] + share * (samples[i + 1] - samples[i])
        rows[..., :9] = (R[i] @ rotation_from_vector(share * turns[i])).reshape(*at.shape, 9)
        return rows

    return between


def _rows(standing: Array, t: Array, motion: BaseMotion, source: str) -> Array:
    """`BaseMotion.vector` for each of the times (m,), (m, 18)."""
    rows = motion.vector(standing)
    if rows.shape[:-1] not in ((), (1,), t.shape):
        raise ShapeError(
            f"{source}: a base motion of the wrong shape, {rows.shape[:-1]}; expected one motion "
            f"for each of the {len(t)} times, rotation ({len(t)}, 3, 3), vectors ({len(t)}, 3)"
        )
    return np.broadcast_to(rows, (len(t), rows.shape[-1]))


def base_torque(robot: Robot, motion: Vectors) -> Callable[[float, Array, Array], Array]:
    """The torques that a moving base gives at the joints at a time [s], (..., n)."""
    still, moving = (robot.kernel("bias", friction=False, base_motion=x) for x in (False, True))
    return lambda t, q, qd: still(q, qd) - moving(q, qd, _for_arms(motion(t), q.shape[:-1]))


def _asked(motion: Callable[[float], BaseMotion], t: float) -> BaseMotion:
    """What a function gives at a time [s]."""
    try:
        given = motion(t)
    except ShapeError as error:
        raise ShapeError(f"base_motion at t = {t:.6g} s: {error}") from error
    except Exception as error:
        raise SimulationError(
            f"base_motion raised {type(error).__name__} at t = {t:.6g} s: {error}"
        ) from error
    if not isinstance(given, BaseMotion):
        raise SimulationError(
            f"base_motion gave {shown(given)} at t = {t:.6g} s; expected an armdyn.BaseMotion"
        )
    return given


def _for_arms(vector: Array, arms: tuple[int, ...]) -> Array:
    """The motion for arms of a shape, one for all or for each of them."""
    lead = vector.shape[:-1]
    fits = all(size in (1, count) for size, count in zip(lead[::-1], arms[::-1], strict=False))
    if len(lead) > len(arms) or not fits:
        raise ShapeError(
            f"base_motion: a base motion of the wrong shape, {lead}, for arms of shape {arms}; "
            "expected one motion, or one for each arm; one for each time comes with its times, "
            "base_motion=(times, motion)"
        )
    return vector


def base_rows(robot: Robot, given: Any, times: Array) -> Array | None:
    """`BaseMotion.vector` at times (m,) [s], (m, 18); None if the base stands still."""
    if isinstance(given, BaseMotion):
        return _rows(robot.model.base[:3, :3], times, given, "base_motion")
    vectors = base_vectors(robot, given, float(times[0]), float(times[-1]))
    if vectors is None or not callable(given):
        return None if vectors is None else vectors(times)
    return np.array([_for_arms(vectors(t), ()) for t in times.tolist()])


def motion_of_rows(rows: Array) -> BaseMotion:
    """The motion whose `vector` is (..., 18)."""
    vectors = np.moveaxis(rows[..., 9:].reshape(*rows.shape[:-1], 3, 3), -2, 0)
    return BaseMotion(rows[..., :9].reshape(*rows.shape[:-1], 3, 3), *vectors)


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
