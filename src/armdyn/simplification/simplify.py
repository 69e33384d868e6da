"""Arms with simpler dynamics: is it possible, under which conditions, and what is to be changed."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.dynamics import Robot
from armdyn.errors import ModelError
from armdyn.model import RobotModel
from armdyn.simplification.branches import Branch, Branches, branches
from armdyn.simplification.conditions import (
    Condition,
    Conditions,
    conditions,
    too_large,
)
from armdyn.simplification.design import KEPT, MARGIN, design
from armdyn.simplification.design_variables import Bounds, Free, parse_free
from armdyn.simplification.goals import Goals, parse_goals
from armdyn.simplification.obstacles import Obstacle
from armdyn.simplification.parametrisation import Freedom
from armdyn.simplification.result import Design
from armdyn.simplification.search import Progress

if TYPE_CHECKING:
    from armdyn.simplification.report import Report


@dataclass(frozen=True, eq=False)
class Simplification:
    """What was found about simplifying a robot."""

    before: Robot
    """The robot as it is."""
    design: Design
    """The numeric design."""
    conditions: Conditions
    """What the goals ask of the parameters."""
    solved: Branches
    """The conditions solved."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long each step took."""
    note: str = ""
    """Why there are no conditions, where there are none."""

    @property
    def feasible(self) -> bool:
        """Whether the goals are reached."""
        return self.design.reached

    @property
    def reason(self) -> str:
        """What was found, in a sentence."""
        return self.design.reason

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Pairs of joints that forbid the goals whatever the links weigh."""
        return self.design.obstacles

    @property
    def equations(self) -> tuple[Condition, ...]:
        """The polynomials that must vanish."""
        return self.conditions.equations

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The ways to make them vanish."""
        return self.solved.branches

    @property
    def goals(self) -> Goals:
        """What was asked for."""
        return self.design.goals

    @property
    def free(self) -> Free:
        """What may change."""
        return self.design.free

    @cached_property
    def robot(self) -> Robot:
        """The new robot; where the goals cannot be reached, the one that comes nearest."""
        return Robot(self.design.model)

    def report(self, trajectory: str | Path | None = None) -> "Report":
        """Both robots compared.

        Args:
            trajectory: A CSV with the motion on which torques are compared; None: moves between far
                corners of the workspace.
        """
        from armdyn.simplification.report import report  # noqa: PLC0415 (it needs this)

        return report(self, trajectory)


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

    First the directions of the axes are tested, which alone may forbid a goal. Then the goal is
    written as polynomial equations of the parameters, and these are solved into branches. Last the
    smallest change of what is free that reaches the goal exactly, by bodies that can exist, is
    found; or, where there is none, the change that comes nearest.

    Args:
        robot: The robot.
        free: What may change: "link2.com", "link2.inertia.xx", "link2.mass", "link1.length",
            "link2.offset", "*" for all links, or symbols such as "x2"; None: centres of mass and
            inertias of all links.
        goal: "constant" (the mass matrix does not depend on the configuration), "diagonal" (joints
            do not feel each other's acceleration), "decouple=1,2" (two joints do not),
            "gravity-balanced"; several in a list or joined by "+".
        bounds: Lowest and highest value of what is free, by word or symbol; None for an open end.
        weights: What a squared change costs by word or symbol; 1 for the others.
        margin: How far changed links are from bodies that cannot exist.
        kept: The share of its squared radii of gyration that a changed link keeps at least.
        add_only: Whether material may only be added, as counterweights are; needs free masses.
        symbolic: Whether to write out and solve the conditions.
        progress: Called with the number of choices of lengths tried, and of all.

    Returns:
        .feasible, .reason, .branches, .robot and .report().
    """
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"simplify takes a Robot, got {robot!r}; load it first")
    model = robot.model if isinstance(robot, Robot) else robot
    goals = parse_goals(model, goal)
    freedom = parse_free(model, free, bounds, weights)
    found = design(
        model, goals, freedom, margin=margin, kept=kept, add_only=add_only, progress=progress
    )
    seconds = {"design": found.seconds}
    asked, solved, note = Conditions((), {}), Branches(), ""
    if not symbolic:
        note = "the conditions were not asked for"
    elif not (note := too_large(model)):
        began = time.perf_counter()
        asked = conditions(model, goals, freedom.symbols)
        seconds["conditions"] = time.perf_counter() - began

        searched = {s.symbol for s in Freedom(model, freedom, add_only).searched}

        def reaches(held: Mapping[str, float]) -> tuple[bool, str]:
            fixed = {s: (value, value) for s, value in held.items() if s in searched}
            try:
                narrowed = parse_free(model, free, {**(bounds or {}), **fixed}, weights)
            except ModelError as error:
                return False, str(error)
            trial = design(model, goals, narrowed, margin=margin, kept=kept, add_only=add_only)
            return trial.reached, trial.reason

        began = time.perf_counter()
        solved = branches(asked, freedom.symbols, None if found.obstacles else reaches)
        seconds["branches"] = time.perf_counter() - began
    before = robot if isinstance(robot, Robot) else Robot(robot)
    return Simplification(before, found, asked, solved, seconds, note)


def data(found: Simplification) -> dict[str, Any]:
    """What was found as plain data, without the comparison of both robots."""
    return {
        "goal": list(found.goals.words),
        "free": list(found.free.symbols),
        "feasible": found.feasible,
        "reason": found.reason,
        "obstacles": [
            {"joints": [i + 1 for i in o.joints], "law": o.law, "reason": o.reason}
            for o in found.obstacles
        ],
        "conditions": [
            {"polynomial": str(c.polynomial), "sources": list(c.sources)} for c in found.equations
        ],
        "branches": [branch.data() for branch in found.branches],
        "branches_complete": found.solved.complete,
        "impossible": list(found.solved.impossible),
        "note": found.note,
        "seconds": dict(found.seconds),
    }
