"""The terms of the state-space equation τ = M q̈ + V + G, each alone, and energies of links."""

from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.formulations.energy import link_energies, potential_energy
from armdyn.formulations.friction import friction_rows, friction_torque
from armdyn.formulations.ledger import Ledger
from armdyn.quantities.configuration_space import coriolis_matrix
from armdyn.quantities.otherwise import CORIOLIS_BY_SLOPES, IN_NUMPY, MASS_IN_NUMPY
from armdyn.quantities.quantity import TERMS, TORQUE_OPTIONS, Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _ledger(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The terms of the torque in the order of `Ledger`, (9, n)."""
    at, still = s.here(q), s.zero
    friction = friction_rows(s.model, at.rates(qd))
    terms = {
        "inertial": s.links(q, still, qdd, weight=False),
        "coriolis": s.links(q, qd, still, weight=False),
        "gravity": s.links(q, still, still) + s.springs(q),
        **{row: s.aside(at.torques(torque)) for row, torque in friction.items()},
        "rotor": s.rotor_torques(q, qd, qdd),
        "external": s.loads(q),
    }
    return np.stack([terms[name] for name in Ledger.__slots__])


def _kinetic_energy(s: TracedRobot, q: Array, qd: Array) -> Array:
    """½ q̇ᵀ (M q̇): M q̇ is the torque of the acceleration q̇ from rest."""
    return 0.5 * (qd @ s.torques(q, s.zero, qd, weight=False))


def _link_energies(s: TracedRobot, q: Array, qd: Array) -> Array:
    found = link_energies(s.plain, s.here(q).q, s.here(q).rates(qd))
    return np.stack([found.kinetic, found.potential])


def _friction_torque(s: TracedRobot, qd: Array) -> Array:
    """Friction by the rates alone: what acts at passive joints of loops depends on q as well."""
    if s.at.is_linear:
        return s.at.torques(friction_torque(s.model, s.at.rates(qd)))
    owners = {s.model.joints[i].name: s.model.joints[i].friction for i in s.model.passive}
    owners |= {drive.name: drive.friction for drive in s.model.drives}
    for name, law in owners.items():
        if not law.is_zero:
            raise LoopError(
                f"the friction of {name!r} of {s.model.name!r} depends on the configuration; "
                "give q as well"
            )
    full = s.nodes(np.zeros(len(s.model.joints)))
    full[list(s.model.independent)] = qd
    return friction_torque(s.model, full)[list(s.model.independent)]


_in_numpy = partial(Quantity, otherwise=IN_NUMPY)
_energy = partial(_in_numpy, symbol="", result="energy [J]", shape=())
MASS_MATRIX = Quantity(
    "mass_matrix",
    "The mass matrix, symmetric and full.",
    ("q",),
    TracedRobot.mass_matrix,
    symbol="M",
    result="the matrix [{inertia}]",
    shape=("n", "n"),
    terms=("links", "rotors"),
    options=("payload",),
    exported=True,
    assembled=True,
    otherwise=MASS_IN_NUMPY,
)
CORIOLIS_MATRIX = Quantity(
    "coriolis_matrix",
    "The Coriolis matrix of the Christoffel symbols: dM/dt - 2 C is skew.",
    ("q", "qd"),
    coriolis_matrix,
    symbol="C",
    result="the matrix, which times qd is a torque [{torque}]",
    shape=("n", "n"),
    terms=("coriolis",),
    options=("payload",),
    exported=True,
    short="coriolis",
    otherwise=CORIOLIS_BY_SLOPES,
)
CORIOLIS_VECTOR = _in_numpy(
    "coriolis_vector",
    "Coriolis and centrifugal torques C(q, qd) qd.",
    ("q", "qd"),
    lambda s, q, qd: s.torques(q, qd, s.zero, weight=False),
    symbol="h",
    terms=("coriolis",),
    options=("payload",),
    assembled=True,
)
GRAVITY_VECTOR = _in_numpy(
    "gravity_vector",
    "Torques that hold the arm at rest against gravity and springs.",
    ("q",),
    lambda s, q: s.torques(q, s.zero, s.zero),
    symbol="g",
    terms=("gravity",),
    options=("payload", "gravity", "base_motion"),
    exported=True,
    short="gravity",
    assembled=True,
)
BIAS = _in_numpy(
    "bias",
    "Torques of a motion without acceleration: C(q, qd) qd + g(q) + f(qd).",
    ("q", "qd"),
    lambda s, q, qd: s.torques(q, qd, s.zero) + s.friction(q, qd),
    symbol="b",
    terms=("coriolis", "gravity", "friction"),
    options=(*TORQUE_OPTIONS, "base_motion"),
    assembled=True,
)
FRICTION_TORQUE = _in_numpy(
    "friction_torque",
    "What the actuators must add to overcome friction.",
    ("qd",),
    _friction_torque,
    symbol="f",
    terms=("friction",),
)
LEDGER = _in_numpy(
    "ledger",
    "The torques of a motion, term by term.",
    ("q", "qd", "qdd"),
    _ledger,
    symbol="L",
    result="rows inertial, Coriolis, gravity, viscous, Coulomb, Stribeck, offset, rotor, "
    "external [{torque}]",
    shape=(len(Ledger.__slots__), "n"),
    terms=TERMS,
    options=("payload", "gravity", "wrench"),
)
KINETIC_ENERGY = _energy(
    "kinetic_energy",
    "Kinetic energy, qd' M qd / 2.",
    ("q", "qd"),
    _kinetic_energy,
    terms=("links", "rotors"),
    options=("payload",),
    assembled=True,
)
POTENTIAL_ENERGY = _energy(
    "potential_energy",
    "Energy in the field of gravity, zero at the world origin, and of springs.",
    ("q",),
    lambda s, q: potential_energy(s.plain, s.here(q).q),
    terms=("gravity",),
    fixed=("payload", "gravity"),
)
LINK_ENERGIES = _in_numpy(
    "link_energies",
    "Kinetic energy of every link, and its potential energy, zero at the world origin.",
    ("q", "qd"),
    _link_energies,
    symbol="E",
    result="kinetic energies of the links, then their potential energies [J]",
    shape=(2, "N"),
    terms=("links", "gravity"),
    fixed=("payload", "gravity"),
)
