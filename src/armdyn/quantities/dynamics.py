"""Torques from a motion, accelerations from torques, terms of the equation, energies.

The terms are those of the state-space equation τ = M q̈ + V + G, each alone.
"""

from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.energy import link_energies, potential_energy
from armdyn.formulations.forward_dynamics import METHODS
from armdyn.formulations.friction import friction_rows, friction_torque
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.spatial import rotate
from armdyn.model import RobotModel
from armdyn.quantities.derivatives import coriolis_matrix
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.quantities.quantity import IN_NUMPY, TERMS, TORQUE_OPTIONS, Otherwise, Quantity, Run
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.minimal.articulated import minimal_articulated_body
from armdyn.shorten.parts import guarded
from armdyn.thresholds import COMPILED_MASS_ENTRIES, MOST_COMPOSITE, WHOLE_DERIVATIVES


def _inverse_dynamics(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    if s.request.formulation is None:
        return s.torques(q, qd, qdd) + s.friction(q, qd) + s.loads(q)
    links = s.here(q).torques(s.formulated(q, qd, qdd).tau)
    rotors = s.rotor_torques(q, qd, qdd) + s.spin_torques(q, qd, qdd)
    return links + rotors + s.springs(q) + s.friction(q, qd)


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
    qdd = s.accelerations(q, qd, tau)
    if qdd is not None:
        return qdd
    if s.request.method is not None:
        return _as_written(s, q, qd, tau)
    few = max(map(len, s.model.paths)) <= MOST_COMPOSITE.value
    if s.model.is_coupled or s.request.base_motion or few or s.as_in_books:
        return _by_mass_matrix(s, q, qd, tau)
    assert s.runtime is not None
    rest = tau - s.loads(q) - s.springs(q)
    return minimal_articulated_body(s.runtime, q, qd, rest, s.rotors, guarded(s.graph))


def _by_mass_matrix(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    rest = tau - s.torques(q, qd, s.zero) - s.loads(q)
    return s.solve(s.mass_matrix(q), rest)


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


# terms of the equation, and energies


def _ledger(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The terms of the torque in the order of `Ledger`, (10, n)."""
    at, still = s.here(q), s.zero
    friction = friction_rows(s.model, at.rates(qd))
    terms = {
        "inertial": s.links(q, still, qdd, weight=False),
        "coriolis": s.links(q, qd, still, weight=False),
        "gravity": s.links(q, still, still) + s.springs(q),
        **{row: s.aside(at.torques(torque)) for row, torque in friction.items()},
        "rotor": s.rotor_torques(q, qd, qdd),
        "spin": s.spin_torques(q, qd, qdd),
        "external": s.loads(q),
    }
    return np.stack([terms[name] for name in Ledger.__slots__], -2)


def _kinetic_energy(s: TracedRobot, q: Array, qd: Array) -> Array:
    """½ q̇ᵀ (M q̇): M q̇ is the torque of the acceleration q̇ from rest."""
    momenta = s.torques(q, s.zero, qd, weight=False)
    return 0.5 * rotate(qd[..., None, :], momenta)[..., 0]


def _link_energies(s: TracedRobot, q: Array, qd: Array) -> Array:
    found = link_energies(s.plain, s.here(q).q, s.here(q).rates(qd))
    return np.stack([found.kinetic, found.potential], -2)


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
    full = s.nodes(np.zeros((*qd.shape[:-1], len(s.model.joints))))
    full[..., list(s.model.independent)] = qd
    return friction_torque(s.model, full)[..., list(s.model.independent)]


def _coriolis_by_slopes(
    run: Run, model: RobotModel, request: Request, q: Array, qd: Array
) -> Array:
    slopes = run("inverse_dynamics_derivatives", q, qd, np.zeros_like(qd), friction=False)
    return 0.5 * slopes[..., 1, :, :]


_in_numpy = partial(Quantity, otherwise=IN_NUMPY)
_energy = partial(_in_numpy, symbol="", result="energy [J]", shape=())
MASS_MATRIX = Quantity(
    "mass_matrix",
    "The mass matrix, symmetric and full.",
    ("q",),
    lambda s, q: s.mass_matrix(q),
    symbol="M",
    result="the matrix [{inertia}]",
    shape=("n", "n"),
    terms=("links", "rotors"),
    options=("payload",),
    exported=True,
    assembled=True,
    otherwise=Otherwise(entries=COMPILED_MASS_ENTRIES),
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
    otherwise=Otherwise(_coriolis_by_slopes, WHOLE_DERIVATIVES),
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
    floats=True,
)
LEDGER = _in_numpy(
    "ledger",
    "The torques of a motion, term by term.",
    ("q", "qd", "qdd"),
    _ledger,
    symbol="L",
    result="rows inertial, Coriolis, gravity, viscous, Coulomb, Stribeck, offset, rotor, "
    "spin, external [{torque}]",
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
