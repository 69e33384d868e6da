"""`armdyn.simulate`: the motion that torques and external forces cause."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_joint_vector, check_truth, real
from armdyn.errors import ArmdynWarning, SimulationError, check_known, require, shown
from armdyn.forks import IMPORTING
from armdyn.mechanics.base_state import BaseState
from armdyn.robot import Robot, check_robot
from armdyn.simulation.adaptive import METHODS as ADAPTIVE
from armdyn.simulation.adaptive import simulate_adaptive
from armdyn.simulation.controllers import Following
from armdyn.simulation.elastic import Sensing, Sides
from armdyn.simulation.forces import (
    DEFAULT_STEP,
    GivenBase,
    Saturation,
    Setup,
    Wrench,
    floating_start,
    saturated,
)
from armdyn.simulation.result import Simulation

FIXED = ("rk4", "symplectic", "rodas3", "auto")
"""Methods with a fixed step, compiled into one loop."""
FARTHEST_START = 1e6
"""Size of a position or velocity beyond which no method can follow a motion."""
LEAST_RTOL = 1e-13
"""The least relative tolerance; SciPy goes no further."""


def simulate(
    robot: Robot,
    q0: npt.ArrayLike,
    qd0: npt.ArrayLike | None = None,
    duration: float = 1.0,
    *,
    torque: npt.ArrayLike | str | Path | Callable[..., Any] | None = None,
    controller: Callable[..., Any] | None = None,
    external_wrench: Wrench | Callable[[float], Wrench] | None = None,
    base_motion: GivenBase | None = None,
    base: BaseState | None = None,
    elastic: bool | Sensing = False,
    method: str = "DOP853",
    dt: float | None = None,
    step: float | None = None,
    friction: bool = True,
    stops: bool = False,
    bounce: float = 0.0,
    rtol: float = 1e-9,
    atol: float = 1e-10,
    saturation: Saturation = "off",
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Simulate the motion of a robot.

    Dry friction holds joints at rest. Ctrl-C or divergence keeps what was computed until then.

    Args:
        robot: The robot.
        q0: Positions at the start, (n,) [rad or m]; (..., n) for many arms with a fixed step.
        qd0: Velocities at the start; None: at rest.
        duration: How long the motion takes [s].
        torque: Torques (n,) [N m or N], a function of (t, q, qd), or a CSV with t, tau1, tau2, ...
        controller: In its place, a controller such as `armdyn.simulation.ComputedTorque`; one that
            follows joints gives the result a `reference` and a `tracking_error`.
        external_wrench: Force and moment (6,) of the environment on the tool in world axes
            [N, N m], a mapping of link names to such, or a function of the time that gives them.
        base_motion: A BaseMotion, a function of the time, (times, BaseMotion) or a CSV; None: rest.
        base: Where a base that nothing holds starts; None: at rest, if the base of the robot
            floats. Functions and controllers then have its state as their fourth argument.
        elastic: Whether transmissions give, so that there are motors beside links, which torques
            drive. The state is that of `robot.elastic.both`, or of the links, whose motors then
            rest there. Torques are functions of the "motors" (True), of the "links" or of "both".
        method: "DOP853", "RK45", "RK23", "Radau", "BDF" or "LSODA" of SciPy, which choose their
            steps, of a fiftieth of the duration at most; "rk4", "symplectic" or, for stiff arms,
            "rodas3" with a fixed step; "auto" chooses "rk4" where that is stable, else "rodas3".
        dt: Time between records [s], with fixed steps a whole part of the duration; None: 500.
        step: Fixed step [s]; None: 1 ms, or a whole part of `dt`.
        friction: Whether joints have friction.
        stops: Whether the limits of the joints are stops.
        bounce: Share of the velocity with which a joint comes back from its stop, 0 to 1.
        rtol: Relative tolerance of a method that chooses its steps.
        atol: Absolute tolerance of such a method.
        saturation: What becomes of torques beyond the effort limits: "off" (the result tells of
            them in `excesses`), "warn", or "clip" to the limits.
        progress: Called with the time reached.
    """
    robot = check_robot(robot, floats=True)
    floating = floating_start(robot, base, base_motion)
    check_known("method of integration", method, (*ADAPTIVE, *FIXED))
    _check_settings(duration, progress, friction, stops, bounce, rtol, atol)
    given = drive = _drive(torque, controller)
    sides = Sides(robot, elastic) if elastic else None
    if sides is not None:
        robot, (q0, qd0), drive = sides.robot, sides.start(q0, qd0), sides.drive(given, duration)
    start = _check_start(robot, q0, qd0, stops)
    if method == "auto":
        method = "rk4" if sides is None else sides.method(start[0], step or DEFAULT_STEP)
    drive = saturated(robot, drive, duration, saturation)
    setup = Setup(
        robot, *start, float(duration), drive, external_wrench, base_motion, method, dt, step,
        friction, stops, bounce, rtol, atol, progress, floating,
    )  # fmt: skip
    found = _integrated(setup)
    for excess in found.excesses if saturation == "warn" else ():
        if excess.what in ("torque", "force"):
            warnings.warn(str(excess), ArmdynWarning, stacklevel=2)
    return _referred(found, given, sides) if isinstance(given, Following) else found


def _integrated(setup: Setup) -> Simulation:
    if setup.method not in FIXED:
        return simulate_adaptive(setup)
    with IMPORTING:
        from armdyn.simulation.fixed import simulate_fixed  # noqa: PLC0415 (LLVM is slow)
    return simulate_fixed(setup)


def _referred(found: Simulation, given: Following, sides: Sides | None) -> Simulation:
    """The simulation with what its controller was to follow."""
    wanted = np.array([given.target(t).q for t in found.t.tolist()], dtype=float)
    wanted = wanted if sides is None else sides.elastic.joined(wanted, wanted)
    return replace(found, reference=np.broadcast_to(wanted, found.q.shape).copy())


_require = partial(require, error=SimulationError)


def _drive(torque: Any, controller: Any) -> Any:
    """What gives the torques."""
    if torque is not None and controller is not None:
        raise SimulationError("give a torque or a controller, not both")
    sound = controller is None or callable(controller)
    _require(sound, "controller", "a function of (t, q, qd)", controller)
    return controller if torque is None else torque


def _check_settings(
    duration: Any, progress: Any, friction: Any, stops: Any, bounce: Any, rtol: Any, atol: Any
) -> None:
    _require(progress is None or callable(progress), "progress", "a function of the time", progress)
    check_truth("friction", friction)
    check_truth("stops", stops)
    if not (0 < real(duration) < math.inf):
        given = shown(duration)
        raise SimulationError(f"duration must be a positive number of seconds, got {given}")
    _require(0 <= real(bounce) <= 1, "bounce", "a number from 0 to 1", bounce)
    if bounce and not stops:
        raise SimulationError("bounce: joints come back from stops; ask for stops as well")
    _require(LEAST_RTOL <= real(rtol) < 1, "rtol", f"a number from {LEAST_RTOL:g} to 1", rtol)
    _require(0 < real(atol) < math.inf, "atol", "a positive number", atol)


def _check_start(
    robot: Robot, q0: npt.ArrayLike, qd0: npt.ArrayLike | None, stops: bool
) -> tuple[Array, Array]:
    """Positions and velocities at the start."""
    q = check_joint_vector("q0", q0, robot.n)
    qd = np.zeros_like(q) if qd0 is None else check_joint_vector("qd0", qd0, robot.n)
    for what, value in (("q0", q), ("qd0", qd)):
        size = max(value.max(initial=0.0), -value.min(initial=0.0))
        if not math.isfinite(size):
            raise SimulationError(f"{what}: expected finite numbers, got {value.tolist()}")
        if size > FARTHEST_START:
            i = np.argwhere(np.abs(value) == size)[0, -1]
            raise SimulationError(
                f"{what}: joint {robot.joint_names[i]!r} starts at a size of {size:g}; beyond "
                f"{FARTHEST_START:g} no method can follow a motion; start nearer to zero, with "
                "angles without whole turns"
            )
    if not stops:
        return q, qd
    lower, upper = robot.limits.T
    for i in np.flatnonzero(lower == upper):
        raise SimulationError(
            f"the limits of joint {robot.joint_names[i]!r} are both {lower[i]:g}, so it has no "
            "room between stops; hold it with robot.with_locked, or leave out the stops"
        )
    outside = (q < lower) | (q > upper)
    for i in np.flatnonzero(outside.reshape(-1, robot.n).any(axis=0)):
        raise SimulationError(
            f"q0: joint {robot.joint_names[i]!r} starts outside its limits, {lower[i]:g} to "
            f"{upper[i]:g}; start inside, or leave out the stops"
        )
    return q, qd
