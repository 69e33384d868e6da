"""Which terms of the equations of motion matter, and whether the quasi-static model suffices.

The quasi-static model has gravity and friction alone. What it neglects (inertial, centrifugal,
Coriolis and rotor terms) grows with the square of the speed when a motion is made faster, so a
motion may be made faster by the factor

    s_i = √(tolerance · reference_i / largest neglected torque of joint i)

until the neglected torque of joint i reaches the tolerance, relative to its reference: its largest
torque at the given speed, or the effort limit of its actuator.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from armdyn.arrays import check_truth, real
from armdyn.errors import ModelError, check_known, counted, shown
from armdyn.figures import save_picture
from armdyn.robot import Robot, check_robot
from armdyn.sections import Section, Sectioned
from armdyn.study.terms.shares import JointTerms, Share, joint_terms
from armdyn.study.terms.shares_picture import draw_terms
from armdyn.study.terms.states import OnLimits, Over, states_of

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
        return self.neglected / self.reference if self.reference else 0.0


@dataclass(frozen=True, eq=False)
class Terms(Sectioned):
    """The terms of the torques of a robot over a set of states."""

    robot: str
    title: str = field(repr=False)
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
    def speed(self) -> float:
        """Up to how many times the given speed the quasi-static model is within the tolerance."""
        return min(joint.speed for joint in self.quasi_static)

    @property
    def suffices(self) -> bool:
        """Whether the quasi-static model suffices at the given speed."""
        return self.speed >= 1

    def plot(self, path: str | Path) -> None:
        """Draw the largest terms of each joint to a .png, .pdf or .svg file."""
        speeds = [joint.speed for joint in self.quasi_static]
        told = (
            f"{self.states}; {self._verdict()}\nbars: RMS of a term relative to that of the torque"
        )
        head = f"{self.title}: what the torques are made of", told
        save_picture(path, draw_terms, head, self.joints, speeds)

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        head = Section(
            f"{self.title}: terms of the torques {self.states}",
            tuple(f"note: {note}" for note in self.notes),
            data={
                "robot": self.robot,
                "states": self.states,
                "tolerance": self.tolerance,
                "residual": self.residual,
                "notes": list(self.notes),
                "joints": [_plain(*pair) for pair in self._pairs()],
            },
        )
        return head, *map(self._of_joint, self.joints), self._of_kinds(), self._of_quasi_static()

    def _pairs(self) -> list[tuple[JointTerms, QuasiStatic]]:
        return list(zip(self.joints, self.quasi_static, strict=True))

    def _of_joint(self, joint: JointTerms) -> Section:
        rest = len(joint.terms) - self.listed
        more = (f"and {rest} smaller ones",) if rest > 0 else ()
        return Section(
            f"{joint.name}: RMS {joint.rms:.4g} {joint.unit}, peak {joint.peak:.4g} {joint.unit}"
            + (
                f" ({counted(len(joint.terms), 'term')}, the {self.listed} largest)" if more else ""
            ),
            (),
            ("term", "kind", "RMS", "of RMS", "peak", "of peak", "share"),
            tuple(_row(share.name, share.kind, share) for share in joint.terms[: self.listed]),
            texts=2,
        )

    def _of_kinds(self) -> Section:
        names = [kind.name for kind in self.joints[0].kinds + self.joints[0].parts]
        table = {
            name: [(joint.kinds + joint.parts)[c] for joint in self.joints]
            for c, name in enumerate(names)
        }
        acting = [name for name in names if any(share.peak for share in table[name])]
        rows = tuple(
            (joint.name, *(f"{100 * table[name][i].rms_share:z.1f} %" for name in acting))
            for i, joint in enumerate(self.joints)
        )
        return Section(
            "Terms of a kind together, RMS relative to that of the torque",
            (),
            ("joint", *acting),
            rows,
        )

    def _of_quasi_static(self) -> Section:
        rows = tuple(
            (
                joint.name,
                f"{part.neglected:.4g} {joint.unit}",
                f"{part.reference:.4g} {joint.unit}",
                part.basis,
                f"{100 * part.error:.3g} %",
                f"{part.speed:.3g}",
            )
            for joint, part in self._pairs()
        )
        columns = ("joint", "neglected", "of", "which is its", "error", "speed factor")
        data = {"quasi_static": {"suffices": self.suffices, "speed": self.speed}}
        return Section(f"Quasi-static model: {self._verdict()}", (), columns, rows, data=data)

    def _verdict(self) -> str:
        within = f"within {100 * self.tolerance:.3g} %"
        if np.isinf(self.speed):
            return "gravity and friction are all there is"
        answer = "suffice" if self.suffices else "do not suffice"
        return f"gravity and friction {answer} {within}; up to {self.speed:.3g} times this speed"


def terms(
    robot: Robot,
    trajectory: Over = "workspace",
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
        trajectory: A trajectory file, a trajectory, anything with t, q, qd and qdd, the arrays
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
    states = states_of(robot, trajectory, limits)
    joints, residual = joint_terms(robot, states, check_truth("friction", friction))
    measured = references(robot, np.array([joint.peak for joint in joints]), reference)
    quasi_static = (
        QuasiStatic(joint.neglected, *by, _speed(joint.neglected, by[0], tolerance))
        for joint, by in zip(joints, measured, strict=True)
    )
    return Terms(
        robot.name,
        robot.model.title or robot.name,
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
    found = []
    for i, peak in zip(robot.model.independent, peaks.tolist(), strict=True):
        limit = robot.model.joints[i].limits.effort
        known = reference == "effort" and 0 < limit < np.inf
        found.append((limit, "effort limit") if known else (peak, "peak torque"))
    return found


def _speed(neglected: float, reference: float, tolerance: float) -> float:
    return float(np.sqrt(tolerance * reference / neglected)) if neglected else np.inf


def _row(name: str, kind: str, share: Share) -> tuple[str, ...]:
    cells = (
        f"{share.rms:.4g}", f"{100 * share.rms_share:z.1f} %", f"{share.peak:.4g}",
        f"{100 * share.peak_share:z.1f} %", f"{100 * share.share:z.1f} %",
    )  # fmt: skip
    return (name, kind, *cells)


def _plain(joint: JointTerms, part: QuasiStatic) -> dict[str, Any]:
    return asdict(joint) | {"quasi_static": asdict(part) | {"error": part.error}}
