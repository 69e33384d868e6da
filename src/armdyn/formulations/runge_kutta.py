"""The stages of a classical Runge-Kutta step of a motion, of floats or nodes."""

from collections.abc import Callable
from typing import Any

from armdyn.arrays import Array

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
