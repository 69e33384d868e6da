"""Simplify the dynamics of an arm: whether, under which conditions, and by which change.

The aim is the equation I q̈ = τ with constant I, (16) of S. Saha, B. Shirinzadeh, G. Alici, Dynamic
model simplification of serial manipulators.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from armdyn.arrays import check_truth
from armdyn.errors import ModelError, shown
from armdyn.forks import cached_property
from armdyn.io.csv.trajectory import trajectory_from_csv
from armdyn.model import RobotModel
from armdyn.report.figures import save_picture
from armdyn.report.result import Result, Section
from armdyn.robot import Robot
from armdyn.study.simplify.comparison import Comparison, compare_designs
from armdyn.study.simplify.conditions import (
    Branch,
    Branches,
    Conditions,
    branches,
    conditions,
    unwritten,
)
from armdyn.study.simplify.counterweights import Build, builds
from armdyn.study.simplify.design import KEPT, MARGIN, Design, Progress, design
from armdyn.study.simplify.design_variables import Bounds, ParametrisedArm, parse_design_variables
from armdyn.study.simplify.goals import Goals, Obstacle, parse_goals
from armdyn.study.simplify.picture import draw_design
from armdyn.study.simplify.report import sections


@dataclass(frozen=True, eq=False)
class Simplification:
    """The answer to the question how a robot can be simplified."""

    before: Robot = field(repr=False)
    design: Design = field(repr=False)
    solved: Branches = field(repr=False)
    """The conditions on the parameters, and their solutions."""
    seconds: Mapping[str, float] = field(repr=False)
    """How long each step took."""

    def __repr__(self) -> str:
        return (
            f"Simplification({self.before.name!r}, goal={str(self.goals)!r}, "
            f"feasible={self.feasible}, branches={len(self.branches)})"
        )

    @property
    def feasible(self) -> bool:
        """Whether the goals are reached."""
        return self.design.reached

    @property
    def reason(self) -> str:
        """The outcome in a sentence."""
        return self.design.reason

    @property
    def goals(self) -> Goals:
        """The goals that were asked for."""
        return self.design.goals

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Pairs of joints that forbid the goals for any masses of the links."""
        return self.design.obstacles

    @property
    def conditions(self) -> Conditions:
        """The polynomials of the parameters that must vanish."""
        return self.solved.conditions

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The ways to fulfil the conditions."""
        return self.solved.branches

    @cached_property
    def robot(self) -> Robot:
        """The new robot; where the goals cannot be reached, the one that comes nearest."""
        return Robot(self.design.model)

    def report(self, trajectory: str | Path | None = None) -> Report:
        """Compare both robots.

        Args:
            trajectory: A CSV with the motion on which torques are compared; None: moves between far
                corners of the workspace.
        """
        before, after = self.before.model, self.design.model
        motion = None if trajectory is None else trajectory_from_csv(trajectory, before)
        compared = compare_designs(before, after, motion, shaking=self.goals.forceless)
        return Report(self, builds(before, after), compared)


@dataclass(frozen=True, eq=False)
class Report(Result):
    """A design with both arms compared."""

    found: Simplification
    builds: tuple[Build, ...] = field(repr=False)
    comparison: Comparison = field(repr=False)

    @property
    def exit_code(self) -> int:
        """0: the goal is reached; 1: it is not, and the report shows the nearest design."""
        return int(not self.found.feasible)

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        seconds = {**self.found.seconds, "comparison": self.comparison.seconds}
        head = Section("", data={"robot": self.found.before.name, "exit_code": self.exit_code})
        found = self.found.design, self.found.solved, self.builds, self.comparison
        return (head, *sections(*found, seconds))

    def text(self) -> str:
        """The report for people."""
        return self.report()

    def plot(self, path: str | Path) -> None:
        """Draw both arms, mass matrix, gravity and torques, to a .png, .pdf or .svg file."""
        save_picture(path, draw_design, self.found.design, self.builds, self.comparison)


def simplify(
    robot: Robot | RobotModel,
    free: str | Iterable[str] | None = None,
    goal: str | Iterable[str] = "constant",
    *,
    bounds: Bounds | None = None,
    weights: Mapping[str, float] | None = None,
    margin: float = MARGIN,
    kept: float = KEPT,
    add_only: bool = False,
    symbolic: bool = True,
    progress: Progress | None = None,
) -> Simplification:
    """Find the smallest change that gives a robot simpler dynamics.

    The new bodies can exist. If no change reaches the goal, the one that comes nearest is found.
    The polynomial equations that the goal asks of the parameters are solved into branches.

    Args:
        robot: The robot.
        free: What may change: "link2.com", "link2.inertia.xx", "link2.mass", "link1.length",
            "link2.offset", "*" for all links, or symbols such as "x2"; None: centres of mass and
            inertias of all links.
        goal: "constant" (the mass matrix does not vary), "diagonal" (joints do not feel each
            other's acceleration), "decouple=1,2" (two do not), "gravity-balanced", "shaking-force",
            "shaking-moment" (motions do not shake the base); several in a list or joined by "+".
        bounds: Lowest and highest value by word or symbol; None for an open end.
        weights: The factor of a squared change by word or symbol; 1 for the others.
        margin: How far changed links are from bodies that cannot exist.
        kept: The share of its squared radii of gyration that a changed link keeps at least.
        add_only: Whether material may only be added, as counterweights are; needs free masses.
        symbolic: Whether to write out and solve the conditions.
        progress: Called with the number of choices of lengths tried, and of all.
    """
    before = _checked(robot, symbolic, progress)
    model = before.model
    goals = parse_goals(model, goal)
    variables = parse_design_variables(model, free, bounds, weights)
    designed = partial(design, model, goals, margin=margin, kept=kept, add_only=add_only)
    found = designed(variables, progress=progress)
    searched = ParametrisedArm(model, variables, add_only).searched

    def reaches(held: Mapping[str, float]) -> tuple[bool, str]:
        fixed = {s: (value, value) for s, value in held.items() if s in searched}
        try:
            fewer = parse_design_variables(model, free, {**(bounds or {}), **fixed}, weights)
        except ModelError as error:
            return False, str(error)
        trial = designed(fewer)
        return trial.reached, trial.reason

    note = unwritten(model, goals) if symbolic else "the conditions were not asked for"
    if note:
        return Simplification(before, found, Branches(note=note), {"design": found.seconds})
    began = time.perf_counter()
    asked = conditions(model, goals, variables.symbols)
    then = time.perf_counter()
    solved = branches(asked, variables.symbols, None if found.obstacles else reaches)
    seconds = {"conditions": then - began, "branches": time.perf_counter() - then}
    return Simplification(before, found, solved, {"design": found.seconds, **seconds})


def _checked(robot: Robot | RobotModel, symbolic: object, progress: object) -> Robot:
    """A robot whose equations are trigonometric polynomials, of which conditions are made."""
    check_truth("symbolic", symbolic)
    if progress is not None and not callable(progress):
        raise ModelError(f"progress: expected a function of two numbers, got {shown(progress)}")
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"simplify takes a Robot, got {shown(robot)}; load it first")
    before = robot if isinstance(robot, Robot) else Robot(robot)
    if screws := [joint.name for joint in before.model.joints if joint.type.pitched]:
        raise ModelError(
            f"robot {before.name!r} has helical joints ({', '.join(screws)}), whose equations are "
            "no trigonometric polynomials with which designs are made; lock them (with_locked), or "
            "take a revolute joint where the pitch is small"
        )
    return before
