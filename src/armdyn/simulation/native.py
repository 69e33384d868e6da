"""Rollouts in machine code: fixed steps, one arm or many thousand, without Python in the loop."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import SimulationError, shown
from armdyn.kernels.stepper import Run, Stepper, stepper
from armdyn.model import Drive
from armdyn.quantities.steps import StepRequest
from armdyn.robot import Robot
from armdyn.simulation.controllers import ComputedTorque, GravityPD
from armdyn.simulation.native_inputs import Horizon, law, step_inputs

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
    """The motion of one arm or many in fixed steps.

    Each arm has the same bits alone and in any batch, on any number of threads. Ctrl-C ends a
    rollout early and keeps what was computed. A negative step [s] goes back in time. The method
    "rk4" is the classical Runge-Kutta method, "symplectic" the variational midpoint rule, of order
    two, whose energy does not drift. Torques [N m or N] are (n,), held, or (steps+1, n), linear in
    between, or either for each arm, (..., n) or (..., steps+1, n); a controller in their place is
    evaluated at every stage of a step. States are recorded at the start and `every` so many steps.
    Dry friction must be smooth. A state of a size beyond `limit` has diverged. `progress` is
    called with the number of steps taken, about twenty times a second.
    """
    _check(step, steps, every, limit)
    if friction:
        refuse_dry(robot)
    q, qd = _states(robot, q0=q0, qd0=qd0)
    over = Horizon(q.shape[:-1], robot.n, step, steps)
    implicit = method == "symplectic"
    request = StepRequest(
        method, law(robot, controller), friction, iterations if implicit else 0, robot.effort
    )
    request.check()
    tracks = step_inputs(torque, controller, request, over)
    q, qd = q.reshape(-1, robot.n), qd.reshape(-1, robot.n)
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
    shape, batch = (*over.batch, records, robot.n), over.batch
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
        positions, others = np.empty((arms, count, n)), np.empty((arms, count, n))
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


# what is given


def _states(robot: Robot, **given: npt.ArrayLike) -> tuple[Array, ...]:
    vectors = {name: check_joint_vector(name, value, robot.n) for name, value in given.items()}
    for name, vector in vectors.items():
        if not np.isfinite(vector).all():
            raise SimulationError(f"{name}: expected finite numbers, got some that are not")
    return broadcast(**vectors)


def _check(step: float, steps: int, every: int, limit: float) -> None:
    if not (_is_number(step) and math.isfinite(step) and step != 0):
        raise SimulationError(f"step: expected a time that is not zero [s], got {shown(step)}")
    for name, count in (("steps", steps), ("every", every)):
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
        if not whole or count < 1:
            raise SimulationError(f"{name}: expected a whole number from 1 on, got {shown(count)}")
    if not (_is_number(limit) and 0 < limit < math.inf):
        raise SimulationError(f"limit: expected a positive number, got {shown(limit)}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


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
