"""Rollouts in machine code: fixed steps, one arm or many thousand, without Python in the loop.

What drives them, torques or a controller, becomes rows by arm and time.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import ShapeError, SimulationError, counted
from armdyn.kernels.stepper import Run, StepInput, Stepper, stepper
from armdyn.model import Drive
from armdyn.quantities.steps import StepRequest
from armdyn.robot import Robot
from armdyn.simulation.controllers import ComputedTorque, GravityPD

LAWS = {GravityPD: "pd", ComputedTorque: "computed_torque"}
"""The controllers that can be compiled into the loop."""


def _torque_inputs(
    torque: npt.ArrayLike, n: int, batch: tuple[int, ...], steps: int
) -> list[StepInput]:
    """Torques at the start and at the end of every step; one arm may stand for all."""
    given = check_joint_vector("torque", torque, n)
    table = given.reshape(_torque_shape(given.shape, batch, steps))
    if any(size > 1 for size in table.shape[:-2]):
        try:
            table = np.broadcast_to(table, (*batch, *table.shape[-2:]))
        except ValueError:
            raise ShapeError(
                f"torque: its arms, of shape {table.shape[:-2]}, do not fit those of q0, of shape "
                f"{batch}"
            ) from None
    rows = np.ascontiguousarray(table.reshape(-1, *table.shape[-2:]))
    return [StepInput(rows, 0, 1), StepInput(rows, 1, 1)]


def _torque_shape(shape: tuple[int, ...], batch: tuple[int, ...], steps: int) -> tuple[int, ...]:
    """The shape with an axis for the time before the last one."""
    lead, n, times = shape[:-1], shape[-1], steps + 1
    held = lead in ((), batch)
    alike = set(lead[:-1]) <= {1}
    table = lead[-1:] == (times,) and (alike or len(lead) == len(batch) + 1)
    if held and table:
        ones = (1,) * len(batch)
        raise ShapeError(
            f"torque: {times} rows for {times} arms and {times} instants; write a table of the "
            f"time as {(*ones, times, n)} and a torque for each arm as {(*batch, 1, n)}"
        )
    if held:
        return (*lead, 1, n)
    if table or (len(lead) == len(batch) + 1 and lead[-1] == 1):
        return shape
    arms = ", ".join(map(str, batch))
    each = f", ({arms}, {n}) or ({arms}, {times}, {n})" if batch else ""
    raise ShapeError(
        f"torque: expected shape ({n},), ({times}, {n}){each}, with a row for the start and for "
        f"the end of each of the {counted(steps, 'step')}, got shape {shape}"
    )


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
    torque: npt.ArrayLike | None = None,
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
    two, whose energy does not drift. Torques [N m or N] are (n,), held, or (steps+1, n), linear in
    between, or either for each arm, (..., n) or (..., steps+1, n); a controller in their place is
    evaluated at every stage of a step. States are recorded at the start and `every` so many steps.
    Dry friction must be smooth. A state of a size beyond `limit` has diverged. `progress` is
    called with the number of steps taken, about twenty times a second.
    """
    if friction:
        refuse_dry(robot)
    n, implicit = robot.n, method == "symplectic"
    q, qd = broadcast(q0=check_joint_vector("q0", q0, n), qd0=check_joint_vector("qd0", qd0, n))
    batch, law = q.shape[:-1], "torque" if controller is None else LAWS[type(controller)]
    request = StepRequest(method, law, friction, iterations * implicit, robot.search_effort)
    request.check()
    tracks = [StepInput(np.full((1, 1, 1), float(step)))]
    if controller is None:
        tracks += _torque_inputs(np.zeros(n) if torque is None else torque, n, batch, steps)
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
    positions, velocities = run.positions[:, :records], run.rates[:, :records]
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
