"""Kinetic and potential energy."""

from armdyn.arrays import Array
from armdyn.formulations.energy import potential_energy
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _kinetic_energy(s: TracedRobot, q: Array, qd: Array) -> Array:
    """½ q̇ᵀ (M q̇): M q̇ is the torque of the acceleration q̇ from rest."""
    return 0.5 * (qd @ s.torques(q, s.zero, qd, weight=False))


KINETIC_ENERGY = Quantity(
    "kinetic_energy",
    "Kinetic energy, qd' M qd / 2.",
    ("q", "qd"),
    _kinetic_energy,
    symbol="",
    result="energy [J]",
    shape=(),
    terms=("links", "rotors"),
    options=("payload",),
)
POTENTIAL_ENERGY = Quantity(
    "potential_energy",
    "Energy in the field of gravity, zero at the world origin.",
    ("q",),
    lambda s, q: potential_energy(s.plain, s.at.positions(q)),
    symbol="",
    result="energy [J]",
    shape=(),
    terms=("gravity",),
    fixed=("payload", "gravity"),
)
