"""Fixed steps driven by a function in Python, asked for torques at the stages of every step."""

from collections.abc import Callable

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.runge_kutta import runge_kutta
from armdyn.robot import Robot
from armdyn.simulation.forces import Driven
from armdyn.simulation.native import ITERATIONS, STATE_LIMIT, Divergence, refuse_dry, rollout

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
