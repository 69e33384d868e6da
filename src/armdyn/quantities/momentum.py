"""The generalised momentum p = M q̇, and an observer of external torques that is built on it.

From M q̈ + C q̇ + g + f = τ + τ_ext and dM/dt = C + Cᵀ follows

    dp/dt = u + τ_ext,   u = τ + Cᵀ q̇ - g - f,   Cᵀ q̇ = ½ ∂(q̇ᵀ M q̇)/∂q

in which there is no acceleration. The observer filters what u does not explain, dr/dt = K (τ_ext -
r). Its step is the exact solution for a τ_ext that is constant in the step, whatever its length h;
u is taken by the trapezoidal rule, whose error is of the order h²:

    d = (p' - p)/h - ½ (u + u'),   r' = r + (1 - exp(-K h)) (d - r)

References: A. De Luca, R. Mattone, Actuator failure detection and isolation using generalized
momenta, ICRA 2003; S. Haddadin, A. De Luca, A. Albu-Schäffer, Robot collisions: a survey on
detection, isolation, and identification, T-RO 2017, section V.
"""

from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.nodes import Node
from armdyn.quantities.quantity import TORQUE_OPTIONS, quantity
from armdyn.quantities.traced_robot import TracedRobot

_observer = partial(
    quantity,
    shape=("3 n",),
    terms=("links", "rotors", "coriolis", "gravity", "friction"),
    options=TORQUE_OPTIONS,
)


def momentum(s: TracedRobot, q: Array, qd: Array) -> Array:
    """M q̇, which is the torque of the acceleration q̇ from rest without gravity."""
    return s.nodes(s.torques(q, s.zero, qd, weight=False))


def slope_of_lagrangian(s: TracedRobot, q: Array, qd: Array, p: Array) -> Array:
    """∂L/∂q = Cᵀ q̇ - g for the momentum p at q and q̇, which are symbols."""
    energy: Node = s.nodes(np.array([0.5 * (qd @ p)], dtype=object))[0]
    return s.gradient(energy, q) - s.torques(q, s.zero, s.zero)


@_observer(
    symbol="state",
    result="zeros for the external torques [{torque}], momenta p = M qd, and the rates of p that "
    "actuators, Coriolis terms, gravity and friction cause",
)
def _observer_start(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    """State of the momentum observer at its first sample, where no external torque is known."""
    p = momentum(s, q, qd)
    u = tau + slope_of_lagrangian(s, q, qd, p) - s.friction(q, qd)
    return np.concatenate([s.zero, p, u])


@_observer(
    symbol="next",
    result="external torques r [{torque}], then momenta and their rates; may take the place of the "
    "state",
)
def _observer_step(
    s: TracedRobot, state: Array, q: Array, qd: Array, tau: Array, h: Array, gain: Array
) -> Array:
    """State of the momentum observer at the next sample.

    It is by the exact solution of dr/dt = K (t - r) for an external torque t that is constant in
    the step. Its first entries are the estimate r of the torques that the environment gives at the
    joints.
    """
    r, p, u = np.split(state, 3)
    _, p_next, u_next = np.split(_observer_start.build(s, q, qd, tau), 3)
    unexplained = (1.0 / h) * (p_next - p) - 0.5 * (u + u_next)
    r_next = r + (1.0 - np.exp(-gain * h)) * (unexplained - r)
    return np.concatenate([r_next, p_next, u_next])


@quantity(
    symbol="p",
    result="momenta [{torque} s]",
    terms=("links", "rotors"),
    options=("payload",),
    assembled=True,
)
def _momentum(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Generalised momentum, M(q) qd."""
    return momentum(s, q, qd)
