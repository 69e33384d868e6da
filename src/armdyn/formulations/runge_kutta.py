"""The stages of a classical Runge-Kutta step of a motion, of floats or nodes.

A rotation goes along as u in R = C(u) R_0, with Cayley's map, which needs no angles, and ω in world
axes (H. Munthe-Kaas, Runge-Kutta methods on Lie groups, 1998):

    C(u) = 1 + (û + û²/2) / (1 + |u|²/4),   u̇ = ω + ½ ω × u + ¼ (ω·u) u

u is 2 tan(θ/2) times the axis, so it stays small where R_0 is that of the start of a step.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import cross, skew

Stages = tuple[Array, Array, Array, Array]


def runge_kutta(
    slope: Callable[[float, Array, Array], Array], q: Array, qd: Array, h: Any
) -> tuple[Stages, Stages]:
    """Velocities and accelerations, which `slope` has of a share of the step and a state."""
    half = 0.5 * h
    a1 = slope(0.0, q, qd)
    v2 = qd + half * a1
    a2 = slope(0.5, q + half * qd, v2)
    v3 = qd + half * a2
    a3 = slope(0.5, q + half * v2, v3)
    q4, v4 = q + h * v3, qd + h * a3
    return (qd, v2, v3, v4), (a1, a2, a3, slope(1.0, q4, v4))


def cayley(u: Array) -> Array:
    """C(u), (..., 3, 3)."""
    S = skew(u)
    share = 1.0 / (1.0 + 0.25 * (u * u).sum(-1, keepdims=True))
    return np.eye(3) + share[..., None] * (S + 0.5 * (S @ S))


def cayley_rate(u: Array, w: Array) -> Array:
    """u̇ for the angular velocity w = ω, (..., 3)."""
    return w + 0.5 * cross(w, u) + 0.25 * (w * u).sum(-1, keepdims=True) * u


def rk4_step(slope: Callable[[float, Array], Array], y: Array, h: Any) -> Array:
    """The state after a step h, of which `slope` has the rate at a share of the step."""
    half = 0.5 * h
    k1 = slope(0.0, y)
    k2 = slope(0.5, y + half * k1)
    k3 = slope(0.5, y + half * k2)
    k4 = slope(1.0, y + h * k3)
    return np.asarray(y + (h * (1.0 / 6.0)) * (k1 + 2.0 * (k2 + k3) + k4))
