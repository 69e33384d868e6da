"""The search for a motion: several random starts, the best of them followed to the end.

Each start is a small random motion about a random pose that keeps every limit. All starts go
through the first stages, where the criterion is smooth and the limits are far; the best go on to
the stages in which the criterion is the condition number itself and motions go to their limits.

A cost is infinite outside of its domain, as a barrier is, so the steps of BFGS are halved until
they stay inside and the cost falls enough. The inverse Hessian is kept from one stage of a barrier
to the next. The motion that was found is looked at between its samples, and made smaller about its
start where it must be.

Reference: J. Nocedal and S. Wright, Numerical Optimization, 2006, chapters 6 and 19.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import ExcitationError, counted
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.identification.excitation.problem import Problem
from armdyn.simulation.trajectories.piecewise import Motion

Cost = Callable[[Array], tuple[float, Array]]
"""Value and gradient; an infinite value outside of the domain, and then any gradient."""

FIRST_STEP = 0.05
"""Largest entry of the first step, when nothing is known of the curvature."""
LEAST_STEP = 1e-9
"""Share of a step below which the search along it ends."""
ENOUGH_DESCENT = 1e-4
"""Share of the descent that the slope promises which a step must give."""
CONVERGED_STEPS = 4
"""So many steps in a row that gain too little end the search."""


@dataclass(slots=True, eq=False)
class Descent:
    """The search from one start: where it is, and what it knows of the curvature."""

    x: Array
    inverse: Array | None = None
    """The inverse Hessian, (k, k); None: not known."""
    conditions: list[float] = field(default_factory=list)
    """Condition number of the regressor after each step."""
    value: float = math.inf
    """What is compared between starts: the criterion at the end of the last stage."""

    def run(self, cost: Cost, steps: int, gain: float, each: Callable[[], None]) -> None:
        """Take at most so many steps, fewer if they gain less; `each` is called after each."""
        value, slope = cost(self.x)
        idle = 0
        for _ in range(steps):
            found = self._step(cost, value, slope)
            if found is None:
                if self.inverse is None:
                    return
                self.inverse = None  # it has become wrong: steepest descent
                continue
            idle = idle + 1 if value - found[0] < gain else 0
            value, slope = found
            if idle >= CONVERGED_STEPS:
                return
            each()

    def _step(self, cost: Cost, value: float, slope: Array) -> tuple[float, Array] | None:
        """One step downhill; None where no step goes down."""
        way = -slope if self.inverse is None else -self.inverse @ slope
        descent = float(way @ slope)
        if not descent < 0:
            return None
        share = 1.0
        if self.inverse is None:
            share = min(1.0, FIRST_STEP / float(np.abs(way).max()))
        while share > LEAST_STEP:
            new, new_slope = cost(self.x + share * way)
            if new <= value + ENOUGH_DESCENT * share * descent:
                self._learn(share * way, new_slope - slope)
                self.x = self.x + share * way
                return new, new_slope
            share *= 0.5 if math.isfinite(new) else 0.3
        return None

    def _learn(self, step: Array, change: Array) -> None:
        curvature = float(step @ change)
        if curvature <= 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return
        if self.inverse is None:
            self.inverse = np.eye(len(step)) * (curvature / float(change @ change))
        turned = self.inverse @ change
        scale = (1 + float(change @ turned) / curvature) / curvature
        both = np.outer(turned, step) / curvature
        self.inverse = self.inverse + scale * np.outer(step, step) - both - both.T


Progress = Callable[[float, float], object]
"""Told the share of the search that is done and the best condition number so far; True ends it."""

Stage = tuple[float, float, int]
"""Power and barrier of the `Problem` in a stage of the search, and its steps."""
FIRST_STAGES: tuple[Stage, ...] = (1, 0.1, 60), (2, 0.02, 80)
LAST_STAGES: tuple[Stage, ...] = (4, 0.004, 160), (12, 0.001, 120), (40, 2e-4, 100)
FINALISTS = 2
"""Starts that go through the last stages."""
GAIN = 1e-4
"""Steps that gain less than this, of a logarithm, end a stage."""
TRIED_POSES = 300
"""Random poses among which a start is looked for."""
AMPLITUDE = 0.5
"""First amplitudes, in those with which a limit would be reached."""
HALVINGS = 12
"""How often the first amplitudes are halved until every limit is kept."""
POSE_SHARES = 0.6, 0.95
"""Share of the room of a joint, about the middle, in which motions begin the search: for the first
pose that is tried, and for the last."""


class Stopped(Exception):  # noqa: N818 (no error)
    """The search was told to end."""


def search(
    problem: Problem, starts: int, seed: int, first: Array | None, progress: Progress | None
) -> tuple[list[Descent], bool]:
    """Searches from so many random starts, and from the variables `first` if given.

    The best comes first. True: it was told to end before it had finished.
    """
    rng = np.random.default_rng(seed)
    given = [] if first is None else [first]
    found: list[Descent] = []
    count = len(given) + starts
    finalists = min(FINALISTS, count)
    total = sum(steps for *_, steps in (*count * FIRST_STAGES, *finalists * LAST_STAGES))
    done, best = 0, math.inf

    def follow(descent: Descent, stages: tuple[Stage, ...]) -> None:
        nonlocal done

        def each() -> None:
            nonlocal done, best
            descent.conditions.append(problem.condition)
            done, best = done + 1, min(best, problem.condition)
            if progress is not None and progress(done / total, best) is True:
                raise Stopped

        for problem.power, problem.barrier, steps in stages:
            before = done
            descent.run(problem, steps, GAIN, each)
            done = before + steps
        descent.value = problem.value(descent.x)

    try:
        for z in (*given, *(_start(problem, rng) for _ in range(starts))):
            found.append(Descent(z))
            follow(found[-1], FIRST_STAGES)
        found.sort(key=lambda descent: descent.value)
        for descent in found[:finalists]:
            follow(descent, LAST_STAGES)
    except Stopped:
        for descent in found:
            descent.value = problem.value(descent.x)
        return sorted(found, key=lambda descent: descent.value), True
    ended = sorted(found[:finalists], key=lambda descent: descent.value)
    return [*ended, *found[finalists:]], False


def _start(problem: Problem, rng: np.random.Generator) -> Array:
    """A small random motion that keeps every limit."""
    limits = problem.limits
    basis = problem.basis
    n = problem.robot.n
    shares = np.linspace(*POSE_SHARES, TRIED_POSES)
    tried = (limits.middle + share * limits.room * rng.uniform(-1, 1, n) for share in shares)
    resting = (pose for pose in tried if not problem.fault(pose))
    for pose in resting if problem.start is None else [problem.start]:
        x = np.vstack([pose, rng.standard_normal((basis.size - 1, n))])
        moved = [phi[:, 1:] @ x[1:] for phi in problem.grid]
        rooms = limits.room - np.abs(pose - limits.middle), limits.speed, limits.acceleration
        peaks = (np.abs(part).max(0) for part in moved)
        reached = np.min([r / p for r, p in zip(rooms, peaks, strict=True)], axis=0)
        x[1:] *= AMPLITUDE * reached
        if (z := problem.shrunk(x, 0.5, HALVINGS)) is not None:
            return z
    pose = limits.middle if problem.start is None else problem.start
    where = f"pose {np.round(pose, 4).tolist()}"
    count = counted(len(problem.aim.names), "parameter")
    why = f"no small motion about the {where} shows all of the {count}"
    if fault := problem.fault(pose):
        why = f"at the {where} {fault}"
    raise ExcitationError(
        f"no motion of {problem.robot.name!r} within its limits was found: {why}. Allow more "
        "torque or less clearance, give a start, or take other parameters"
    )


FINER, FINER_DISTANCES = 20, 4
"""Instants between two samples at which limits are verified, and at which distances are."""
SHRINKING = 0.98
"""A motion that passes a limit is made smaller by this factor, about its start."""
MOST_SHRINKING = 200


@record(eq=False)
class Dense:
    """One period at many instants."""

    t: Array
    """(m,) [s]."""
    motion: Motion
    tau: Array
    """Torques of the model, friction included, (m, n) [N m or N]."""


def settled(
    problem: Problem, limits: MotionLimits, near: Clearance | None, z: Array
) -> tuple[Array, Dense, tuple[Array, Array] | None]:
    """The coefficients of variables z, smaller about the start if they pass a limit in between.

    With one period at many instants; and times (k,) [s] with the least distance at each (k,) [m].
    """
    x = problem.coefficients(z)
    basis = problem.basis
    m = len(problem.grid.q)
    step = 1 / (m * basis.frequency)
    t = np.arange(FINER * m + 1) * (step / FINER)
    instants = np.arange(FINER_DISTANCES * m + 1) * (step / FINER_DISTANCES)
    dense = basis.at(t)
    sparse = basis.at(instants).q
    for _ in range(MOST_SHRINKING):
        motion = Motion(*(phi @ x for phi in dense))
        tau = problem.robot.inverse_dynamics(*motion)
        if max(float(np.abs(u).max()) for u in limits.shares(*motion, tau).values()) <= 1:
            distances = None if near is None else near.distances(sparse @ x)
            if near is None or distances is None or distances.min() >= near.least:
                apart = None if distances is None else (instants, distances)
                return x, Dense(t, motion, tau), apart
        x = np.vstack([x[:1], SHRINKING * x[1:]])
    raise ExcitationError(
        f"the motion of {problem.robot.name!r} passes a limit however small it is: it starts at one"
    )
