"""Inverse and forward dynamics: torques from a motion, and accelerations from torques."""

from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.forward_dynamics import METHODS
from armdyn.formulations.newton_euler import newton_euler
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.quantities.otherwise import IN_NUMPY
from armdyn.quantities.quantity import TERMS, TORQUE_OPTIONS, Quantity
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.minimal.articulated import minimal_articulated_body
from armdyn.shorten.parts import guarded
from armdyn.thresholds import MOST_COMPOSITE


def _inverse_dynamics(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    if s.request.formulation is None:
        return s.torques(q, qd, qdd) + s.friction(q, qd) + s.loads(q)
    at = s.here(q)
    motion = at.motion(qd, qdd)
    formulation = FORMULATIONS[s.request.formulation]
    links = formulation(s.plain, *motion, wrench=s.wrench(at.q)).tau
    return at.torques(links) + s.rotor_torques(q, qd, qdd) + s.springs(q) + s.friction(q, qd)


_dynamics = partial(Quantity, terms=TERMS, exported=True, assembled=True, otherwise=IN_NUMPY)
INVERSE_DYNAMICS = _dynamics(
    "inverse_dynamics",
    "Torques of the actuators for a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + f(qd).",
    ("q", "qd", "qdd"),
    _inverse_dynamics,
    symbol="tau",
    result="torques, positive if they drive the joint forward [{torque}]",
    options=(*TORQUE_OPTIONS, "base_motion", "wrench", "formulation"),
    ways=tuple(FORMULATIONS),
)


def acceleration(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    """By the mass matrix or by articulated bodies, whichever takes fewer operations."""
    tau = tau - s.friction(q, qd)
    if s.request.method is not None:
        return _as_written(s, q, qd, tau)
    found = s.accelerations(q, qd, tau - s.loads(q) - s.springs(q))
    if found is not None:
        return found
    few = max(map(len, s.model.paths)) <= MOST_COMPOSITE.value
    if s.model.is_coupled or s.request.base_motion or few:
        return _by_mass_matrix(s, q, qd, tau)
    return _articulated(s, q, qd, tau)


def _by_mass_matrix(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    rest = tau - s.torques(q, qd, s.zero) - s.loads(q)
    return s.solve(s.mass_matrix(q), rest)


def _articulated(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    assert s.runtime is not None
    rest = tau - s.loads(q) - s.springs(q)
    return minimal_articulated_body(s.runtime, q, qd, rest, s.rotors, guarded(s.graph))


def _as_written(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    if s.request.method == "composite_body":
        return _by_mass_matrix(s, q, qd, tau)
    tau = tau - s.springs(q)
    if s.request.method == "articulated_body":
        return articulated_body(s.plain, q, qd, tau, s.wrench(q))[1]
    bias = newton_euler(s.plain, q, qd, np.zeros(len(s.model.joints)), s.wrench(q)).tau
    return denoc_forward(s.plain, q, tau - bias)[1]


FORWARD_DYNAMICS = _dynamics(
    "forward_dynamics",
    "Accelerations that torques cause: M(q) qdd = tau - C(q, qd) qd - g(q) - f(qd). "
    "Not a number where the mass matrix is singular.",
    ("q", "qd", "tau"),
    acceleration,
    symbol="qdd",
    result="accelerations [{acceleration}]",
    options=(*TORQUE_OPTIONS, "base_motion", "wrench", "method"),
    ways=METHODS,
    solves=True,
)
