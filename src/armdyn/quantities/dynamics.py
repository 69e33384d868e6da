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
from armdyn.quantities.quantity import IN_NUMPY, TERMS, TORQUE_OPTIONS, Otherwise, Run, quantity
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.minimal.articulated import minimal_articulated_body
from armdyn.shorten.parts import guarded
from armdyn.thresholds import COMPILED_MASS_ENTRIES, MOST_COMPOSITE, WHOLE_DERIVATIVES

_dynamics = partial(quantity, terms=TERMS, exported=True, assembled=True, otherwise=IN_NUMPY)
_in_numpy = partial(quantity, otherwise=IN_NUMPY)
_energy = partial(_in_numpy, symbol="", result="energy [J]", shape=())


@_dynamics(
    symbol="tau",
    result="torques, positive if they drive the joint forward [{torque}]",
    options=(*TORQUE_OPTIONS, "base_motion", "wrench", "formulation"),
    ways=tuple(FORMULATIONS),
)
def _inverse_dynamics(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """Torques of the actuators for a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + f(qd)."""
    if s.request.formulation is None:
        return s.torques(q, qd, qdd) + s.friction(q, qd) + s.loads(q)
    links = s.here(q).torques(s.formulated(q, qd, qdd).tau)
    rotors = s.rotor_torques(q, qd, qdd) + s.spin_torques(q, qd, qdd)
    return links + rotors + s.springs(q) + s.friction(q, qd)


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


@_dynamics(
    symbol="qdd",
    result="accelerations [{acceleration}]",
    options=(*TORQUE_OPTIONS, "base_motion", "wrench", "method"),
    ways=METHODS,
    solves=True,
)
def _forward_dynamics(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    """Accelerations that torques cause: M(q) qdd = tau - C(q, qd) qd - g(q) - f(qd).

    Not a number where the mass matrix is singular.
    """
    return acceleration(s, q, qd, tau)


# terms of the equation, and energies


@_in_numpy(
    symbol="L",
    result="rows inertial, Coriolis, gravity, viscous, Coulomb, Stribeck, offset, rotor, "
    "spin, external [{torque}]",
    shape=(len(Ledger.__slots__), "n"),
    terms=TERMS,
    options=("payload", "gravity", "wrench"),
)
def _ledger(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The torques of a motion, term by term."""
    # the terms of the torque in the order of `Ledger`, (10, n)
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


@_energy(terms=("links", "rotors"), options=("payload",), assembled=True)
def _kinetic_energy(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Kinetic energy, qd' M qd / 2."""
    # ½ q̇ᵀ (M q̇): M q̇ is the torque of the acceleration q̇ from rest.
    momenta = s.torques(q, s.zero, qd, weight=False)
    return 0.5 * rotate(qd[..., None, :], momenta)[..., 0]


@_in_numpy(
    symbol="E",
    result="kinetic energies of the links, then their potential energies [J]",
    shape=(2, "N"),
    terms=("links", "gravity"),
    fixed=("payload", "gravity"),
)
def _link_energies(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Kinetic energy of every link, and its potential energy, zero at the world origin."""
    found = link_energies(s.plain, s.here(q).q, s.here(q).rates(qd))
    return np.stack([found.kinetic, found.potential], -2)


@_in_numpy(symbol="f", terms=("friction",), floats=True)
def _friction_torque(s: TracedRobot, qd: Array) -> Array:
    """What the actuators must add to overcome friction."""
    # friction by the rates alone: what acts at passive joints of loops depends on q as well
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


@quantity(
    symbol="M",
    result="the matrix [{inertia}]",
    shape=("n", "n"),
    terms=("links", "rotors"),
    options=("payload",),
    exported=True,
    assembled=True,
    otherwise=Otherwise(entries=COMPILED_MASS_ENTRIES),
)
def _mass_matrix(s: TracedRobot, q: Array) -> Array:
    """The mass matrix, symmetric and full."""
    return s.mass_matrix(q)


@quantity(
    symbol="C",
    result="the matrix, which times qd is a torque [{torque}]",
    shape=("n", "n"),
    terms=("coriolis",),
    options=("payload",),
    exported=True,
    short="coriolis",
    otherwise=Otherwise(_coriolis_by_slopes, WHOLE_DERIVATIVES),
)
def _coriolis_matrix(s: TracedRobot, q: Array, qd: Array) -> Array:
    """The Coriolis matrix of the Christoffel symbols: dM/dt - 2 C is skew."""
    return coriolis_matrix(s, q, qd)


@_in_numpy(symbol="h", terms=("coriolis",), options=("payload",), assembled=True)
def _coriolis_vector(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Coriolis and centrifugal torques C(q, qd) qd."""
    return s.torques(q, qd, s.zero, weight=False)


@_in_numpy(
    symbol="g",
    terms=("gravity",),
    options=("payload", "gravity", "base_motion"),
    exported=True,
    short="gravity",
    assembled=True,
)
def _gravity_vector(s: TracedRobot, q: Array) -> Array:
    """Torques that hold the arm at rest against gravity and springs."""
    return s.torques(q, s.zero, s.zero)


@_in_numpy(
    symbol="b",
    terms=("coriolis", "gravity", "friction"),
    options=(*TORQUE_OPTIONS, "base_motion"),
    assembled=True,
)
def _bias(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Torques of a motion without acceleration: C(q, qd) qd + g(q) + f(qd)."""
    return s.torques(q, qd, s.zero) + s.friction(q, qd)


@_energy(terms=("gravity",), fixed=("payload", "gravity"))
def _potential_energy(s: TracedRobot, q: Array) -> Array:
    """Energy in the field of gravity, zero at the world origin, and of springs."""
    return potential_energy(s.plain, s.here(q).q)
