"""Simulation in fixed steps: by the compiled loops of `native`, or by stages that ask Python."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, broadcast, real
from armdyn.errors import SimulationError, shown
from armdyn.formulations.runge_kutta import runge_kutta
from armdyn.robot import Robot
from armdyn.simulation.forces import Driven, Setup
from armdyn.simulation.native import (
    ITERATIONS,
    LAWS,
    STATE_LIMIT,
    Divergence,
    Rollout,
    refuse_dry,
    rollout,
)
from armdyn.simulation.result import Simulation

MIDPOINT_TOLERANCE = 1e-10
"""Change of the torques in the middle of a step, relative to these, that ends its iterations."""

Step = Callable[[float, Array, Array, Array], tuple[Array, Array, Array]]
"""From time, positions, velocities and `Driven.push` to positions, velocities and the work that
actuators and base do, (2, ...), a step later."""


def rk4_step(robot: Robot, driven: Driven, h: float, friction: bool) -> Step:
    """Classical Runge-Kutta, which integrates the work along with the motion."""
    if friction:
        refuse_dry(robot)
    acceleration = robot.kernel("forward_dynamics", friction=friction)

    def step(t: float, q: Array, qd: Array, push: Array) -> tuple[Array, Array, Array]:
        powers = []

        def slope(after: float, x: Array, v: Array) -> Array:
            pushes = push
            if after:
                sound = np.isfinite(x).all() and np.isfinite(v).all()
                pushes = driven.push(t + after * h, x, v) if sound else np.full_like(push, np.nan)
            powers.append(np.sum(pushes * v, axis=-1))
            return acceleration(x, v, pushes.sum(0))

        stages = (*runge_kutta(slope, q, qd, h), powers)
        moved, faster, work = (h / 6 * (x1 + 2 * (x2 + x3) + x4) for x1, x2, x3, x4 in stages)
        return q + moved, qd + faster, work

    return step


def symplectic_step(robot: Robot, driven: Driven, h: float, friction: bool) -> Step:
    """The variational midpoint rule, with the torques in the middle of the step."""

    def step(t: float, q: Array, qd: Array, push: Array) -> tuple[Array, Array, Array]:
        for _ in range(ITERATIONS):
            held = push.sum(0)[..., None, :]
            run = rollout(robot, q, qd, h, 1, method="symplectic", torque=held, friction=friction)
            if run.diverged is not None:
                return np.full(q.shape, np.nan), qd, np.zeros((2, *q.shape[:-1]))
            ahead, before = run.q[..., 1, :], push
            push = driven.push(t + 0.5 * h, 0.5 * (q + ahead), (ahead - q) / h)
            if np.abs(push - before).max() <= MIDPOINT_TOLERANCE * np.abs(push).max():
                break
        return ahead, run.qd[..., 1, :], np.sum(before * (ahead - q), axis=-1)

    return step


STEPS = {"rk4": rk4_step, "symplectic": symplectic_step}
"""For each method what makes its step."""


def divergence(q: Array, qd: Array, step: int) -> Divergence | None:
    """The first arm whose state left all bounds, or is not a number, after so many steps."""
    with np.errstate(over="ignore", invalid="ignore"):
        lost = ~(np.sum(q * q + qd * qd, axis=-1) <= STATE_LIMIT**2)
    arms = np.argwhere(lost)
    return Divergence(tuple(map(int, arms[0])), step) if len(arms) else None


Tell = Callable[[int], None] | None
"""Called with the number of steps taken."""


@dataclass(frozen=True, slots=True)
class StepGrid:
    """Steps, and which of them are recorded."""

    duration: float
    steps: int
    every: int

    @classmethod
    def of(cls, duration: float, dt: float | None, step: float | None, arms: int) -> "StepGrid":
        """Whole numbers of records, and of steps in each, neither longer than asked for."""
        longest = f"expected a positive time up to the duration of {duration:g} s"
        for name, value in (("dt", dt), ("step", step)):
            if value is not None and not (0 < real(value) <= duration):
                raise SimulationError(f"{name}: {longest}, got {shown(value)}")
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
            steps = every * math.ceil(steps / every)
            return cls(duration, steps, every)
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
DEFAULT_STEP = 1e-3
"""Step if none is given [s]."""
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
    for what, asked in (("stops", setup.stops), ("external wrench", setup.wrench is not None)):
        if asked:
            raise SimulationError(
                f"{setup.method} has no {what}; use a method that chooses its steps, such as DOP853"
            )
    robot, drive, progress = setup.robot, setup.drive, setup.progress
    q, qd = broadcast(q0=setup.q, qd0=setup.qd)
    if not q.size:
        raise SimulationError(f"q0: there are no arms in an array of shape {q.shape}")
    grid = StepGrid.of(setup.duration, setup.dt, setup.step, q.size // robot.n)
    began = time.perf_counter()
    driven = Driven(setup)
    told = None if progress is None else (lambda done: progress(done * grid.step))
    options: dict[str, Any] = {"method": setup.method, "friction": setup.friction}
    compiled = type(drive) in LAWS and drive.robot.model.digest == robot.model.digest
    if setup.base is not None or (callable(drive) and not compiled):
        run, push, given = _asked(robot, q, qd, driven, grid, told, **options)
    else:
        options |= {"torque": _table(driven, drive, grid, q), "every": grid.every, "progress": told}
        options["controller"] = drive if compiled else None
        run = rollout(robot, q, qd, grid.step, grid.steps, **options)
        run = replace(run, t=grid.times[:: grid.every][: len(run.t)])
        states = zip(run.t.tolist(), *(np.moveaxis(x, -2, 0) for x in (run.q, run.qd)), strict=True)
        tau = np.stack([driven.torque(*state) for state in states], axis=-2)
        push = np.stack([tau, np.broadcast_to(0.0, tau.shape)])
        given = _integral(np.sum(push * run.qd, axis=-1), run.t)
    seconds = time.perf_counter() - began
    return _simulation(setup, run, push, given, grid, seconds)


def _table(driven: Driven, drive: Any, grid: StepGrid, q: Array) -> Array | None:
    """Torques as the loop takes them: constant, or for all arms one for each step."""
    if drive is None or type(drive) in LAWS:
        return None
    if not isinstance(drive, str | Path):
        return np.asarray(drive, dtype=float)
    zero = np.zeros(q.shape[-1])
    rows = [driven.torque(t, zero, zero) for t in grid.times.tolist()]
    return np.array(rows).reshape(*(1,) * (q.ndim - 1), len(rows), len(zero))


def _asked(
    robot: Robot, q: Array, qd: Array, driven: Driven, grid: StepGrid, tell: Tell, **options: Any
) -> tuple[Rollout, Array, Array]:
    """Torques and the motion of the base asked for at the stages of every step, with their work."""
    advance = STEPS[options["method"]](robot, driven, grid.step, options["friction"])
    records: list[tuple[Array, Array, Array, Array]] = []
    work = np.zeros((2, *q.shape[:-1]))
    diverged, interrupted = None, False
    try:
        for k, t in enumerate(grid.times.tolist()):
            push = driven.push(t, q, qd)
            if k % grid.every == 0:
                records.append((q, qd, push, work))
            if k == grid.steps:
                break
            with np.errstate(over="ignore", invalid="ignore"):
                positions, velocities, gained = advance(t, q, qd, push)
            diverged = divergence(positions, velocities, k + 1)
            if diverged:
                break
            q, qd, work = positions, velocities, work + gained
            if tell is not None:
                tell(k + 1)
    except KeyboardInterrupt:
        interrupted = True
    *vectors, works = zip(*records, strict=True)
    q, qd, push = (np.stack(values, axis=-2) for values in vectors)
    t = grid.times[:: grid.every][: len(records)]
    return Rollout(t, q, qd, diverged, None, interrupted), push, np.stack(works, axis=-1)


def _simulation(
    setup: Setup, run: Rollout, push: Array, given: Array, grid: StepGrid, seconds: float
) -> Simulation:
    robot, friction = setup.robot, setup.friction
    zero = np.broadcast_to(0.0, run.q.shape)
    resisting = friction and not robot.model.is_frictionless
    taken = robot.friction_torque(run.qd, run.q) if resisting else zero
    tau, base = push
    qdd = robot.forward_dynamics(run.q, run.qd, tau + base, friction=friction)
    work = np.zeros((*run.q.shape[:-1], 4))
    work[..., 0], work[..., 2] = given
    work[..., 1] = _integral(np.sum(taken * run.qd, axis=-1), run.t)
    status, message = "finished", ""
    if run.interrupted:
        status, message = "interrupted", f"interrupted at t = {run.t[-1]:.6g} s"
    if run.diverged is not None:
        status = "diverged"
        which = f" arm {', '.join(map(str, run.diverged.arm))}" if run.diverged.arm else ""
        last = [x[run.diverged.arm][-1].round(6).tolist() for x in (run.q, run.qd)]
        message = (
            f"diverged{which} at t = {run.diverged.step * grid.step:.6g} s; the last recorded "
            f"state is q = {last[0]}, qd = {last[1]}; use a smaller step"
        )
    done = grid.steps if status == "finished" else (len(run.t) - 1) * grid.every
    arms = float(math.prod(run.q.shape[:-2]))
    statistics = {"steps": float(done), "arms": arms, "seconds": seconds}
    if run.residual is not None:
        statistics["residual"] = float(np.max(run.residual))
    return Simulation(
        robot, setup.method, run.t, run.q, run.qd, qdd, tau, taken, zero, zero, base, work, (),
        status, message, statistics,
    )  # fmt: skip


def _integral(power: Array, t: Array) -> Array:
    """The work since the start, by Simpson's rule between the records."""
    from scipy.integrate import cumulative_simpson  # noqa: PLC0415 (slow to import)

    return cumulative_simpson(power, x=t, initial=0.0)
