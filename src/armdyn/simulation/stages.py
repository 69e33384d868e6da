"""Fixed steps driven by a function in Python, asked for torques at the stages of every step."""

from collections.abc import Callable

import numpy as np

from armdyn.arrays import Array
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

    def slope(t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        sound = np.isfinite(q).all() and np.isfinite(qd).all()
        push = driven.push(t, q, qd) if sound else np.full((2, *q.shape), np.nan)
        return acceleration(q, qd, push.sum(0)), np.sum(push * qd, axis=-1)

    def step(t: float, q: Array, qd: Array, push: Array) -> tuple[Array, Array, Array]:
        half = 0.5 * h
        a1, p1 = acceleration(q, qd, push.sum(0)), np.sum(push * qd, axis=-1)
        v2 = qd + half * a1
        a2, p2 = slope(t + half, q + half * qd, v2)
        v3 = qd + half * a2
        a3, p3 = slope(t + half, q + half * v2, v3)
        v4 = qd + h * a3
        a4, p4 = slope(t + h, q + h * v3, v4)
        q = q + h / 6 * (qd + 2 * (v2 + v3) + v4)
        return q, qd + h / 6 * (a1 + 2 * (a2 + a3) + a4), h / 6 * (p1 + 2 * (p2 + p3) + p4)

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
