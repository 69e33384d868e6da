"""Inverse dynamics: torques from a motion."""

from armdyn.arrays import Array
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.quantities.otherwise import IN_NUMPY
from armdyn.quantities.quantity import TERMS, TORQUE_OPTIONS, Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _inverse_dynamics(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    if s.request.formulation is None:
        return s.torques(q, qd, qdd) + s.friction(q, qd) + s.loads(q)
    at = s.here(q)
    full, rates, accelerations = at.q, at.rates(qd), at.accelerations(qd, qdd)
    formulation = FORMULATIONS[s.request.formulation]
    links = formulation(s.plain, full, rates, accelerations, s.wrench(full)).tau
    return at.torques(links) + s.rotor_torques(q, qd, qdd) + s.springs(q) + s.friction(q, qd)


INVERSE_DYNAMICS = Quantity(
    "inverse_dynamics",
    "Torques of the actuators for a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + f(qd).",
    ("q", "qd", "qdd"),
    _inverse_dynamics,
    symbol="tau",
    result="torques, positive if they drive the joint forward [{torque}]",
    terms=TERMS,
    options=(*TORQUE_OPTIONS, "base_motion", "wrench", "method"),
    formulations=tuple(FORMULATIONS),
    exported=True,
    assembled=True,
    otherwise=IN_NUMPY,
)
