"""The approximate model for control: which terms may be dropped within a stated error.

Two ways are combined, and the shortest program is taken: inertial parameters, rotors and terms of
friction may be zero (`armdyn.study.terms.dropping`), and sums in the program may lose terms
(`armdyn.study.terms.pruning`), as long as the error of no torque at any of the states exceeds the
tolerance. The result is then compared with the full model at states that were not used to choose
it: a new sample of the workspace, or instants between those of the motion. Where the error is
larger there, the worst of these states join the others, and the choice is made again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_truth
from armdyn.errors import check_known, counted
from armdyn.figures import save_picture
from armdyn.forks import cached_property
from armdyn.graph.count import Operations
from armdyn.graph.program import Program
from armdyn.kernels.kernel import Kernel
from armdyn.robot import Robot, check_robot
from armdyn.sections import Section, Sectioned
from armdyn.study.terms.fresh_states import chosen_states, fresh_states
from armdyn.study.terms.reduced_picture import draw_reduction
from armdyn.study.terms.reducing import Model, Search, request_of
from armdyn.study.terms.states import OnLimits, Over, StateSet, is_workspace, states_of
from armdyn.study.terms.terms import Reference, check_tolerance, references

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
class Reduced(Sectioned):
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
        robot = self.robot
        return Kernel(robot.model, request_of(robot), "float64", robot.cache, self.program).call

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Approximate torques of a motion, (..., n) [N m or N]."""
        return self.kernel(q, qd, qdd)

    def export(self, directory: str | Path, language: str = "c", **options: Any) -> Any:
        """Write the torques as "c" or "python"; options as in `Robot.export`."""
        name = "inverse_dynamics"
        given = {"functions": (name,), "programs": {name: self.program}} | options
        return self.robot.export(directory, language, **given)

    def plot(self, path: str | Path) -> None:
        """Draw operations and errors to a .png, .pdf or .svg file."""
        head = f"{self._title}: a model within {100 * self.tolerance:.3g} %", self.states
        save_picture(path, draw_reduction, head, self.counts, self.errors, self.tolerance)

    @property
    def _title(self) -> str:
        return self.full.model.title or self.full.name

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        before, after = self.counts
        share = after.total / before.total if before.total else 1.0
        pairs = [(x.mul, x.add, x.div, x.trig, x.total) for x in self.counts]
        names = ("multiplications", "additions", "divisions", "sines and cosines", "operations")
        rows = [(name, str(x), str(y)) for name, x, y in zip(names, *pairs, strict=True)]
        head = Section(
            f"{self._title}: a model within {100 * self.tolerance:.3g} % {self.states}",
            (f"{after.total} of {counted(before.total, 'operation')}, {100 * share:.0f} %",),
            ("", "full", "reduced"),
            tuple(row for row in rows if row[1:] != ("0", "0")),
            data={
                "robot": self.full.name,
                "tolerance": self.tolerance,
                "states": self.states,
                "other_states": self.other_states,
                "operations": {
                    name: asdict(count) | {"total": count.total}
                    for name, count in zip(("full", "reduced"), self.counts, strict=True)
                },
            },
        )
        return head, self._of_terms(), self._of_errors()

    def _of_terms(self) -> Section:
        lines = [
            f"{_are(self.dropped)} zero: {', '.join(self.dropped) or 'none'}",
            f"{_are(self.kept)} left: {', '.join(self.kept) or 'none'}",
        ]
        if self.operations.total < self.counts[0].total and not self.parameters_only:
            lines.append("and terms of sums in the program, as many as the tolerance allows")
        data = {"dropped": list(self.dropped), "kept": list(self.kept)}
        return Section("What is dropped", tuple(lines), data=data)

    def _of_errors(self) -> Section:
        rows = tuple(
            (
                joint.name,
                f"{joint.reference:.4g} {joint.unit}",
                joint.basis,
                f"{100 * joint.chosen:.3g} %",
                f"{100 * joint.verified:.3g} %",
            )
            for joint in self.errors
        )
        return Section(
            f"Largest error of each joint: {100 * self.error:.3g} % at most",
            (f"verified {self.other_states}, which were not used to choose the model",),
            ("joint", "relative to", "which is its", "where chosen", "at others"),
            rows,
            data={"error": self.error, "joints": [asdict(joint) for joint in self.errors]},
        )


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
    peaks = np.abs(robot.inverse_dynamics(given.q, given.qd, given.qdd)).max(0)
    measured = references(robot, peaks, reference)
    only = check_truth("parameters_only", parameters_only)
    search = Search(robot, np.array([by for by, _ in measured]), only)
    for number in range(ROUNDS):
        states = given, fresh_states(robot, over, given, number)
        model = search.best(given, tolerance * TIGHTER ** (number + is_workspace(over)))
        errors = [search.errors(model, each) for each in states]
        if max(e.max() for e in errors) <= tolerance:
            break
        search.worst += [chosen_states(x, e.argmax(0)) for x, e in zip(states, errors, strict=True)]
    else:
        model = search.full
        errors = [search.errors(model, each) for each in states]
    largest = [e.max(0) for e in errors]
    return _result(search, model, tolerance, states, largest, measured)


def _result(
    search: Search,
    model: Model,
    tolerance: float,
    states: tuple[StateSet, StateSet],
    errors: list[Array],
    measured: list[tuple[float, str]],
) -> Reduced:
    full = search.robot
    joints = [full.model.joints[i] for i in full.model.independent]
    title = f"{full.model.title or full.name}, reduced to within {100 * tolerance:.3g} %"
    named = replace(model.robot.model, name=f"{full.name}_reduced", title=title)
    dropped = [x.name for x in model.dropped]
    return Reduced(
        full,
        Robot(named, cache=full.cache, effort=full.effort),
        model.program,
        tolerance,
        states[0].words,
        states[1].words,
        tuple(dropped),
        tuple(x.name for x in search.droppable if x.name not in dropped),
        search.parameters_only,
        tuple(
            JointError(joint.name, joint.type.torque_unit, by, basis, float(a), float(b))
            for joint, (by, basis), a, b in zip(joints, measured, *errors, strict=True)
        ),
        (search.full.program.whole, model.program.whole),
    )


def _are(parameters: tuple[str, ...]) -> str:
    """So many parameters are ..."""
    return f"{counted(len(parameters), 'parameter')} {'is' if len(parameters) == 1 else 'are'}"
