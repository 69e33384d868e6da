"""Simplify the dynamics of an arm: whether, under which conditions, and by which change.

The aim is the equation I q̈ = τ with constant I, (16) of S. Saha, B. Shirinzadeh, G. Alici, Dynamic
model simplification of serial manipulators.

Lengths, and centres of mass of links whose inertia is held, are searched. The goals depend on these
values by products and squares, so that there may be several designs. The search has no random
steps:

1. Every choice of lengths to make exactly zero is tried, because some conditions vanish only there
   (of more than four lengths: none, each, all).
2. For each choice the other values start from their present values, and centres of mass also from
   the solution of the convex problem with free inertias. A least-squares solver makes conditions,
   times a growing factor, and cost small, with the best linear unknowns for each set of values.
   Newton steps then reach the goals to rounding. Whether the bodies can exist is not asked yet.
3. At these values, and at the start, the convex problem gives the design.
4. Where the goals can be reached for all values near the best ones, a simplex search over the
   values makes the cost smaller.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from armdyn.arrays import Array, check_number, check_truth
from armdyn.errors import ModelError, require, shown
from armdyn.formulations.rotors import spin_momenta, spins
from armdyn.io.edits import with_rotors_along_joints
from armdyn.model import RobotModel
from armdyn.robot import Robot, check_robot
from armdyn.shorten.canonical.redesign import redesign
from armdyn.study.simplify.conditions import Branches, branches, conditions, unwritten
from armdyn.study.simplify.convex import CONDITION_TOLERANCE, VIOLATION_TOLERANCE, Convex, Trial
from armdyn.study.simplify.design_variables import (
    Bounds,
    DesignVariables,
    ParametrisedArm,
    parse_design_variables,
)
from armdyn.study.simplify.goals import Goals, Obstacle, obstacles, parse_goals
from armdyn.study.simplify.linear import (
    InertiaCoefficients,
    goal_elements,
    lattice,
    pseudo_of,
    samples,
)
from armdyn.study.simplify.result import Simplification, Variation
from armdyn.study.states import Over, motion_of

MARGIN = 1e-4
"""Default of the smallest eigenvalue of a changed link's pseudo-inertia, in units of its mass and
of the size of the robot: its radius of gyration in any direction is then about a hundredth of that
size or more."""
KEPT = 0.5
"""Default of the share of its squared radii of gyration that a changed link keeps at least."""


def simplify(
    robot: Robot | RobotModel,
    free: str | Iterable[str] | None = None,
    goal: str | Iterable[str] = "constant",
    *,
    bounds: Bounds | None = None,
    weights: Mapping[str, float] | None = None,
    reach: float | None = None,
    margin: float = MARGIN,
    kept: float = KEPT,
    add_only: bool = False,
    counter_rotors: float | None = None,
    symbolic: bool = True,
    over: Over | None = None,
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
        reach: How far from its joint a centre of mass, along each axis, and counterweights may be
            where no bounds are given [m]; None: as far as its link extends; math.inf: anywhere.
        margin: How far changed links are from bodies that cannot exist.
        kept: The share of its squared radii of gyration that a changed link keeps at least.
        add_only: Whether material may only be added, as counterweights are; needs free masses.
        counter_rotors: For the goal shaking-moment: joints that turn without a rotor whose axis is
            known get one on the link before, about the axis of the joint, of this gear ratio, which
            is negative. Inertias of all rotors that spin follow from the design of the links.
        symbolic: Whether to write out and solve the conditions.
        over: A motion with times, as in `armdyn.terms`, on which the torques of both robots are
            compared; None: moves between far corners of the workspace.
        progress: Called with the number of choices of lengths tried, and of all.
    """
    before = _checked(robot, symbolic, progress)
    motion = None if over is None else motion_of(before, over)
    goals = parse_goals(before.model, goal)
    model = before.model if counter_rotors is None else _geared(before.model, goals, counter_rotors)
    variables = parse_design_variables(model, free, bounds, weights, reach)
    designed = partial(design, Robot(model), goals, margin=margin, kept=kept, add_only=add_only)
    found = replace(designed(variables, progress=progress), before=before, motion=motion)
    if not found.feasible and reach is None and not found.obstacles:
        far = designed(parse_design_variables(model, free, bounds, weights, math.inf))
        if far.feasible:
            advice = f"; beyond the sizes of the links it is, with a reach of {farthest(far):.4g} m"
            found = replace(found, reason=found.reason + advice)
    searched = ParametrisedArm(model, variables, add_only).searched

    def reaches(values: Mapping[str, float]) -> tuple[bool, str]:
        fixed = {s: (value, value) for s, value in values.items() if s in searched}
        try:
            held = {**(bounds or {}), **fixed}
            fewer = parse_design_variables(model, free, held, weights, reach)
        except ModelError as error:
            return False, str(error)
        trial = designed(fewer)
        return trial.feasible, trial.reason

    note = unwritten(model, goals) if symbolic else "the conditions were not asked for"
    if note:
        return replace(found, solved=Branches(note=note))
    began = time.perf_counter()
    asked = conditions(model, goals, variables.symbols)
    then = time.perf_counter()
    solved = branches(asked, variables.symbols, None if found.obstacles else reaches)
    seconds = {"conditions": then - began, "branches": time.perf_counter() - then}
    return replace(found, solved=solved, seconds={**found.seconds, **seconds})


def farthest(found: Simplification) -> float:
    """The farthest that a design has taken a centre of mass or a counterweight from its joint."""
    places = [change.after.com for change in found.changes]
    weights = [weight.position for change in found.changes for weight in change.weights]
    distances = [np.abs(com).max() for com in places] + [np.linalg.norm(w) for w in weights]
    return float(max(distances, default=0.0))


def _checked(robot: Robot | RobotModel, symbolic: object, progress: object) -> Robot:
    """A robot whose equations are trigonometric polynomials, of which conditions are made."""
    check_truth("symbolic", symbolic)
    if progress is not None and not callable(progress):
        raise ModelError(f"progress: expected a function of two numbers, got {shown(progress)}")
    before = check_robot(robot)
    if screws := [joint.name for joint in before.model.joints if joint.type.pitched]:
        raise ModelError(
            f"robot {before.name!r} has helical joints ({', '.join(screws)}), whose equations are "
            "no trigonometric polynomials with which designs are made; lock them (with_locked), or "
            "take a revolute joint where the pitch is small"
        )
    return before


def _geared(model: RobotModel, goals: Goals, ratio: object) -> RobotModel:
    """The robot with counter-rotors of no inertia yet."""
    number = check_number("counter_rotors", ratio)
    if not number < 0:
        raise ModelError(
            f"counter_rotors: expected a negative gear ratio such as -10, got {shown(ratio)}: they "
            "turn against their joints"
        )
    if not goals.momentless:
        raise ModelError(
            f"counter_rotors: the goal {goals} has no use for them; shaking-moment has"
        )
    return with_rotors_along_joints(model, number)


def design(
    before: Robot,
    goals: Goals,
    variables: DesignVariables,
    *,
    margin: float = MARGIN,
    kept: float = KEPT,
    add_only: bool = False,
    progress: Progress | None = None,
) -> Simplification:
    """The smallest change of an arm that reaches a goal, or comes nearest to it.

    For given lengths the smallest change is found (see `convex`). Lengths, and centres of mass of
    links whose tensor is held or bounded, are searched (see `search`): that finds a good design,
    not surely the best one. A link with held moments of inertia may be as thin as a quarter of what
    it was. If the goals cannot be reached with the share `kept`, links may be as compact as the
    margin allows, and the reason says so.
    """
    began, model = time.perf_counter(), before.model
    if not 0 <= check_number("margin", margin) < 0.1:
        raise ModelError(f"margin: expected a number from 0 to below 0.1, got {shown(margin)}")
    if check_truth("add_only", add_only) and not variables.numbers[:, 0].any():
        raise ModelError(
            "material can only be added where the mass is free; free a mass as well, such as "
            "link2.mass or *.mass"
        )
    require(0 <= check_number("kept", kept) <= 1, "kept", "a share from 0 to 1", kept, ModelError)
    if goals.momentless:
        variables = replace(variables, rotors=tuple(spins(model)))
    arm = ParametrisedArm(model, variables, add_only)
    fine = lattice(model)
    elements = goal_elements(arm.robot, goals, arm.start + arm.payload, fine, arm.at)
    forbidden = obstacles(model, goals)
    convex = Convex(arm, elements, samples(model), margin, kept)
    trial, compact = _unchanged(convex) or search(convex, progress), False
    if trial.outcome != "reached" and kept and not forbidden:
        loose = search(replace(convex, kept=0.0), progress)
        if compact := loose.outcome == "reached":
            trial = loose
    if trial.outcome != "reached":
        # how near the goals are is an average over configurations, which asks for more of them
        trial = replace(convex, q=fine).solve(trial.values)
    trial = convex.exact(trial)
    new = _model(goals, convex, trial)
    variations = _variations(convex, trial, fine, new)
    reason = _reason(goals, variables, trial, forbidden, variations)
    if trial.outcome == "reached" and not trial.cost:
        reason += f"; {'its links do' if variables.rotors else 'the arm does'} so as it is"
    lengths = zip(variables.lengths, trial.values, strict=False)
    return Simplification(
        before,
        new,
        goals,
        variables,
        trial.outcome == "reached",
        reason + (", but only by links more compact than asked for" if compact else ""),
        forbidden,
        trial.residual,
        trial.rank,
        trial.cost,
        {x.symbol: (x.value, float(new)) for x, new in lengths},
        variations,
        {"design": time.perf_counter() - began},
    )


def _unchanged(convex: Convex) -> Trial | None:
    """The arm as it is, if that reaches the goals within the bounds."""
    arm = convex.arm
    within = np.all((arm.low <= arm.values) & (arm.values <= arm.high))
    if not within or convex.outside(arm.values):
        return None
    rotors = replace(convex, margin=0.0, kept=0.0)
    carriers = rotors.region(convex.start, np.zeros((*convex.start.shape, 0)), arm.values)
    if carriers.violation(np.zeros(0)) > VIOLATION_TOLERANCE:
        return None
    system = convex.system(arm.values)
    rank = int(np.sum(np.linalg.svd(system.M, compute_uv=False) > CONDITION_TOLERANCE))
    trial = convex.trial(system, arm.values, arm.start, "reached", rank)
    return trial if trial.residual <= CONDITION_TOLERANCE else None


def _model(goals: Goals, convex: Convex, trial: Trial) -> RobotModel:
    arm = convex.arm
    model = arm.model
    moves = (dict[int, float](), dict[int, float]())
    changed = np.flatnonzero((trial.numbers != arm.start).any(axis=1)).tolist()
    for length, value in zip(arm.variables.lengths, trial.values, strict=False):
        moves[length.along][length.joint] = value - length.value
    moved = redesign(model, {i: pseudo_of(trial.numbers[i]) for i in changed}, *moves)
    if arm.rotors:
        J = convex.rotor_inertias(trial.numbers + arm.payload, trial.values)
        joints = list(moved.joints)
        for spin, inertia in zip(arm.variables.rotors, J.tolist(), strict=True):
            joint = joints[spin.place]
            rotor = replace(joint.rotor, inertia=max(inertia, 0.0))  # none may be but for rounding
            joints[spin.place] = replace(joint, rotor=rotor)
        moved = replace(moved, joints=tuple(joints))
    elif not changed and not any(value for move in moves for value in move.values()):
        return moved
    title = model.title or model.name
    return replace(
        moved,
        title=f"{title}, changed",
        source=f"Derived from: {model.source}" if model.source else "",
        note=f"Links and lengths of the {title} changed for the goal {goals}.",
        letters={},
    )


def _variations(convex: Convex, trial: Trial, q: Array, model: RobotModel) -> tuple[Variation, ...]:
    arm, found, rotors = convex.arm, [], convex.arm.variables.rotors
    new, turning = (
        arm.robot_with(trial.values[: len(arm.variables.lengths)]),
        [s.place for s in rotors],
    )
    arms = [
        (
            InertiaCoefficients(robot, q, arm.at, rotors),
            np.append(numbers + arm.payload, spin_momenta(of)[turning]),
        )
        for robot, numbers, of in ((arm.robot, arm.start, arm.model), (new, trial.numbers, model))
    ]
    for element in convex.elements:
        both = (coefficients.of(element) @ numbers for coefficients, numbers in arms)
        old, now = (float(np.ptp(x) if element.constant else np.abs(x).max()) for x in both)
        found.append(Variation(str(element), element.constant, old, now, element.scale))
    return tuple(found)


def _reason(
    goals: Goals,
    variables: DesignVariables,
    trial: Trial,
    forbidden: tuple[Obstacle, ...],
    variations: tuple[Variation, ...],
) -> str:
    if trial.outcome == "reached":
        return f"the goal is reached: {goals}"
    if forbidden:
        more = f" (and {len(forbidden) - 1} more)" if len(forbidden) > 1 else ""
        return f"no arm with these axes reaches the goal: {forbidden[0]}{more}"
    remain = ", ".join(v.element for v in variations if v.remains) or "less than can be seen"
    none = "no values of it were found" if len(trial.values) else "there are no values of it"
    beyond = " or beyond the bounds" if variables.bounds else ""
    if trial.outcome == "inconsistent":
        return (
            f"what is free does not suffice: {none} that reach the goal for {remain}, not even "
            "with bodies that cannot exist"
        )
    if trial.outcome == "no body":
        rotors = ", rotors of negative inertia or too heavy for their carriers among them,"
        return (
            f"only bodies that cannot exist{beyond}{rotors if variables.rotors else ''} reach the "
            f"goal; in the nearest design it is missed by {remain}"
        )
    return f"no body that can exist lies within the bounds; the goal is missed by {remain}"


Progress = Callable[[int, int], None]

_MOST_COMBINED = 4
"""Every choice of zeros is tried for at most so many lengths."""
_CONDITION_FACTORS = (1.0, 1e2, 1e4)
_DISTANCE_FROM_BOUNDS = 1e-9
"""A value starts at least so far from its bounds, in units of the robot's size."""
_DIFFERENCE_STEP = 1e-7
"""Step of a difference quotient, in units of the robot's size."""
_SIMPLEX_TRIALS = 40
"""The simplex search tries at most so many designs, times the number of values."""


def search(convex: Convex, progress: Progress | None = None) -> Trial:
    """The best design over all values that are searched."""
    arm = convex.arm
    start = np.clip(arm.values, arm.low, arm.high)
    free = enumerate(arm.variables.lengths)
    lengths = [k for k, x in free if x.value and x.low <= 0 <= x.high]
    n = len(lengths)
    counts = range(n + 1) if n <= _MOST_COMBINED else (0, 1, n)
    choices = [zeros for count in counts for zeros in combinations(lengths, count)]
    found: list[Trial] = []
    for done, zeros in enumerate(choices, start=1):
        values = start.copy()
        values[list(zeros)] = 0.0
        rest = [k for k in range(len(values)) if k not in zeros]
        for first in _starts(convex, values):
            found += _trials(convex, first, rest)
        if progress is not None:
            progress(done, len(choices))
    return min(found, key=_rank)


def _starts(convex: Convex, values: Array) -> Iterator[Array]:
    """The given values, and the same with the centres of mass of a design with free tensors."""
    yield values
    arm, lengths = convex.arm, len(convex.arm.variables.lengths)
    if not arm.coordinates:
        return
    numbers = replace(convex, arm=arm.relaxed()).solve(values[:lengths]).numbers
    relaxed = values.copy()
    for k, (link, axis) in enumerate(arm.coordinates, start=lengths):
        if numbers[link, 0] > 0:
            relaxed[k] = numbers[link, 1 + axis] / numbers[link, 0]
    yield np.clip(relaxed, arm.low, arm.high)


def _rank(trial: Trial) -> tuple[int, float, float]:
    """The order of designs, the best first."""
    if trial.outcome == "reached":
        return 0, 0.0, trial.cost
    return 2 if trial.outcome == "no design" else 1, round(trial.residual, 9), trial.cost


def _trials(convex: Convex, values: Array, rest: list[int]) -> Iterator[Trial]:
    """Designs from values of which some may change, each better than the one before."""
    yield (best := convex.solve(values))
    if rest:
        best = min(best, convex.solve(_approach(convex, values, rest)), key=_rank)
        yield best
        if best.outcome == "reached" and best.cost > 0:
            yield _improved(convex, best, rest)


def _approach(convex: Convex, values: Array, rest: list[int]) -> Array:
    """Values near the given ones at which the conditions can be met, or nearly."""
    from scipy.optimize import least_squares  # noqa: PLC0415 (slow to load)

    low, high = convex.arm.low[rest], convex.arm.high[rest]
    at = values.copy()

    def residuals(x: Array, factor: float | None) -> Array:
        """Conditions times a factor, and changes; without a factor the conditions alone.

        The linear unknowns are the best ones for these values.
        """
        at[rest] = np.clip(x, low, high)
        system = convex.system(at)
        if factor is None:
            theta = np.linalg.lstsq(system.M, system.r, rcond=1e-10)[0]
            return system.M @ theta - system.r
        left = np.concatenate([factor * system.M, system.C])
        theta = np.linalg.lstsq(left, np.concatenate([factor * system.r, system.c]), rcond=None)[0]
        missing = factor * (system.M @ theta - system.r)
        change = system.C @ theta - system.c
        return np.concatenate([missing, change, convex.length_changes(at)])

    size, x = convex.arm.size, values[rest]
    inside = _DISTANCE_FROM_BOUNDS * size
    for factor in _CONDITION_FACTORS:
        start = np.clip(x, np.minimum(low + inside, high), np.maximum(high - inside, low))
        options = {"bounds": (low - inside, high + inside), "x_scale": size, "max_nfev": 20}
        x = least_squares(residuals, start, args=(factor,), **options).x
    # the nearest zero of conditions that are nearly zero, by the shortest Newton steps
    x, step = np.clip(x, low, high), _DIFFERENCE_STEP * size
    best = residuals(x, None)
    for _ in range(20):
        slopes = [(residuals(x + step * e, None) - best) / step for e in np.eye(len(x))]
        to = np.clip(x - np.linalg.lstsq(np.array(slopes).T, best, rcond=1e-7)[0], low, high)
        there = residuals(to, None)
        if np.linalg.norm(there) >= np.linalg.norm(best):
            break
        x, best = to, there
    at[rest] = x
    return at


def _improved(convex: Convex, best: Trial, rest: list[int]) -> Trial:
    """The cheapest design that a simplex search from the best one finds."""
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to load)

    low, high = convex.arm.low[rest], convex.arm.high[rest]
    found = [best]

    def cost(x: Array) -> float:
        values = best.values.copy()
        values[rest] = np.clip(x, low, high)
        trial = convex.solve(values)
        found.append(trial)
        return trial.cost if trial.outcome == "reached" else 1e6 * (1.0 + trial.residual)

    x = best.values[rest]
    steps = np.where(x + 0.05 * convex.arm.size <= high, 0.05, -0.05) * convex.arm.size
    corners = np.vstack([x, x + np.diag(steps)])
    if any(cost(corner) >= 1e6 for corner in corners[1:]):
        return min(found, key=_rank)
    options = {"initial_simplex": corners, "maxfev": _SIMPLEX_TRIALS * len(rest)}
    options |= {"xatol": 1e-6 * convex.arm.size, "fatol": 1e-9}
    minimize(cost, x, method="Nelder-Mead", options=options)
    return min(found, key=_rank)
