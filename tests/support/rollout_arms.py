"""Arms to roll out, and the classical Runge-Kutta method as the books write it."""

from dataclasses import replace

import numpy as np

from armdyn.model import Connection, FrictionLaw, Mimic, assemble
from armdyn.robot import Robot
from armdyn.simulation.trajectories.piecewise import Motion
from support.random_robots import random_axis, random_inertia, random_model, random_transform


def with_friction(model, friction):
    return replace(model, joints=tuple(replace(j, friction=friction) for j in model.joints))


def coupled(seed=5):
    """Three joints in a chain, of which the last follows the first."""
    rng = np.random.default_rng(seed)
    links = {name: random_inertia(rng) for name in "abcd"}
    follows = (None, None, Mimic("ab", -0.7, 0.2))
    connections = [
        Connection(
            p + c, "revolute", p, c, random_transform(rng), axis=random_axis(rng), mimic=mimic
        )
        for p, c, mimic in zip("abc", "bcd", follows, strict=True)
    ]
    return assemble("coupled", links, connections)


SMOOTH = FrictionLaw(0.4, 1.5, 1.0, 0.8, 0.3, 0.05)
ARMS = {
    "chain": Robot(random_model("RPR", 1, rotors=True)),
    "coupled": Robot(coupled()),
    "viscous": Robot(with_friction(random_model("RPR", 6), FrictionLaw(0.7))),
    "smooth": Robot(with_friction(random_model("RRR", 7), SMOOTH)),
}


def runge_kutta(robot, q, qd, step, steps, torque, friction=True):
    """All states, with torques as a function of t, q and q̇; the record is the last axis but one."""

    def slope(t, q, qd):
        return qd, robot.forward_dynamics(q, qd, torque(t, q, qd), friction=friction)

    h, states = step, [(q, qd)]
    for k in range(steps):
        q, qd = states[-1]
        v1, a1 = slope(k * h, q, qd)
        v2, a2 = slope((k + 0.5) * h, q + h / 2 * v1, qd + h / 2 * a1)
        v3, a3 = slope((k + 0.5) * h, q + h / 2 * v2, qd + h / 2 * a2)
        v4, a4 = slope((k + 1) * h, q + h * v3, qd + h * a3)
        next_q = q + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        states.append((next_q, qd + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)))
    return tuple(np.stack(part, -2) for part in zip(*states, strict=True))


def no_torque(t, q, qd):
    return np.zeros_like(q)


def states(robot, *batch, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (2, *batch, robot.n))


class Swing:
    """A motion to follow: sines of different frequencies."""

    duration = 10.0

    def __init__(self, n):
        self.n = n
        self.w = np.linspace(2.0, 3.0, n)

    def __call__(self, t):
        t = np.asarray(t)[..., None]
        sine, cosine = np.sin(self.w * t), np.cos(self.w * t)
        return Motion(0.3 * sine, 0.3 * self.w * cosine, -0.3 * self.w**2 * sine)
