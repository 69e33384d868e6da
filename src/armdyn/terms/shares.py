"""How much each term of the equations of motion adds to the torques over a set of states.

    τ_i = Σ_j D_ij q̈_j + Σ_j h_ijj q̇_j² + Σ_{j<k} 2 h_ijk q̇_j q̇_k + g_i + friction + rotor

A term is measured by its root mean square, by its largest magnitude, and by its share of the mean
square of the torque, ⟨term·τ⟩/⟨τ²⟩: these shares add up to 1, and one that is negative works
against the others. h_ijk has n³ entries, so all sums are taken while the states stream by.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.dalembert import dalembert
from armdyn.formulations.rotors import rotor_matrix
from armdyn.loops.coordinates import coordinates_of
from armdyn.model.friction_terms import FRICTION_ROWS
from armdyn.robot import Robot
from armdyn.terms.states import StateSet

PARTS = ("rotation of links", "translation of links")
"""The two parts of the torque of inertia in the generalised d'Alembert equations."""
KINDS = ("inertial", "centrifugal", "coriolis", "gravity", *FRICTION_ROWS, "rotor")
"""The kinds of terms."""
_LEDGER = ("gravity", *FRICTION_ROWS, "rotor")
Column = tuple[str, tuple[int, ...]]
"""A kind, and the joints whose accelerations or velocities the terms of a column multiply."""
NEGLIGIBLE_SHARE = 1e-12
"""A term that is smaller, relative to the torque, is rounding."""


@dataclass(frozen=True, slots=True)
class Share:
    """A term of the torque of one joint, or the sum of all terms of a kind."""

    name: str
    """As "D12 qdd2", "h122 qd2^2", "2 h112 qd1 qd2" or "gravity"."""
    kind: str
    rms: float
    """Root mean square over the states [N m or N]."""
    peak: float
    """Largest magnitude [N m or N]."""
    share: float
    """⟨term·τ⟩/⟨τ²⟩, of which all terms of a joint add up to 1."""
    rms_share: float
    """Root mean square relative to that of the torque."""
    peak_share: float
    """Largest magnitude relative to that of the torque."""


@dataclass(frozen=True, slots=True)
class JointTerms:
    """The torque of one joint and what it is made of."""

    name: str
    unit: str
    rms: float
    peak: float
    terms: tuple[Share, ...]
    """Every term that is not zero, the largest root mean square first."""
    kinds: tuple[Share, ...]
    """The sums of all terms of a kind, in the order of `KINDS`."""
    parts: tuple[Share, ...]
    """What turning and moving the links takes, accelerations and velocities together; empty where
    links have no centre of mass."""
    neglected: float
    """Largest magnitude of inertial, centrifugal, Coriolis and rotor terms together [N m or N]."""


class Statistics:
    """Mean squares, peaks and products with the torque of columns of terms."""

    def __init__(self, joints: int, columns: int):
        self.square, self.peak, self.product = (np.zeros((joints, columns)) for _ in range(3))

    def add(self, terms: Array, tau: Array, weights: Array) -> None:
        """Count some states: terms (m, n, columns), torques (m, n)."""
        self.square += np.einsum("s,sit->it", weights, terms**2)
        self.product += np.einsum("s,si,sit->it", weights, tau, terms, optimize=True)
        np.maximum(self.peak, np.abs(terms).max(0), out=self.peak)

    def share(self, i: int, column: int, name: str, kind: str, torque: "Statistics") -> Share:
        """The share of a column in the torque of joint i."""
        mean, top = float(torque.square[i, 0]), float(torque.peak[i, 0])
        rms, peak = float(self.square[i, column]) ** 0.5, float(self.peak[i, column])
        return Share(
            *(name, kind, rms, peak),
            *(_ratio(float(self.product[i, column]), mean), _ratio(rms, mean**0.5)),
            _ratio(peak, top),
        )


def joint_terms(
    robot: Robot, states: StateSet, friction: bool = True
) -> tuple[tuple[JointTerms, ...], float]:
    """The terms of every joint, and the largest difference of their sum to the torque."""
    n = robot.n
    columns = _columns(n)
    total, single, kinds = (Statistics(n, size) for size in (1, len(columns), len(KINDS)))
    parts, dynamic = Statistics(n, len(PARTS)), np.zeros(n)
    centred = all(link.inertia.has_com for link in robot.model.links)
    place = {kind: [c for c, (k, _) in enumerate(columns) if k == kind] for kind in KINDS}
    residual = 0.0
    for part in states.parts(n * len(columns) + len(robot.model.joints) ** 3):
        state, weights = (states.q[part], states.qd[part], states.qdd[part]), states.weights[part]
        tau = robot.inverse_dynamics(*state, friction=friction)
        terms = _terms(robot, *state, friction)
        sums = np.stack([terms[..., place[kind]].sum(-1) for kind in KINDS], -1)
        total.add(tau[..., None], tau, weights)
        single.add(terms, tau, weights)
        kinds.add(sums, tau, weights)
        moving = sums[..., [0, 1, 2, -1]].sum(-1)
        np.maximum(dynamic, np.abs(moving).max(0), out=dynamic)
        residual = max(residual, float(np.abs(terms.sum(-1) - tau).max()))
        if centred:
            parts.add(_parts(robot, *state), tau, weights)
    found = []
    for i in range(n):
        joint = robot.model.joints[robot.model.independent[i]]
        shares = [
            single.share(i, c, _name(i, *column), column[0], total)
            for c, column in enumerate(columns)
            if single.peak[i, c] > NEGLIGIBLE_SHARE * total.peak[i, 0]
        ]
        rms, peak = float(total.square[i, 0]) ** 0.5, float(total.peak[i, 0])
        found.append(
            JointTerms(
                *(joint.name, joint.type.torque_unit, rms, peak),
                tuple(sorted(shares, key=lambda s: -s.rms)),
                tuple(kinds.share(i, c, kind, kind, total) for c, kind in enumerate(KINDS)),
                tuple(parts.share(i, c, x, x, total) for c, x in enumerate(PARTS) if centred),
                float(dynamic[i]),
            )
        )
    return tuple(found), residual


def element(letter: str, *joints: int) -> str:
    """The name of an element, joints counted from 1: D12, or D_1,12 where numbers are long."""
    digits = [str(joint + 1) for joint in joints]
    return letter + ("".join(digits) if max(joints) < 9 else "_" + ",".join(digits))


def _columns(n: int) -> list[Column]:
    """The columns of terms of n joints."""
    pairs = [(int(j), int(k)) for j, k in zip(*np.triu_indices(n), strict=True)]
    return [
        *(("inertial", (j,)) for j in range(n)),
        *(("centrifugal" if j == k else "coriolis", (j, k)) for j, k in pairs),
        *((row, ()) for row in _LEDGER),
    ]


def _name(i: int, kind: str, joints: tuple[int, ...]) -> str:
    """What a column is in the equation of joint i."""
    if not joints:
        return kind
    j, k = joints[0] + 1, joints[-1] + 1
    if kind == "inertial":
        return f"{element('D', i, *joints)} qdd{j}"
    h = element("h", i, *joints)
    return f"{h} qd{j}^2" if kind == "centrifugal" else f"2 {h} qd{j} qd{k}"


def _terms(robot: Robot, q: Array, qd: Array, qdd: Array, friction: bool) -> Array:
    """Every term of every joint, (m, n, columns)."""
    here = coordinates_of(robot.model).at(q)
    D = robot.mass_matrix(q) - here.matrix(rotor_matrix(robot.model))
    j, k = np.triu_indices(robot.n)
    pairs = np.where(j == k, 1.0, 2.0) * qd[:, j] * qd[:, k]
    ledger = dict(robot.ledger(q, qd, qdd).terms)
    if robot.model.loops:  # what rotors of passive joints take at constant rates is in h
        ledger["rotor"] = ledger["rotor"] - robot.ledger(q, qd, 0.0 * qdd).rotor
    rows = [
        values if friction or name not in FRICTION_ROWS else np.zeros_like(values)
        for name, values in ((name, ledger[name]) for name in _LEDGER)
    ]
    velocity = robot.christoffel(q)[..., j, k] * pairs[:, None]
    return np.concatenate([D * qdd[:, None], velocity, np.stack(rows, -1)], -1)


def _parts(robot: Robot, q: Array, qd: Array, qdd: Array) -> Array:
    """What turning and what moving the links takes, (m, n, 2)."""
    at = coordinates_of(robot.model).at(q)
    motion = at.q, at.rates(qd), at.accelerations(qd, qdd)
    found, qdd_all = dalembert(robot.model, *motion), motion[2]
    pairs = (found.D_rot, found.h_rot), (found.D_tran, found.h_tran)
    both = [np.einsum("sij,sj->si", D, qdd_all) + h for D, h in pairs]
    return np.stack([at.torques(part) for part in both], -1)


def _ratio(value: float, scale: float) -> float:
    return value / scale if scale else 0.0
