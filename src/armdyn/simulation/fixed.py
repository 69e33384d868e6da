"""Simulation in fixed steps: by loops in machine code, or by stages that ask Python.

A rollout in machine code takes one arm or many thousand, without Python in the loop. What drives
it, torques or a controller, becomes rows by arm and time.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, real
from armdyn.errors import SimulationError, require
from armdyn.formulations.spatial import rotate
from armdyn.kernels.stepper import Run, StepInput, Stepper, stepper
from armdyn.model import Drive
from armdyn.quantities.steps import StepRequest
from armdyn.robot import Robot
from armdyn.simulation.controllers import ComputedTorque, GravityPD
from armdyn.simulation.floating import system_of
from armdyn.simulation.forces import DEFAULT_STEP, Driven, Setup
from armdyn.simulation.result import Simulation
from armdyn.simulation.system import WORKS, Step, System, classical_step

LAWS = {GravityPD: "pd", ComputedTorque: "computed_torque"}
"""The controllers that can be compiled into the loop."""


def _torque_inputs(torque: Array, batch: tuple[int, ...]) -> list[StepInput]:
    """Torques at the start and at the end of every step; one arm may stand for all."""
    if any(size > 1 for size in torque.shape[:-2]):
        torque = np.broadcast_to(torque, (*batch, *torque.shape[-2:]))
    rows = np.ascontiguousarray(torque.reshape(-1, *torque.shape[-2:]))
    return [StepInput(rows, 0, 1), StepInput(rows, 1, 1)]


def _control_inputs(
    controller: GravityPD | ComputedTorque, request: StepRequest, half_steps: Array
) -> list[StepInput]:
    """Gains, and what is wanted twice a step."""
    gains = [StepInput(controller.gains[name].reshape(1, 1, -1).copy()) for name in ("kp", "kd")]
    target: Any = controller.target  # trajectories take many times at once
    wanted = target(half_steps)
    qd = np.asarray(wanted.qd, dtype=float)
    added = (
        controller.robot.friction_torque(qd, wanted.q) if controller.friction else np.zeros_like(qd)
    )
    vectors = [wanted.q, qd, wanted.qdd][: request.reference - 1]
    row = np.concatenate(np.broadcast_arrays(*vectors, added), -1)
    rows = np.ascontiguousarray(row.reshape(1, -1, row.shape[-1]))
    if not np.isfinite(rows).all():
        raise SimulationError("the motion to follow has numbers in it that are not finite")
    ahead = {"start": 0, "middle": 1, "end": 2}
    return [*gains, *(StepInput(rows, ahead[moment], 2) for moment in request.moments)]


ITERATIONS = 8
"""Of the symplectic method: enough for rounding where h times the rates is 0.01."""
STATE_LIMIT = 1e6
"""Size of a state, √(|q|² + |q̇|²), beyond which a motion has diverged."""
RETURN_PERIOD = 0.05
"""Time between returns to Python [s]."""
FIRST_STEPS = 2000
"""Steps of all arms together before the first return."""
LEAST_STEPS = 16
"""Steps before each return: fewer would fill the lines of the caches only in parts."""


class Divergence(NamedTuple):
    """Where a rollout ended because an arm left all bounds, or was not a number any more."""

    arm: tuple[int, ...]
    """Its place among the arms, () for a single one."""
    step: int
    """After how many steps."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """Recorded motions of arms."""

    t: Array
    """Times of the records, (records,) [s]."""
    q: Array
    """Positions, (..., records, n) [rad or m]."""
    qd: Array
    """Velocities, (..., records, n)."""
    diverged: Divergence | None
    """If not None, all arms stop before this step."""
    residual: Array | None
    """For the symplectic method the largest last correction of a velocity in any step of each arm,
    (...,): how well its equations are solved."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


def rollout(
    robot: Robot,
    q0: npt.ArrayLike,
    qd0: npt.ArrayLike,
    step: float,
    steps: int,
    *,
    method: str = "rk4",
    torque: Array | None = None,
    controller: GravityPD | ComputedTorque | None = None,
    every: int = 1,
    friction: bool = True,
    limit: float = STATE_LIMIT,
    iterations: int = ITERATIONS,
    progress: Callable[[int], None] | None = None,
) -> Rollout:
    """The motion of one arm or many in fixed steps, from what `simulate` has checked.

    Each arm has the same bits alone and in any batch, on any number of threads. Ctrl-C ends a
    rollout early and keeps what was computed. A negative step [s] goes back in time. The method
    "rk4" is the classical Runge-Kutta method, "symplectic" the variational midpoint rule, of order
    two, whose energy does not drift. Torques [N m or N] are (..., 1, n), held, or (..., steps+1,
    n), linear in between, of each arm or of all; a controller in their place is evaluated at every
    stage of a step. States are recorded at the start and `every` so many steps. Dry friction must
    be smooth. A state of a size beyond `limit` has diverged. `progress` is called with the number
    of steps taken, about twenty times a second.
    """
    if friction:
        refuse_dry(robot)
    implicit = method == "symplectic"
    law = "torque" if controller is None else LAWS[type(controller)]
    request = StepRequest(method, law, friction, iterations * implicit, robot.search_effort)
    request.check()
    n = request.width(robot.n)
    q, qd = broadcast(q0=check_joint_vector("q0", q0, n), qd0=check_joint_vector("qd0", qd0, n))
    batch = q.shape[:-1]
    tracks = [StepInput(np.full((1, 1, 1), float(step)))]
    if controller is None:
        tracks += _torque_inputs(np.zeros((1, robot.n)) if torque is None else torque, batch)
    else:
        tracks += _control_inputs(controller, request, 0.5 * step * np.arange(2 * steps + 1))
    q, qd = q.reshape(-1, n), qd.reshape(-1, n)
    # the symplectic method has momenta p = M q̇: torques for q̇ as acceleration, and back
    rates = _from_rest(robot, "inverse_dynamics", q, qd) if implicit else qd
    state = np.concatenate([q, rates, np.zeros((len(q), request.extra))], -1)
    run = Run(state, tracks, *_records(q, rates, steps // every + 1), every, limit)
    machine = stepper(robot.model, request, len(q), robot.cache)
    last, diverged, interrupted = _finish(machine, run, steps, progress)
    records = last // every + 1
    positions = run.positions[:, :records]
    velocities = run.rates[:, :records]
    if implicit:
        velocities = _from_rest(robot, "forward_dynamics", positions, velocities)
        velocities[:, 0] = qd
    shape = (*batch, records, n)
    return Rollout(
        step * every * np.arange(records),
        positions.reshape(shape),
        velocities.reshape(shape),
        diverged and Divergence(tuple(map(int, np.unravel_index(diverged[0], batch))), diverged[1]),
        run.corrections.reshape(batch) if implicit else None,
        interrupted,
    )


def _finish(
    machine: Stepper, run: Run, steps: int, progress: Callable[[int], None] | None
) -> tuple[int, tuple[int, int] | None, bool]:
    """Take all steps, so many at a time that Python has a say now and then.

    Returns the last step after which all arms are sound, arm and step of a divergence, and whether
    the run was interrupted.
    """
    count = max(LEAST_STEPS, FIRST_STEPS // max(1, len(run.state)))
    try:
        while run.done < steps:
            began = time.perf_counter()
            found = machine.advance(run, min(count, steps - run.done))
            if found is not None:
                return found[1] - 1, found, False
            if progress is not None:
                progress(run.done)
            pace = RETURN_PERIOD / max(time.perf_counter() - began, 1e-9)
            count = max(LEAST_STEPS, math.floor(count * min(4.0, pace)))
    except KeyboardInterrupt:
        return run.done, None, True
    return steps, None, False


def _records(q: Array, rates: Array, count: int) -> tuple[Array, Array]:
    """Room for so many states of each arm, (arms, count, n), with those at the start."""
    arms, n = q.shape
    try:
        positions = np.empty((arms, count, n))
        others = np.empty((arms, count, n))
    except (MemoryError, ValueError):
        raise SimulationError(
            f"{count} records of {arms} arms take {16e-9 * arms * count * n:.3g} GB, more than "
            "there is; record fewer steps, with a larger `every`, or roll out fewer arms at a time"
        ) from None
    positions[:, 0], others[:, 0] = q, rates
    return positions, others


def _from_rest(robot: Robot, quantity: str, q: Array, given: Array) -> Array:
    """Dynamics from rest, without gravity and friction."""
    kernel = robot.kernel(quantity, friction=False, gravity=True)
    return kernel(q, np.zeros(robot.n), given, np.zeros(3))


def refuse_dry(robot: Robot) -> None:
    """A sign that jumps spoils the order of the methods, and joints would chatter, not stick."""
    for owner in robot.model.driven:
        if owner.friction.jumps:
            what = "drive" if isinstance(owner, Drive) else "joint"
            raise SimulationError(
                f"{what} {owner.name!r} has dry friction that jumps with the sign of the velocity, "
                "which fixed steps cannot follow; give it a smooth_velocity, leave friction out "
                "(friction=False, --no-friction), or use an adaptive method"
            )


# stages that ask Python

MIDPOINT_TOLERANCE = 1e-10
"""Change of the torques in the middle of a step, relative to these, that ends its iterations."""


def symplectic_step(system: System, h: float) -> Step:
    """The variational midpoint rule, with the torques in the middle of the step."""
    driven, robot = system.driven, system.robot
    options: Any = {"method": "symplectic", "friction": system.friction}

    def push(t: float, q: Array, qd: Array) -> Array:
        return np.stack([driven.torque(t, q, qd), driven.base(t, q, qd)])

    def step(t: float, y: Array) -> Array:
        q, qd = system.parted(y)
        torques = push(t, q, qd)
        for _ in range(ITERATIONS):
            run = rollout(robot, q, qd, h, 1, torque=torques.sum(0)[..., None, :], **options)
            if run.diverged is not None:
                return np.full_like(y, np.nan)
            ahead = run.q[..., 1, :]
            before = torques
            torques = push(t + 0.5 * h, 0.5 * (q + ahead), (ahead - q) / h)
            if np.abs(torques - before).max() <= MIDPOINT_TOLERANCE * np.abs(torques).max():
                break
        gained = np.sum(before * (ahead - q), axis=-1)
        work = y[..., -WORKS:] + np.stack([gained[0], np.zeros_like(gained[0]), gained[1]], -1)
        return np.concatenate([ahead, run.qd[..., 1, :], work], -1)

    return step


def rosenbrock_step(system: System, h: float) -> Step:
    """RODAS3, of order three and without a bound on the rates that it follows.

    Reference: A. Sandu et al., Benchmarking stiff ODE solvers for atmospheric chemistry problems
    II: Rosenbrock solvers, 1997.
    """

    def step(t: float, y: Array) -> Array:
        if not np.isfinite(y).all():
            return np.full_like(y, np.nan)
        f, (J, rate) = system.slope(t, y), system.jacobian(t, y)
        solve = np.linalg.inv(np.eye(y.shape[-1]) / (0.5 * h) - J)
        k1 = rotate(solve, f + 0.5 * h * rate)
        k2 = rotate(solve, f + 4.0 / h * k1 + 1.5 * h * rate)
        y = y + 2.0 * k1
        k3 = rotate(solve, system.slope(t + h, y) + (k1 - k2) / h)
        k4 = rotate(solve, system.slope(t + h, y + k3) + (k1 - k2 - 8.0 / 3.0 * k3) / h)
        return y + k3 + k4

    return step


STEPS = {"rk4": classical_step, "symplectic": symplectic_step, "rodas3": rosenbrock_step}
"""For each method what makes its step."""


def divergence(state: Array, step: int) -> Divergence | None:
    """The first arm whose state left all bounds, or is not a number, after so many steps."""
    with np.errstate(over="ignore", invalid="ignore"):
        arms = np.argwhere(~(np.sum(state * state, axis=-1) <= STATE_LIMIT**2))
    return Divergence(tuple(map(int, arms[0])), step) if len(arms) else None


@dataclass(frozen=True, slots=True)
class StepGrid:
    """Steps, and which of them are recorded."""

    duration: float
    steps: int
    every: int

    @classmethod
    def of(cls, duration: float, dt: float | None, step: float | None, arms: int) -> "StepGrid":
        """Whole numbers of records, and of steps in each, neither longer than asked for."""
        longest = f"a positive time up to the duration of {duration:g} s"
        for name, value in (("dt", dt), ("step", step)):
            sound = value is None or 0 < real(value) <= duration
            require(sound, name, longest, value, SimulationError)
        wanted = step or min(DEFAULT_STEP, dt or duration)
        least = arms * (2 if dt is None else duration / dt)
        if least > MAX_STATES:
            raise SimulationError(
                f"{least:.3g} states are more than can be kept; simulate fewer arms at a time, or "
                "record fewer instants, with a longer dt"
            )
        if duration / wanted > MAX_STEPS:
            raise SimulationError(
                f"{duration / wanted:.3g} steps are too many; simulate a shorter time, or take a "
                "longer step"
            )
        if dt is None:
            steps = math.ceil(duration / wanted * (1 - 1e-12))
            records = min(DEFAULT_RECORDS, max(DEFAULT_STATES // arms, 1))
            every = max(1, steps // records)
            return cls(duration, every * math.ceil(steps / every), every)
        records = math.ceil(duration / dt * (1 - 1e-12))
        every = math.ceil(duration / records / wanted * (1 - 1e-12))
        return cls(duration, records * every, every)

    @property
    def step(self) -> float:
        """The length of a step [s]."""
        return self.duration / self.steps

    @property
    def times(self) -> Array:
        """When steps begin, and when the last one ends, exactly after the duration."""
        return np.linspace(0.0, self.duration, self.steps + 1)


MAX_STEPS = 1e9
"""Most steps of a run."""
DEFAULT_RECORDS, DEFAULT_STATES = 500, 2_000_000
"""Instants recorded if no time between them is given, and states of all arms together."""
MAX_STATES = 50_000_000
"""States of all arms together that can be recorded."""


def simulate_fixed(setup: Setup) -> Simulation:
    """Simulate one arm or many in fixed steps.

    Torques of a file are linear between its rows, and between steps. Controllers that are not
    compiled or that know another model, functions, and a motion of the base are asked at the stages
    of every step.
    """
    robot, method, drive = setup.robot, setup.method, setup.drive
    floats = setup.floating is not None
    missing = {"stops": setup.stops, "external wrench": setup.wrench is not None}
    missing["base that floats"] = floats and method != "rk4"
    for what, asked in missing.items():
        if asked:
            raise SimulationError(
                f"{method} has no {what}; use a method that chooses its steps, such as DOP853"
            )
    q, qd = broadcast(q0=setup.q, qd0=setup.qd)
    if not q.size:
        raise SimulationError(f"q0: there are no arms in an array of shape {q.shape}")
    grid = StepGrid.of(setup.duration, setup.dt, setup.step, q.size // robot.n)
    began = time.perf_counter()
    if setup.friction:
        refuse_dry(robot)
    system = system_of(setup, sticks=False)
    y = system.start(q, qd)
    compiled = type(drive) in LAWS and drive.robot.model.digest == robot.model.digest and not floats
    residual = None
    asks = setup.base is not None or (callable(drive) and not compiled) or method == "rodas3"
    if asks:
        records, diverged, interrupted = _asked(setup, system, grid, y)
    else:
        run = _rolled_out(setup, system, grid, y, compiled)
        diverged, interrupted, residual = run.diverged, run.interrupted, run.residual
        rows = (np.moveaxis(x, -2, 0) for x in (run.q, run.qd))
        instants = zip(grid.times[:: grid.every][: len(run.t)].tolist(), *rows, strict=True)
        records = [system.record(t, system.of_rows(*row)) for t, *row in instants]
    seconds = time.perf_counter() - began
    ended = _ended(records, grid, diverged, interrupted)
    done = grid.steps if ended["status"] == "finished" else (len(records) - 1) * grid.every
    arms = float(math.prod(q.shape[:-1]))
    statistics = {"steps": float(done), "arms": arms, "seconds": seconds}
    if residual is not None:
        statistics["residual"] = float(np.max(residual))
    found = Simulation.of(robot, method, records, statistics=statistics, **ended)
    if not asks:  # else it was integrated along
        found.work[..., 0] = _integral(found.power, found.t)
    found.work[..., 1] = _integral(np.sum(found.friction * found.qd, axis=-1), found.t)
    return found


def _rolled_out(setup: Setup, system: System, grid: StepGrid, y: Array, compiled: bool) -> Rollout:
    """The steps in machine code."""
    drive, progress = setup.drive, setup.progress
    options: Any = {"method": setup.method if setup.floating is None else "rkmk4"}
    options |= {"friction": setup.friction, "every": grid.every}
    options["torque"] = _table(system.driven, drive, grid, system.parted(y)[0])
    options["controller"] = drive if compiled else None
    if progress is not None:
        options["progress"] = lambda done: progress(done * grid.step)
    return rollout(setup.robot, *system.rows(y), grid.step, grid.steps, **options)


def _table(driven: Driven, drive: Any, grid: StepGrid, q: Array) -> Array | None:
    """Torques as the loop takes them: of each arm constant, or for all arms one for each step."""
    if drive is None or type(drive) in LAWS:
        return None
    if not isinstance(drive, str | Path):
        return driven.torque(0.0, q, q)[..., None, :]
    zero = np.zeros(q.shape[-1])
    return np.array([driven.torque(t, zero, zero) for t in grid.times.tolist()])


def _asked(
    setup: Setup, system: System, grid: StepGrid, y: Array
) -> tuple[list[dict[str, Any]], Divergence | None, bool]:
    """Steps whose stages ask Python: records, where an arm diverged, and whether it was ended."""
    step, n = STEPS[setup.method](system, grid.step), setup.robot.n
    records: list[dict[str, Any]] = []
    try:
        for k, t in enumerate(grid.times.tolist()):
            if k % grid.every == 0:
                records.append(system.record(t, y))
            if k == grid.steps:
                break
            with np.errstate(over="ignore", invalid="ignore"):
                y = step(t, y)
            works = slice(2 * n, 2 * n + WORKS)
            diverged = divergence(np.delete(y, works, axis=-1), k + 1)
            if diverged:
                return records, diverged, False
            if setup.progress is not None:
                setup.progress((k + 1) * grid.step)
    except KeyboardInterrupt:
        return records, None, True
    return records, None, False


def _ended(
    records: list[dict[str, Any]], grid: StepGrid, diverged: Divergence | None, interrupted: bool
) -> dict[str, str]:
    """How a run ended, and a sentence about it if that was early."""
    last = records[-1]
    if diverged is not None:
        which = f" arm {', '.join(map(str, diverged.arm))}" if diverged.arm else ""
        q, qd = (last[name][diverged.arm].round(6).tolist() for name in ("q", "qd"))
        message = (
            f"diverged{which} at t = {diverged.step * grid.step:.6g} s; the last recorded "
            f"state is q = {q}, qd = {qd}; use a smaller step"
        )
        return {"status": "diverged", "message": message}
    if interrupted:
        return {"status": "interrupted", "message": f"interrupted at t = {last['t']:.6g} s"}
    return {"status": "finished"}


def _integral(power: Array, t: Array) -> Array:
    """The work since the start, by Simpson's rule between the records."""
    from scipy.integrate import cumulative_simpson  # noqa: PLC0415 (slow to import)

    return cumulative_simpson(power, x=t, initial=0.0)
