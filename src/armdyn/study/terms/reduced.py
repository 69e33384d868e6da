"""The approximate model for control: which terms may be dropped within a stated error.

Two ways are combined, and the shortest program is taken: inertial parameters, rotors and terms of
friction may be zero, and sums in the program may lose terms (`armdyn.study.terms.dropping`), as
long as the error of no torque at any of the states exceeds the tolerance. The result is then
compared with the full model at states that were not used to choose it: a new sample of the
workspace, or instants between those of the motion, and the worst state of each joint that steps
from these find. Where the error is larger there, the worst of these states join the others, and the
choice is made again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_truth
from armdyn.errors import check_known, counted
from armdyn.forks import cached_property
from armdyn.graph.count import Operations
from armdyn.graph.program import Program
from armdyn.report.figures import COLOURS, INK, PALE
from armdyn.report.panels import bar_rows, name_rows, sheet
from armdyn.report.result import DrawnResult, Section, number, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.study.states import OnLimits, Over, fresh_states, is_workspace, states_of
from armdyn.study.terms.dropping import DroppedTerm, Search, kernel_of
from armdyn.study.terms.terms import Reference, check_tolerance, references

MOST_TERMS = 20
"""Terms of sums that are printed."""
INCH_A_JOINT = 0.3
HEAD = 1.1
FOOT = 0.75
_FULL = PALE
_REDUCED = COLOURS["inertial"]
_VERIFIED = COLOURS["coulomb"]


ROUNDS = 6
"""How often a choice is made anew because its error was too large at other states."""
TIGHTER = 0.9
"""The factor by which the tolerance of the next choice is smaller; over a workspace, where new
states are likely to be worse, that of the first one is, too."""


@dataclass(frozen=True, slots=True)
class JointError:
    """How far the torque of one joint is from that of the full model."""

    name: str
    unit: str
    reference: float
    """What the errors are measured by [N m or N]."""
    basis: str
    """Either "peak torque" or "effort limit"."""
    chosen: float
    """Largest error at the states by which the model was chosen, relative to the reference."""
    verified: float
    """The same at states that were not used to choose it."""


@dataclass(frozen=True, eq=False)
class Reduced(DrawnResult):
    """An approximate model of a robot, for inverse dynamics."""

    full: Robot = field(repr=False)
    robot: Robot
    """The robot with the dropped parameters zero; its links are a reduced set of inertias."""
    program: Program = field(repr=False)
    """The program of the torques."""
    tolerance: float
    states: str
    """The states by which it was chosen."""
    other_states: str = field(repr=False)
    """Those at which it was verified."""
    dropped: tuple[str, ...] = field(repr=False)
    """Parameters that are zero: Jxx3, MX3, M3 of link 3, Ia3 of its rotor, friction by name."""
    kept: tuple[str, ...] = field(repr=False)
    """Parameters that are left."""
    terms: tuple[DroppedTerm, ...] = field(repr=False)
    """Terms that sums of the program have lost, in the order in which they were dropped."""
    parameters_only: bool = field(repr=False)
    """Whether nothing but parameters is dropped, so that `robot` has the same torques."""
    errors: tuple[JointError, ...] = field(repr=False)
    counts: tuple[Operations, Operations] = field(repr=False)
    """What the torques of the full and of the reduced model take, rotors and friction included."""

    @property
    def error(self) -> float:
        """Largest error of all joints, at all states, relative to their references."""
        return max(max(joint.chosen, joint.verified) for joint in self.errors)

    @property
    def operations(self) -> Operations:
        """What the torques take, rotors and friction included."""
        return self.counts[1]

    @cached_property
    def kernel(self) -> Callable[..., Array]:
        """Torques as a compiled function of q, qd and qdd."""
        return kernel_of(self.robot, self.program).call

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Approximate torques of a motion, (..., n) [N m or N]."""
        return self.kernel(q, qd, qdd)

    def export(
        self, directory: str | Path, language: Literal["c", "python"] = "c", **options: Any
    ) -> Any:
        """Write the torques as "c" or "python"; options as in `Robot.export`."""
        name = "inverse_dynamics"
        given = {"functions": (name,), "programs": {name: self.program}} | options
        return self.robot.export(directory, language, **given)

    def figure(self) -> Any:
        """Bars of operations beside the largest error of each joint."""
        errors = self.errors
        height = HEAD + FOOT + INCH_A_JOINT * max(4, len(errors))
        figure = sheet(9.8, height, self.title, self.states, 0.02)
        bottom, tall = FOOT / height, 1 - (HEAD + FOOT) / height
        panel = figure.add_axes((0.09, bottom, 0.33, tall))
        totals = [x.total for x in self.counts]
        bar_rows(panel, totals, list(map(str, totals)), (_FULL, _REDUCED), 1.18 * max(totals[0], 1))
        name_rows(panel, ("full", "reduced"))
        panel.set_xlabel("multiplications and additions")
        axes = figure.add_axes((0.55, bottom, 0.42, tall))
        rows = range(len(errors))
        chosen, verified = 100 * np.array([(x.chosen, x.verified) for x in errors]).T
        axes.barh(rows, chosen, height=0.62, color=_REDUCED, label="states it was chosen by")
        look: Any = {"color": _VERIFIED, "markersize": 5, "clip_on": False}
        axes.plot(verified, rows, "D", label="other states", **look)
        axes.axvline(100 * self.tolerance, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
        name_rows(axes, [joint.name for joint in errors])
        axes.set_xlim(0, 112 * self.tolerance)
        axes.set_xlabel("largest error [% of the largest torque of the joint, or of its limit]")
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, borderpad=0,
            handlelength=1.2, labelcolor=INK,
        )  # fmt: skip
        return figure

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        name = self.full.model.title or self.full.name
        return f"{name}: a model within {100 * self.tolerance:.3g} %"

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        before, after = self.counts
        share = after.total / before.total if before.total else 1.0
        pairs = [(x.mul, x.add, x.div, x.trig, x.total) for x in self.counts]
        names = ("multiplications", "additions", "divisions", "sines and cosines", "operations")
        rows = [(name, str(x), str(y)) for name, x, y in zip(names, *pairs, strict=True) if x or y]
        head = Section(
            f"{self.title} {self.states}",
            (f"{after.total} of {counted(before.total, 'operation')}, {100 * share:.0f} %",),
            ("", "full", "reduced"),
            rows,
            data={
                **parts_of(self, "tolerance", "states", "other_states"),
                "robot": self.full.name,
                "operations": {
                    name: asdict(count) | {"total": count.total}
                    for name, count in zip(("full", "reduced"), self.counts, strict=True)
                },
            },
        )
        lines = [
            f"{_are(self.dropped)} zero: {', '.join(self.dropped) or 'none'}",
            f"{_are(self.kept)} left: {', '.join(self.kept) or 'none'}",
        ]
        if self.terms:
            lines.append(f"and {counted(len(self.terms), 'term')} of sums in the program, below")
        joints = [joint.name for joint in self.errors]
        terms = sorted(self.terms, key=lambda term: -term.share)
        more = len(terms) - MOST_TERMS
        lines += [f"the largest {MOST_TERMS} of them; the data has the others"] if more > 0 else []
        dropped = Section(
            "What is dropped",
            lines,
            ("term", "felt most by", "up to") if terms else (),
            [(x.text, joints[x.joint], number(x.share, "%", 2)) for x in terms[:MOST_TERMS]],
            2,
            data={**parts_of(self, "dropped", "kept"), "terms": self.terms},
        )
        errors = [
            (
                *(joint.name, f"{joint.reference:.4g} {joint.unit}", joint.basis),
                *(number(x, "%", 3) for x in (joint.chosen, joint.verified)),
            )
            for joint in self.errors
        ]
        verified = Section(
            f"Largest error of each joint: {100 * self.error:.3g} % at most",
            (f"verified {self.other_states}, which were not used to choose the model",),
            ("joint", "relative to", "which is its", "where chosen", "at others"),
            errors,
            data={"error": self.error, "joints": self.errors},
        )
        return head, dropped, verified


def reduced(
    robot: Robot,
    tolerance: float,
    over: Over = "workspace",
    *,
    reference: Reference = "peak",
    parameters_only: bool = False,
    limits: OnLimits = "error",
) -> Reduced:
    """The model with fewest operations whose torques are within a tolerance of the full model.

    Args:
        robot: The robot.
        tolerance: The largest error of each joint, relative to its reference, between 0 and 1.
        over: Along what or over what: as in `armdyn.terms`.
        reference: "peak": the largest torque of the joint over these states, friction included; or
            "effort": the limit of its actuator, where it has one.
        parameters_only: Whether to drop nothing but parameters; then `.robot` is a robot with the
            same torques as the model, and has equations and every other quantity.
        limits: "error", "warn" or "ignore": what to do where a motion leaves the limits of joints.

    Returns:
        The model: `.inverse_dynamics(q, qd, qdd)`, `.kernel`, `.export(directory)`, `.robot`,
        `.operations`, `.error`, `.report()`, `.plot(path)`, `.json()`.
    """
    check_robot(robot)
    tolerance = check_tolerance(tolerance)
    check_known("reference of errors", reference, get_args(Reference))
    given = states_of(robot, over, limits)
    peaks = np.abs(robot.inverse_dynamics(*given.motion)).max(0)
    measured = references(robot, peaks, reference)
    only = check_truth("parameters_only", parameters_only)
    search = Search(robot, np.array([by for by, _ in measured]), only)
    for round_ in range(ROUNDS):
        model = search.best(given, tolerance * TIGHTER ** (round_ + is_workspace(over)))
        other = fresh_states(robot, over, given, round_)
        worst = search.climbed(model, over, other)
        states = (given, other) if worst is None else (given, other, worst)
        errors = list(map(search.errors(model), (each.motion for each in states)))
        if max(e.max() for e in errors) <= tolerance:
            break
        search.worst += [x.at(e.argmax(0)) for x, e in zip(states, errors, strict=True)]
    else:
        model = search.full
        errors = list(map(search.errors(model), (each.motion for each in states)))
    title = f"{robot.model.title or robot.name}, reduced to within {100 * tolerance:.3g} %"
    named = replace(model.robot.model, name=f"{robot.name}_reduced", title=title)
    dropped = tuple(x.name for x in model.dropped)
    joints = robot.model.coordinate_joints
    chosen, *others = (e.max(0) for e in errors)
    largest = zip(joints, measured, chosen, np.max(others, axis=0), strict=True)
    return Reduced(
        robot,
        Robot(named, cache=robot.cache, search_effort=robot.search_effort),
        model.program,
        tolerance,
        given.words,
        " and ".join(each.words for each in states[1:]),
        dropped,
        tuple(x.name for x in search.droppable if x.name not in dropped),
        model.terms,
        only,
        tuple(
            JointError(joint.name, joint.type.torque_unit, by, basis, float(a), float(b))
            for joint, (by, basis), a, b in largest
        ),
        (search.full.program.whole, model.program.whole),
    )


def _are(parameters: tuple[str, ...]) -> str:
    """So many parameters are ..."""
    return f"{counted(len(parameters), 'parameter')} {'is' if len(parameters) == 1 else 'are'}"
