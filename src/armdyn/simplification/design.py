"""The smallest change of an arm that reaches a goal, or comes nearest to it."""

import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, check_number, frozen
from armdyn.canonical.frames import canonical_frames
from armdyn.canonical.parameters import about_com
from armdyn.canonical.redesign import redesign
from armdyn.errors import ModelError
from armdyn.model import RobotModel
from armdyn.simplification.constraints import Margin
from armdyn.simplification.convex import CONDITION_TOLERANCE, Convex, Trial
from armdyn.simplification.design_variables import DesignVariables
from armdyn.simplification.goals import Goals
from armdyn.simplification.linear import (
    goal_elements,
    lattice,
    linear_conditions,
    pseudo_of,
    samples,
)
from armdyn.simplification.obstacles import Obstacle, obstacles
from armdyn.simplification.parametrisation import ParametrisedArm
from armdyn.simplification.result import Design, LinkChange, Variation
from armdyn.simplification.search import Progress, search

MARGIN = 1e-4
"""Default of the smallest eigenvalue of a changed link's pseudo-inertia, in units of its mass and
of the size of the robot: its radius of gyration in any direction is then about a hundredth of that
size or more."""
KEPT = 0.5
"""Default of the share of its squared radii of gyration that a changed link keeps at least."""


def design(
    model: RobotModel,
    goals: Goals,
    variables: DesignVariables,
    *,
    margin: float = MARGIN,
    kept: float = KEPT,
    add_only: bool = False,
    progress: Progress | None = None,
) -> Design:
    """The smallest change of an arm that reaches a goal, or comes nearest to it.

    For given lengths the smallest change is found (see `convex`). Lengths, and centres of mass of
    links whose tensor is held or bounded, are searched (see `search`): that finds a good design,
    not surely the best one.

    Args:
        model: The robot.
        goals: What the new arm shall do.
        variables: The numbers that may change.
        margin: How far a changed link is from one that cannot exist (see `MARGIN`). A link with
            held moments of inertia may be as thin as a quarter of what it was.
        kept: The share of its squared radii of gyration that a changed link keeps at least in every
            direction, so that it does not shrink to a point. If the goals cannot be reached so,
            links may be as compact as the margin allows, and the reason says so.
        add_only: Whether material may only be added, as counterweights are; needs free masses.
        progress: Called with the number of choices of lengths tried, and of all.
    """
    began = time.perf_counter()
    _check(variables, margin, kept, add_only)
    arm, fine = ParametrisedArm(model, variables, add_only), lattice(model)
    elements = goal_elements(arm.robot, goals, arm.start + arm.payload, fine)
    forbidden = obstacles(model, goals)
    convex = Convex(arm, elements, samples(model), Margin(margin, kept))
    trial, compact = _best(convex, not forbidden, progress)
    if trial.outcome != "reached":
        # how near the goals are is an average over configurations, which asks for more of them
        trial = replace(convex, q=fine).solve(trial.values)
    variations = _variations(convex, trial, fine)
    changed = [i for i, row in enumerate(trial.numbers) if np.any(row != arm.start[i])]
    return Design(
        model,
        _model(goals, arm, trial, changed),
        goals,
        variables,
        trial.outcome == "reached",
        _reason(goals, variables, trial, forbidden, variations) + (_COMPACT if compact else ""),
        forbidden,
        trial.residual,
        trial.rank,
        trial.cost,
        tuple(_link_changes(arm, trial, changed)),
        {
            s.symbol: (s.start, float(value))
            for s, value in zip(arm.searched, trial.values, strict=True)
            if s.length >= 0
        },
        variations,
        time.perf_counter() - began,
    )


_COMPACT = ", but only by links more compact than asked for"


def _check(variables: DesignVariables, margin: float, kept: float, add_only: bool) -> None:
    if not 0 <= check_number("margin", margin) < 0.1:
        raise ModelError(f"margin: expected a number from 0 to below 0.1, got {margin!r}")
    if add_only and not variables.numbers[:, 0].any():
        raise ModelError(
            "material can only be added where the mass is free; free a mass as well, such as "
            "link2.mass or *.mass"
        )
    if not 0 <= check_number("kept", kept) <= 1:
        raise ModelError(f"kept: expected a share from 0 to 1, got {kept!r}")


def _best(convex: Convex, possible: bool, progress: Progress | None) -> tuple[Trial, bool]:
    """The best trial, and whether its links are more compact than asked for."""
    trial = _unchanged(convex) or search(convex, progress)
    if trial.outcome != "reached" and convex.margin.kept and possible:
        loose = search(replace(convex, margin=Margin(convex.margin.least, 0.0)), progress)
        if loose.outcome == "reached":
            return loose, True
    return trial, False


def _unchanged(convex: Convex) -> Trial | None:
    """The arm as it is, if that reaches the goals within the bounds."""
    arm = convex.arm
    within = np.all((arm.low <= arm.values) & (arm.values <= arm.high))
    if not within or convex.outside(arm.values):
        return None
    system = convex.system(arm.values)
    residual = system.conditions.residual(arm.start + arm.payload)
    if residual > CONDITION_TOLERANCE:
        return None
    rank = int(np.sum(np.linalg.svd(system.M, compute_uv=False) > CONDITION_TOLERANCE))
    return Trial(arm.values, arm.start, "reached", residual, 0.0, rank)


def _model(goals: Goals, arm: ParametrisedArm, trial: Trial, changed: list[int]) -> RobotModel:
    lengths: dict[int, float] = {}
    offsets: dict[int, float] = {}
    for searched, value in zip(arm.searched, trial.values, strict=True):
        if searched.length >= 0:
            length = arm.variables.lengths[searched.length]
            (offsets if length.along else lengths)[length.joint] = value - searched.start
    pseudo = {i: pseudo_of(trial.numbers[i]) for i in changed}
    moved = redesign(arm.model, pseudo, lengths, offsets)
    if not changed and not any(lengths.values()) and not any(offsets.values()):
        return moved
    model = arm.model
    title = model.title or model.name
    return replace(
        moved,
        title=f"{title}, changed",
        source=f"Derived from: {model.source}" if model.source else "",
        note=f"Links and lengths of the {title} changed for the goal {goals}.",
        letters={},
    )


def _link_changes(arm: ParametrisedArm, trial: Trial, changed: list[int]) -> Iterable[LinkChange]:
    frames = canonical_frames(arm.model)
    for i in changed:
        J = pseudo_of(trial.numbers[i])
        old, new = arm.own[i], about_com(J[:3, :3], J[:3, 3], float(J[3, 3]))
        added = frames[i] @ (J - pseudo_of(arm.start[i])) @ frames[i].T
        yield LinkChange(
            i,
            arm.model.links[i].name,
            (old[0], new[0]),
            (old[1], new[1]),
            (old[2], new[2]),
            frozen(added),
        )


def _variations(convex: Convex, trial: Trial, q: Array) -> tuple[Variation, ...]:
    arm, elements = convex.arm, convex.elements
    first = linear_conditions(arm.robot, elements, q)
    last = linear_conditions(arm.robot_with(trial.values), elements, q)
    before = first.variation(arm.start + arm.payload)
    after = last.variation(trial.numbers + arm.payload)
    return tuple(
        Variation(str(element), element.constant, float(old), float(new), element.scale)
        for element, old, new in zip(elements, before, after, strict=True)
    )


def _reason(
    goals: Goals,
    variables: DesignVariables,
    trial: Trial,
    forbidden: tuple[Obstacle, ...],
    variations: tuple[Variation, ...],
) -> str:
    if trial.outcome == "reached":
        already = "" if trial.cost else "; the arm does so as it is"
        return f"the goal is reached: {goals}{already}"
    if forbidden:
        more = f" (and {len(forbidden) - 1} more)" if len(forbidden) > 1 else ""
        return f"no arm with these axes reaches the goal: {forbidden[0]}{more}"
    remain = ", ".join(v.element for v in variations if v.remains) or "less than can be seen"
    none = "no values of it were found" if len(trial.values) else "there are no values of it"
    beyond = " or beyond the bounds" if variables.bounds else ""
    match trial.outcome:
        case "inconsistent":
            return (
                f"what is free does not suffice: {none} that reach the goal for {remain}, not even "
                "with bodies that cannot exist"
            )
        case "no body":
            return (
                f"only bodies that cannot exist{beyond} reach the goal; in the nearest design it "
                f"is missed by {remain}"
            )
        case _:
            return f"no body that can exist lies within the bounds; the goal is missed by {remain}"
