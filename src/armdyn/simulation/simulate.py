"""`armdyn.simulate`: the motion that torques and external forces cause."""

import math
import time
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.dynamics import Robot
from armdyn.errors import SimulationError, UnknownNameError
from armdyn.simulation import adaptive
from armdyn.simulation.adaptive import METHODS as ADAPTIVE
from armdyn.simulation.adaptive import check_times, integrate
from armdyn.simulation.forces import Driven, Wrench
from armdyn.simulation.result import Simulation
from armdyn.simulation.system import System

NATIVE = ("rk4", "symplectic")
"""Methods with a fixed step, compiled into one loop."""
RECORDS = 500
"""Instants that are recorded if nothing is said."""
MOST_RECORDS = 5_000_000
"""Instants that one arm may have: each takes a few hundred bytes a joint."""
FINEST = 1e-13
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
    method: str = "DOP853",
    dt: float | None = None,
    step: float | None = None,
    friction: bool = True,
    stops: bool = False,
    bounce: float = 0.0,
    rtol: float = 1e-9,
    atol: float = 1e-10,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Simulate the motion of a robot.

    Dry friction really holds joints that are at rest, until the torque exceeds its level; the times
    at which joints stick and start are in the result. Ctrl-C, or a motion that diverges, ends the
    simulation early and keeps what was computed. Steps that a method chooses are no longer than a
    fiftieth of the duration, so that a torque that comes late is not stepped over.

    Args:
        robot: The robot.
        q0: Positions at the start, (n,) [rad or m]; (..., n) for many arms with "rk4" and
            "symplectic".
        qd0: Velocities at the start; None: at rest.
        duration: How long [s].
        torque: Torques (n,) [N m or N], a function of (t, q, qd), a CSV with the columns t and
            tau1, tau2, ..., or None: none.
        controller: In its place, a controller such as `armdyn.simulation.ComputedTorque`.
        external_wrench: Force and moment (6,) of the environment on the tool in world axes
            [N, N m], a mapping of link names to such, or a function of the time that gives them.
        method: "DOP853", "RK45", "RK23", "Radau", "BDF" or "LSODA" of SciPy, which choose their
            steps; "rk4" or "symplectic", compiled, with a fixed step.
        dt: Time between recorded instants [s]; None: 500 of them. With a fixed step it is shortened
            to go into the duration a whole number of times.
        step: Fixed step [s]; None: 1 ms, or what `dt` is a multiple of.
        friction: Whether joints have friction.
        stops: Whether the limits of the joints are stops.
        bounce: Share of the velocity with which a joint comes back from its stop, 0 to 1.
        rtol: Relative tolerance of a method that chooses its steps.
        atol: Absolute tolerance of a method that chooses its steps.
        progress: Called with the time reached.

    Returns:
        .t .q .qd .qdd .tau .energy .energy_drift .events .save(path) .plot(path).
    """
    if not isinstance(robot, Robot):
        raise SimulationError(f"simulate takes a Robot, got {robot!r}; load it first")
    check_times(duration)
    if torque is not None and controller is not None:
        raise SimulationError("give a torque or a controller, not both")
    if controller is not None and not callable(controller):
        raise SimulationError(f"controller: expected a function of (t, q, qd), got {controller!r}")
    if method not in (*ADAPTIVE, *NATIVE):
        raise UnknownNameError("method of integration", method, (*ADAPTIVE, *NATIVE))
    if not (isinstance(bounce, Real) and 0 <= bounce <= 1):
        raise SimulationError(f"bounce: expected a number from 0 to 1, got {bounce!r}")
    if bounce and not stops:
        raise SimulationError("bounce: joints come back from stops; ask for stops as well")
    if not (isinstance(rtol, Real) and FINEST <= rtol < 1):
        raise SimulationError(f"rtol: expected a number from {FINEST:g} to 1, got {rtol!r}")
    if not (isinstance(atol, Real) and 0 < atol < math.inf):
        raise SimulationError(f"atol: expected a positive number, got {atol!r}")
    q = check_joint_vector("q0", q0, robot.n)
    qd = np.zeros_like(q) if qd0 is None else check_joint_vector("qd0", qd0, robot.n)
    _check_start(robot, q, qd, stops)
    drive = controller if torque is None else torque
    if method in NATIVE:
        from armdyn.simulation.fixed import Grid, simulate_fixed  # noqa: PLC0415 (LLVM is slow)

        if stops:
            raise SimulationError(
                f"{method} has no stops; use a method that chooses its steps, such as DOP853"
            )
        q, qd = broadcast(q0=q, qd0=qd)
        if not q.size:
            raise SimulationError(f"q0: there are no arms in an array of shape {q.shape}")
        grid = Grid.of(duration, dt, step, q.size // robot.n)
        return simulate_fixed(
            robot, q, qd, duration, drive, external_wrench, method, grid, friction, progress
        )
    if q.ndim > 1 or qd.ndim > 1:
        raise SimulationError(
            f"{method} simulates one arm, got states of shape {q.shape}; use method='rk4' or "
            "'symplectic' for many at once"
        )
    if step is not None:
        raise SimulationError(f"{method} chooses its own steps; leave out step, or use 'rk4'")
    began = time.perf_counter()
    system = System(robot, Driven(robot, drive, external_wrench, duration), friction, stops, bounce)
    run = integrate(
        system, q, qd, record_times(duration, dt), method, rtol, atol, math.inf, progress
    )
    return _simulation(robot, method, run, time.perf_counter() - began)


def record_times(duration: float, dt: float | None) -> Array:
    """The instants that are recorded, the end included."""
    if dt is None:
        return np.linspace(0.0, duration, RECORDS + 1)
    if not (isinstance(dt, Real) and 0 < dt < math.inf):
        raise SimulationError(f"dt must be a positive number of seconds, got {dt!r}")
    if duration / dt > MOST_RECORDS:
        raise SimulationError(
            f"dt: {duration / dt:.3g} instants are more than can be kept; record fewer, with a "
            "longer dt"
        )
    count = math.floor(duration / dt * (1 + 1e-12))
    times = dt * np.arange(count + 1)
    return times if duration - times[-1] <= 1e-9 * dt else np.append(times, duration)


def _check_start(robot: Robot, q: Array, qd: Array, stops: bool) -> None:
    for what, value in (("q0", q), ("qd0", qd)):
        if not np.isfinite(value).all():
            raise SimulationError(f"{what}: expected finite numbers, got {value.tolist()}")
    lower, upper = robot.limits.T
    if stops and (lower == upper).any():
        i = int(np.flatnonzero(lower == upper)[0])
        raise SimulationError(
            f"the limits of joint {robot.joint_names[i]!r} are both {lower[i]:g}, so it has no "
            "room between stops; hold it with robot.with_locked, or leave out the stops"
        )
    outside = (q < lower) | (q > upper)
    if stops and outside.any():
        i = int(np.flatnonzero(outside.reshape(-1, robot.n).any(axis=0))[0])
        raise SimulationError(
            f"q0: joint {robot.joint_names[i]!r} starts outside its limits, {lower[i]:g} to "
            f"{upper[i]:g}; start inside, or leave out the stops"
        )


def _simulation(robot: Robot, method: str, run: adaptive.Run, seconds: float) -> Simulation:
    def stacked(values: list[Array]) -> Array:
        return np.array(values[: len(run.t)])  # Ctrl-C may have come between two of the lists

    forces: Mapping[str, Array] = {
        name: stacked([getattr(f, name) for f in run.forces])
        for name in ("qdd", "tau", "friction", "stop", "external")
    }
    return Simulation(
        robot,
        method,
        np.array(run.t),
        stacked(run.q),
        stacked(run.qd),
        **forces,
        work=stacked(run.work),
        events=tuple(run.events),
        status=run.status,
        message=run.message,
        statistics={"steps": run.steps, "evaluations": run.evaluations, "seconds": seconds},
    )
