"""Which terms of the equations of motion matter, and whether the quasi-static model suffices.

    τ_i = Σ_j D_ij q̈_j + Σ_j h_ijj q̇_j² + Σ_{j<k} 2 h_ijk q̇_j q̇_k + g_i + friction + rotor

A term is measured by its root mean square, by its largest magnitude, and by its share of the mean
square of the torque, ⟨term·τ⟩/⟨τ²⟩: these shares add up to 1, and one that is negative works
against the others. h_ijk has n³ entries, so all sums are taken while the states stream by.

The quasi-static model has gravity and friction alone. What it neglects (inertial, centrifugal,
Coriolis and rotor terms) grows with the square of the speed when a motion is made faster, so a
motion may be made faster by the factor

    s_i = √(tolerance · reference_i / largest neglected torque of joint i)

until the neglected torque of joint i reaches the tolerance, relative to its reference: its largest
torque at the given speed, or the effort limit of its actuator.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from armdyn.arrays import Array, check_truth, real
from armdyn.closed_forms.document import index
from armdyn.errors import ModelError, check_known, counted, shown
from armdyn.formulations.dalembert import dalembert
from armdyn.formulations.rotors import rotor_matrix, spin_torques
from armdyn.loops.coordinates import coordinates_of
from armdyn.model.friction import FRICTION_ROWS
from armdyn.report.figures import COLOURS, GREY, panel_grid
from armdyn.report.panels import bar_rows, key_row, name_rows, panel_title, sheet
from armdyn.report.result import DrawnResult, Section, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.study.states import OnLimits, Over, StateSet, states_of

PARTS = ("rotation of links", "translation of links", "spin of rotors")
"""The parts of the torque of inertia in the generalised d'Alembert equations, and of rotors."""
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
    """Mean squares, peaks and products with the torque, which is the first, of columns of terms."""

    def __init__(self, joints: int, columns: int):
        self.square, self.peak, self.product = np.zeros((3, joints, columns))

    def add(self, terms: Array, weights: Array) -> None:
        """Count some states: the torque and its terms (m, n, columns)."""
        self.square += np.einsum("s,sit->it", weights, terms**2)
        self.product += np.einsum("s,si,sit->it", weights, terms[..., 0], terms, optimize=True)
        np.maximum(self.peak, np.abs(terms).max(0), out=self.peak)

    def share(self, i: int, column: int, name: str, kind: str) -> Share:
        """The share of a column in the torque of joint i."""
        rms = np.sqrt(self.square[i, [column, 0]])
        peak, product = self.peak[i, [column, 0]], (self.product[i, column], self.square[i, 0])
        ratios = (_ratio(*map(float, pair)) for pair in (product, rms, peak))
        return Share(name, kind, float(rms[0]), float(peak[0]), *ratios)


def joint_terms(
    robot: Robot, states: StateSet, friction: bool = True
) -> tuple[tuple[JointTerms, ...], float]:
    """The terms of every joint, and the largest difference of their sum to the torque."""
    n = robot.n
    columns = _columns(n)
    centred = all(link.inertia.has_com for link in robot.model.links)
    names = PARTS[: (3 if robot.model.spins else 2) * centred]
    of_kind = np.array([[kind == each for each in KINDS] for kind, _ in columns], dtype=float)
    # the torque, its terms, those of a kind together, the parts of inertia, and what moves
    single, kinds = 1, 1 + len(columns)
    parts = kinds + len(KINDS)
    statistics = Statistics(n, parts + len(names) + 1)
    residual = 0.0
    for part in states.parts(n * len(columns) + len(robot.model.joints) ** 3):
        state = states.at(part).motion
        tau = robot.inverse_dynamics(*state, friction=friction)
        terms = _terms(robot, *state, friction)
        sums = terms @ of_kind
        moving = sums[..., [0, 1, 2, -1]].sum(-1)
        found = [tau[..., None], terms, sums, *([_parts(robot, *state)] if names else [])]
        statistics.add(np.concatenate([*found, moving[..., None]], -1), states.weights[part])
        residual = max(residual, float(np.abs(terms.sum(-1) - tau).max()))
    joints = []
    for i, joint in enumerate(robot.model.coordinate_joints):
        total = statistics.share(i, 0, "", "")
        shares = [
            statistics.share(i, single + c, _name(i, *column), column[0])
            for c, column in enumerate(columns)
            if statistics.peak[i, single + c] > NEGLIGIBLE_SHARE * total.peak
        ]
        joints.append(
            JointTerms(
                *(joint.name, joint.type.torque_unit, total.rms, total.peak),
                tuple(sorted(shares, key=lambda share: -share.rms)),
                tuple(statistics.share(i, kinds + c, x, x) for c, x in enumerate(KINDS)),
                tuple(statistics.share(i, parts + c, x, x) for c, x in enumerate(names)),
                float(statistics.peak[i, -1]),
            )
        )
    return tuple(joints), residual


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
        return f"D{index(i + 1, j)} qdd{j}"
    h = f"h{index(i + 1, j, k)}"
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
    rows = [ledger[name] * (friction or name not in FRICTION_ROWS) for name in _LEDGER]
    velocity = robot.christoffel(q)[..., j, k] * pairs[:, None]
    return np.concatenate([D * qdd[:, None], velocity, np.stack(rows, -1)], -1)


def _parts(robot: Robot, q: Array, qd: Array, qdd: Array) -> Array:
    """What turning and what moving the links takes, and what rotors that spin, (m, n, parts)."""
    at = coordinates_of(robot.model).at(q)
    motion = at.q, at.rates(qd), at.accelerations(qd, qdd)
    found, qdd_all = dalembert(robot.model, *motion), motion[2]
    pairs = (found.D_rot, found.h_rot), (found.D_tran, found.h_tran)
    every = [np.einsum("sij,sj->si", D, qdd_all) + h for D, h in pairs]
    every += [spin_torques(robot.model, *motion)] * robot.model.spins
    return np.stack([at.torques(part) for part in every], -1)


def _ratio(value: float, scale: float) -> float:
    return value / scale if scale else 0.0


DRAWN_TERMS = 7
"""Most terms of a joint in its panel."""
KIND_COLOURS = {**COLOURS, "centrifugal": "#F0A6CA"}


TOLERANCE = 0.05
"""What the quasi-static model may neglect by default, relative to the reference."""
LISTED_TERMS = 8
"""Terms of a joint in a report."""
Reference = Literal["peak", "effort"]
"""What an error is measured by: the largest torque of the joint, or its limit."""


@dataclass(frozen=True, slots=True)
class QuasiStatic:
    """What the quasi-static model neglects at one joint."""

    neglected: float
    """Largest torque that it neglects [N m or N]."""
    reference: float
    """What that is measured by [N m or N]."""
    basis: str
    """Either "peak torque" or "effort limit"."""
    speed: float
    """The factor of speed at which the neglected part reaches the tolerance; infinite if none."""

    @property
    def error(self) -> float:
        """The neglected part at the given speed, relative to the reference."""
        return _ratio(self.neglected, self.reference)


@dataclass(frozen=True, eq=False)
class Terms(DrawnResult):
    """The terms of the torques of a robot over a set of states."""

    robot: Robot = field(repr=False)
    states: str
    """What the states are."""
    joints: tuple[JointTerms, ...] = field(repr=False)
    quasi_static: tuple[QuasiStatic, ...] = field(repr=False)
    """What the quasi-static model neglects, joint by joint."""
    tolerance: float
    residual: float
    """Largest difference between a torque and the sum of its terms [N m or N]."""
    notes: tuple[str, ...] = ()
    listed: int = field(default=LISTED_TERMS, repr=False)
    """Terms of each joint in the report."""

    @property
    def _title(self) -> str:
        return self.robot.model.title or self.robot.name

    @property
    def speed(self) -> float:
        """Up to how many times the given speed the quasi-static model is within the tolerance."""
        return min(joint.speed for joint in self.quasi_static)

    @property
    def suffices(self) -> bool:
        """Whether the quasi-static model suffices at the given speed."""
        return self.speed >= 1

    def figure(self) -> Any:
        """A panel a joint with its largest terms."""
        joints, n = self.joints, len(self.joints)
        columns = min(n, 2 if n <= 4 else 3)
        width, height = 1.2 + 4.6 * columns, 1.6 + 2.3 * -(-n // columns)
        edge, told = 0.3 / width, f"{self.states}; {self.verdict}"
        figure = sheet(width, height, f"{self._title}: what the torques are made of", told, edge)
        meant = "bars: RMS of a term relative to that of the torque"
        figure.text(edge, 1 - 0.75 / height, meant, color=GREY, va="center")
        kinds = {s.kind for joint in joints for s in joint.terms}
        key_row(figure, edge, 1.02, {kind: KIND_COLOURS[kind] for kind in KINDS if kind in kinds})
        left = (1.35 if columns > 1 else 1.6) / width
        room = dict(left=left, right=0.97, top=1 - 1.65 / height, bottom=0.25 / height)
        places = panel_grid(figure, n, columns, room | dict(hspace=0.42, wspace=0.45))
        longest = max((s.rms_share for joint in joints for s in joint.terms), default=1.0) or 1.0
        most = max(min(DRAWN_TERMS, max(len(joint.terms) for joint in joints)), 1)
        for panel, (joint, part) in zip(places, self.pairs, strict=True):
            drawn = joint.terms[:DRAWN_TERMS]
            ends = [s.rms_share for s in drawn]
            colours = [KIND_COLOURS[s.kind] for s in drawn]
            bar_rows(panel, ends, [f"{100 * end:.3g} %" for end in ends], colours, 1.18 * longest)
            name_rows(panel, [share.name.replace("^2", "²") for share in drawn])
            panel.set_ylim(most - 0.4, -0.6)
            fast = "static" if np.isinf(part.speed) else f"quasi-static to {part.speed:.2g} × speed"
            panel_title(panel, joint.name, f"RMS {joint.rms:.3g} {joint.unit}, {fast}")
        return figure

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        head = Section(
            f"{self._title}: terms of the torques {self.states}",
            [f"note: {note}" for note in self.notes],
            data={
                "robot": self.robot.name,
                **parts_of(self, "states", "tolerance", "residual", "notes"),
                "joints": [
                    asdict(joint) | {"quasi_static": asdict(part) | {"error": part.error}}
                    for joint, part in self.pairs
                ],
            },
        )
        return head, *map(self._of_joint, self.joints), self._of_kinds(), self._of_quasi_static()

    @property
    def pairs(self) -> list[tuple[JointTerms, QuasiStatic]]:
        """Each joint with what the quasi-static model neglects there."""
        return list(zip(self.joints, self.quasi_static, strict=True))

    def _of_joint(self, joint: JointTerms) -> Section:
        count, unit = len(joint.terms), joint.unit
        some = f"{counted(count, 'term')}, the {self.listed} largest"
        more = f" ({some})" if count > self.listed else ""
        return Section(
            f"{joint.name}: RMS {joint.rms:.4g} {unit}, peak {joint.peak:.4g} {unit}{more}",
            (),
            ("term", "kind", "RMS", "of RMS", "peak", "of peak", "share"),
            tuple(map(_row, joint.terms[: self.listed])),
            texts=2,
        )

    def _of_kinds(self) -> Section:
        kinds = zip(*(joint.kinds + joint.parts for joint in self.joints), strict=True)
        acting = [shares for shares in kinds if any(share.peak for share in shares)]
        rows = [
            (joint.name, *(f"{100 * shares[i].rms_share:z.1f} %" for shares in acting))
            for i, joint in enumerate(self.joints)
        ]
        title = "Terms of a kind together, RMS relative to that of the torque"
        return Section(title, (), ("joint", *(shares[0].name for shares in acting)), rows)

    def _of_quasi_static(self) -> Section:
        rows = [
            (
                joint.name,
                f"{part.neglected:.4g} {joint.unit}",
                f"{part.reference:.4g} {joint.unit}",
                part.basis,
                f"{100 * part.error:.3g} %",
                f"{part.speed:.3g}",
            )
            for joint, part in self.pairs
        ]
        columns = ("joint", "neglected", "of", "which is its", "error", "speed factor")
        data = {"quasi_static": {"suffices": self.suffices, "speed": self.speed}}
        return Section(f"Quasi-static model: {self.verdict}", (), columns, rows, data=data)

    @property
    def verdict(self) -> str:
        """Whether the quasi-static model suffices, and up to which speed."""
        within = f"within {100 * self.tolerance:.3g} %"
        if np.isinf(self.speed):
            return "gravity and friction are all there is"
        answer = "suffice" if self.suffices else "do not suffice"
        return f"gravity and friction {answer} {within}; up to {self.speed:.3g} times this speed"


def terms(
    robot: Robot,
    over: Over = "workspace",
    *,
    tolerance: float = TOLERANCE,
    reference: Reference = "peak",
    friction: bool = True,
    limits: OnLimits = "error",
    listed: int = LISTED_TERMS,
) -> Terms:
    """Which terms the torques of a robot are made of, and whether the quasi-static model suffices.

    Args:
        robot: The robot.
        over: A trajectory file, a trajectory, anything with t, q, qd and qdd, the arrays
            (q, qd, qdd), each (..., n), or "workspace" (`armdyn.Workspace`): random states.
        tolerance: What the quasi-static model may neglect, above 0 and below 1.
        reference: Relative to what: "peak", the largest torque of the joint over these states, or
            "effort", the limit of its actuator, where it has one.
        friction: Whether joints have friction.
        limits: "error", "warn" or "ignore": what to do where a motion leaves the limits of joints.
        listed: How many terms of a joint the report has.
    """
    check_robot(robot)
    tolerance = check_tolerance(tolerance)
    check_known("reference of errors", reference, get_args(Reference))
    states = states_of(robot, over, limits)
    joints, residual = joint_terms(robot, states, check_truth("friction", friction))
    measured = references(robot, np.array([joint.peak for joint in joints]), reference)
    quasi_static = (
        QuasiStatic(
            x := joint.neglected, *by, float(np.sqrt(tolerance * by[0] / x)) if x else np.inf
        )
        for joint, by in zip(joints, measured, strict=True)
    )
    return Terms(
        robot,
        states.words,
        joints,
        tuple(quasi_static),
        tolerance,
        residual,
        states.notes,
        listed,
    )


def check_tolerance(tolerance: object) -> float:
    """A tolerance above 0 and below 1, or a ModelError."""
    if isinstance(tolerance, bool) or not 0 < real(tolerance) < 1:
        raise ModelError(
            "a tolerance is the largest error relative to a torque, above 0 and below 1 (0.01 is "
            f"1 %), got {shown(tolerance)}"
        )
    return real(tolerance)


def references(robot: Robot, peaks: Any, reference: Reference) -> list[tuple[float, str]]:
    """What the errors of each joint are measured by, and what that is."""
    limits = robot.effort_limits if reference == "effort" else np.full(robot.n, np.inf)
    return [
        (limit, "effort limit") if np.isfinite(limit) else (peak, "peak torque")
        for limit, peak in zip(limits.tolist(), peaks.tolist(), strict=True)
    ]


def _row(share: Share) -> tuple[str, ...]:
    parts = [f"{100 * x:z.1f} %" for x in (share.rms_share, share.peak_share, share.share)]
    return share.name, share.kind, f"{share.rms:.4g}", parts[0], f"{share.peak:.4g}", *parts[1:]
