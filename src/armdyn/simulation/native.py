"""Rollouts in machine code: fixed steps, one arm or many thousand, without Python in the loop."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.backends.stepper import Run, StepInput, Stepper, stepper
from armdyn.dynamics import Robot
from armdyn.errors import SimulationError
from armdyn.quantities.steps import StepRequest
from armdyn.simulation.controllers import ComputedTorque, GravityPD
from armdyn.simulation.native_inputs import Horizon, control_tracks, law, torque_tracks

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
    rollout early and keeps what was computed.

    Args:
        robot: The robot.
        q0: Positions at the start, (..., n) [rad or m].
        qd0: Velocities at the start, (..., n).
        step: Length of a step [s]; a negative one goes back in time.
        steps: How many.
        method: "rk4", the classical Runge-Kutta method; or "symplectic", the variational midpoint
            rule, of order two, whose energy does not drift.
        torque: Torques [N m or N]: (n,), held; (steps+1, n), linear in between; either for each
            arm, (..., n) or (..., steps+1, n); None: none.
        controller: In its place a controller, evaluated at every stage of a step.
        every: Steps from one record to the next; the start is recorded.
        friction: Whether joints have friction; dry friction must be smooth.
        limit: Size of a state beyond which it has diverged.
        iterations: Of the symplectic method.
        progress: Called with the number of steps taken, about twenty times a second.
    """
    _check(step, steps, every, limit)
    if friction:
        _refuse_dry(robot)
    q, qd = _states(robot, q0, qd0)
    over = Horizon(q.shape[:-1], robot.n, step, steps)
    implicit = method == "symplectic"
    request = StepRequest(method, law(robot, controller), friction, iterations if implicit else 0)
    request.check()
    tracks = _tracks(torque, controller, request, over)
    q, qd = q.reshape(-1, robot.n), qd.reshape(-1, robot.n)
    rates = _momenta(robot, q, qd) if implicit else qd
    state = np.concatenate([q, rates, np.zeros((len(q), request.extra))], -1)
    run = Run(state, tracks, *_records(q, rates, steps // every + 1), every, limit)
    ended = _finish(stepper(robot.model, request, len(q), robot.cache), run, steps, progress)
    return _rollout(robot, run, ended, over, qd if implicit else None)


def _rollout(robot: Robot, run: Run, ended: "_End", over: Horizon, qd: Array | None) -> Rollout:
    """The records of a run; qd are the velocities at the start where momenta were integrated."""
    records = ended.last // run.every + 1
    positions, velocities = run.positions[:, :records], run.rates[:, :records]
    if qd is not None:
        velocities = _velocities(robot, positions, velocities)
        velocities[:, 0] = qd
    shape = (*over.batch, records, robot.n)
    return Rollout(
        over.step * run.every * np.arange(records),
        positions.reshape(shape),
        velocities.reshape(shape),
        ended.divergence(over.batch),
        None if qd is None else run.corrections.reshape(over.batch),
        ended.interrupted,
    )


@dataclass(frozen=True, slots=True)
class _End:
    last: int
    """The last step after which all arms are sound."""
    found: tuple[int, int] | None = None
    interrupted: bool = False

    def divergence(self, batch: tuple[int, ...]) -> Divergence | None:
        if self.found is None:
            return None
        arm, step = self.found
        return Divergence(tuple(int(k) for k in np.unravel_index(arm, batch)), step)


def _finish(machine: Stepper, run: Run, steps: int, progress: Callable[[int], None] | None) -> _End:
    """All steps, so many at a time that Python has a say now and then."""
    count = max(LEAST_STEPS, FIRST_STEPS // max(1, len(run.state)))
    try:
        while run.done < steps:
            began = time.perf_counter()
            found = machine.advance(run, min(count, steps - run.done))
            if found is not None:
                return _End(found[1] - 1, found)
            if progress is not None:
                progress(run.done)
            pace = RETURN_PERIOD / max(time.perf_counter() - began, 1e-9)
            count = max(LEAST_STEPS, math.floor(count * min(4.0, pace)))
    except KeyboardInterrupt:
        return _End(run.done, interrupted=True)
    return _End(steps)


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


def _tracks(
    torque: npt.ArrayLike | None,
    controller: GravityPD | ComputedTorque | None,
    request: StepRequest,
    over: Horizon,
) -> list[StepInput]:
    """The arguments of every step after the state."""
    if torque is not None and controller is not None:
        raise SimulationError("give a torque or a controller, not both")
    length = StepInput(np.full((1, 1, 1), float(over.step)))
    if controller is None:
        return [length, *torque_tracks(torque, over)]
    return [length, *control_tracks(controller, request, over)]


# momenta p = M q̇ of the symplectic method


def _momenta(robot: Robot, q: Array, qd: Array) -> Array:
    """The torques that give the velocities as accelerations, from rest and without gravity."""
    momentum = robot.kernel("inverse_dynamics", friction=False, gravity=True)
    return momentum(q, np.zeros(robot.n), qd, np.zeros(3))


def _velocities(robot: Robot, q: Array, p: Array) -> Array:
    """The accelerations that the momenta give as torques."""
    velocity = robot.kernel("forward_dynamics", friction=False, gravity=True)
    return velocity(q, np.zeros(robot.n), p, np.zeros(3))


# what is given


def _states(robot: Robot, q0: npt.ArrayLike, qd0: npt.ArrayLike) -> tuple[Array, ...]:
    vectors = {
        name: check_joint_vector(name, given, robot.n) for name, given in (("q0", q0), ("qd0", qd0))
    }
    for name, vector in vectors.items():
        if not np.isfinite(vector).all():
            raise SimulationError(f"{name}: expected finite numbers, got some that are not")
    return broadcast(**vectors)


def _check(step: float, steps: int, every: int, limit: float) -> None:
    if not (_is_number(step) and math.isfinite(step) and step != 0):
        raise SimulationError(f"step: expected a time that is not zero [s], got {step!r}")
    for name, count in (("steps", steps), ("every", every)):
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
        if not whole or count < 1:
            raise SimulationError(f"{name}: expected a whole number from 1 on, got {count!r}")
    if not (_is_number(limit) and 0 < limit < math.inf):
        raise SimulationError(f"limit: expected a positive number, got {limit!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _refuse_dry(robot: Robot) -> None:
    """A sign that jumps spoils the order of the methods, and joints would chatter, not stick."""
    for joint in robot.model.joints:
        if joint.friction.jumps:
            raise SimulationError(
                f"joint {joint.name!r} has dry friction that jumps with the sign of the velocity, "
                "which fixed steps cannot follow; give it a smooth_velocity, leave friction out "
                "(friction=False, --no-friction), or use an adaptive method"
            )
