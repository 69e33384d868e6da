"""What is to be identified with which data, and the choices that are made on the training.

Terms of friction, the weight of the prior and the filter of the motion are chosen on held-out
blocks. Neighbouring samples are alike, so folds are long blocks. A richer law is taken only if it
is better on blocks it was not fitted to by more than the spread of that difference; of weights that
are as good within the spread, the strongest, which leaves least to chance on another motion.

Positions that are differentiated twice carry noise into the equations, the more the higher the
cut-off; too low a cut-off takes motion away. Neither can be told from the positions alone, so a few
cut-offs are tried on the first samples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, real
from armdyn.errors import IdentificationError, counted, shown
from armdyn.identification.build import friction_words
from armdyn.identification.data import (
    HELD_OUT,
    Data,
    LogOptions,
    Progress,
    check_sizes,
    cutoff_of,
    motor_speeds,
    pilot,
    split,
)
from armdyn.identification.equations import Equations, Motor
from armdyn.identification.estimate import Noise, entropic, repeats_of, weighted_least_squares
from armdyn.identification.friction_terms import (
    OFFSET,
    ROTOR,
    VISCOUS,
    Structure,
    all_features,
    changes,
    coulomb,
    first_structures,
)
from armdyn.identification.preparation import Cutoffs, Health, pieces
from armdyn.identification.problem import (
    Block,
    Problem,
    Sums,
    motors_with,
    own_motors,
    prior_of,
    problem_of,
)
from armdyn.identification.uncertainty import with_other_speeds
from armdyn.io.log import Log, Samples
from armdyn.robot import Robot

WEIGHTS = tuple(10.0**k for k in range(-3, 4))
"""Weights of the prior that are tried."""
FOLDS = 5
_MORE_TERMS = 2
"""How often a term is added to friction."""
_CLEARLY = 1.5
"""Spreads of the difference that a better law is better by."""
_LEAST_GAIN = 0.03
"""Relative improvement on held-out blocks below which a term is not worth having."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """An alternative and its error on each held-out fold."""

    errors: Array
    """Weighted mean squares of the residuals, (K,); 1 is the noise."""

    @property
    def error(self) -> float:
        """Their mean."""
        return float(self.errors.mean())

    def better_than(self, other: "Trial") -> bool:
        """Whether it is better by more than the spread of the difference."""
        gain = other.errors - self.errors
        spread = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
        return bool(gain.mean() > max(_CLEARLY * spread, _LEAST_GAIN * other.error))

    def as_good_as(self, best: "Trial") -> bool:
        """Whether it is worse than the best by no more than the spread of the difference."""
        loss = self.errors - best.errors
        spread = loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else 0.0
        return bool(loss.mean() <= spread)


def cross_validate(
    equations: Equations, problem: Problem, noise: Noise, weight: float, free: Array | None = None
) -> Trial:
    """The error on each fold of the estimate from all others."""
    prior = prior_of(equations, problem)
    K = len(problem.yy)
    start = entropic(problem.whole, prior, noise.weights, weight, free=free)
    errors = []
    for k in range(K):
        x = entropic(problem.without(k), prior, noise.weights, weight, start, free)
        held = problem.fold(k)
        squares = held.squares(prior.features @ x) / noise.deviation**2
        errors.append(squares.sum() / max(held.samples.sum(), 1))
    return Trial(np.array(errors))


@dataclass(frozen=True, slots=True, eq=False)
class FrictionChoice:
    """The terms that were taken, and what was tried."""

    motors: tuple[Motor, ...]
    structure: Structure
    tried: tuple[tuple[str, float], ...]
    """Names of terms and their error on held-out blocks."""


def choose_friction(
    equations: Equations,
    folds: Sequence[Block],
    noise_of: Callable[[Problem], Noise],
    said: Callable[[str], None],
    links: bool = True,
) -> FrictionChoice:
    """The terms of friction that serve held-out blocks best; `links`: these are found as well."""
    fixed = 0 if links else 10 * len(equations.robot.model.links)
    tried: list[tuple[str, float]] = []
    noise: Noise | None = None

    def trial(structure: Structure) -> Trial:
        nonlocal noise
        problem = problem_of(equations, folds, motors_with(equations, structure))
        noise = noise_of(problem) if noise is None else noise
        said(f"friction: {words(structure)}")
        free = np.arange(prior_of(equations, problem).features.shape[1]) >= fixed
        found = cross_validate(equations, problem, noise, 1.0, free)
        tried.append((words(structure), found.error))
        return found

    options = [(trial(structure), structure) for structure in first_structures()]
    best, structure = min(options, key=lambda pair: pair[0].error)
    for _ in range(_MORE_TERMS):
        more = [(trial(other), other) for other in changes(structure)]
        candidate, other = min(more, key=lambda pair: pair[0].error)
        if not candidate.better_than(best):
            break
        best, structure = candidate, other
    return FrictionChoice(tuple(motors_with(equations, structure)), structure, tuple(tried))


def choose_weight(
    equations: Equations,
    problem: Problem,
    noise: Noise,
    weights: Sequence[float],
    said: Callable[[str], None],
) -> tuple[float, tuple[tuple[float, float], ...]]:
    """The weight of the prior, and the error on held-out blocks with each that was tried."""
    trials = []
    for weight in weights:
        said(f"weight of the prior: {weight:g}")
        trials.append((weight, cross_validate(equations, problem, noise, weight)))
    best = min((trial for _, trial in trials), key=lambda trial: trial.error)
    strongest = max(weight for weight, trial in trials if trial.as_good_as(best))
    return strongest, tuple((weight, trial.error) for weight, trial in trials)


def words(structure: Structure) -> str:
    """A structure in words, as "rotor, viscous, Coulomb (0.03), offset"."""
    found = []
    for feature in structure:
        numbers = [f"{x:g}" for x in (feature.smooth, feature.stribeck) if x]
        found.append(feature.name + (f" ({', '.join(numbers)})" if numbers else ""))
    return ", ".join(found)


FACTORS = (2.0, 1.0, 0.6)
"""Cut-offs of the motion that are tried, in that of the equations."""
_STRUCTURE = (ROTOR, VISCOUS, coulomb(0.03), OFFSET)


def choose_motion_cutoff(
    equations: Equations, log: Log, samples: Samples, cutoff: float, natural: float
) -> float:
    """The cut-off of the motion [Hz], given that of the equations and the one natural to it.

    It is at least three fifths of the natural one, below which motion would be lost.
    """
    options = sorted({max(f * cutoff, min(0.6 * natural, cutoff)) for f in FACTORS}, reverse=True)
    rough = Equations(equations.robot, _STRUCTURE, equations.speeds)
    part = log.part(log.first, log.first + len(samples))
    noise: Noise | None = None
    errors = []
    for motion in options:
        sums = Sums(rough)
        limits = np.full(equations.robot.n, np.inf)
        for piece in pieces(part, Cutoffs(cutoff, motion), Health(), limits):
            sums.add(rough.rows(piece, cutoff))
        if len(sums.blocks) < FOLDS:
            return options[0]
        problem = problem_of(rough, sums.folds(FOLDS), motors_with(rough, _STRUCTURE))
        if noise is None:
            _, deviation = weighted_least_squares(problem.whole)
            noise = Noise(deviation, np.full_like(deviation, 5.0))
        errors.append(cross_validate(rough, problem, noise, 1.0).error)
    return options[int(np.argmin(errors))]


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be done, with which data."""

    robot: Robot
    method: str
    links: bool
    """Whether the links are to be found."""
    equations: Equations
    cutoffs: Cutoffs
    training: Data
    validation: Data | None
    apart: bool
    """Whether validation is with other logs."""
    progress: Progress
    still: bool = False
    """Whether the arm is at rest in all samples."""


@dataclass(frozen=True, slots=True)
class Search:
    """What was chosen on held-out blocks of the training data, and what was tried."""

    friction: str
    """The terms of friction, in words."""
    weight: float
    """Weight of the prior."""
    friction_tried: tuple[tuple[str, float], ...]
    """Terms and their error on held-out blocks, in units of the noise."""
    weights_tried: tuple[tuple[float, float], ...]
    """Weights and their error on held-out blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The choices, with the problem that they make."""

    search: Search
    motors: tuple[Motor, ...]
    problem: Problem
    noise: Noise
    beside: tuple[Problem, ...] = ()
    """The same problem with the next speeds of dry friction that were tried."""


def prepare(
    robot: Robot,
    data: Any,
    validate: Any,
    options: LogOptions,
    cutoff: float | None,
    friction: str,
    progress: Progress,
    method: str,
    links: bool,
) -> Task:
    """Open the logs, split them, and choose the filters."""
    logs = options.open(robot, data, "data")
    share = HELD_OUT if validate is None else validate
    apart = not isinstance(share, bool | int | float)
    if apart:
        held = options.open(robot, validate, "validate")
    elif share is False:
        held = []
    else:
        logs, held = split(logs, float(share))
    if cutoff is not None and not 0 < real(cutoff) < 0.5 / max(log.period for log in logs):
        raise IdentificationError(
            f"cutoff: expected a frequency below half of the sampling rate, "
            f"{0.5 / max(log.period for log in logs):g} Hz, got {shown(cutoff)}"
        )
    for log in (*logs, *held):
        check_sizes(log, robot.joint_names)
    natural = cutoff_of(logs)
    equation_cutoff = natural if cutoff is None else float(cutoff)
    structure: Structure = all_features() if friction == "choose" else (ROTOR,)
    first = Equations(robot, structure, np.ones(len(robot.model.driven)))
    samples = pilot(logs[0])
    speeds = motor_speeds(samples, logs[0].period, natural, first.ratios)
    equations = replace(first, speeds=speeds)
    if friction == "keep":
        own = own_motors(equations)
        motors = (f for k, f in own if k < len(robot.model.driven))
        equations = replace(equations, structure=tuple(dict.fromkeys(motors)))
    progress("choosing the filter of the motion", 0, 0)
    motion = choose_motion_cutoff(equations, logs[0], samples, equation_cutoff, natural)
    cutoffs = Cutoffs(equation_cutoff, motion)
    training = Data(logs, equations, cutoffs, progress)
    validation = Data(held, equations, cutoffs, progress) if held else None
    return Task(robot, method, links, equations, cutoffs, training, validation, apart, progress)


def check_enough(task: Task, sums: Sums) -> None:
    """Refuse data that are too short for anything."""
    least = task.equations.links // max(task.robot.n, 1) + 10
    if sums.samples < least:
        where = task.training.logs[0].where
        health = task.training.health
        lost = health.counts["missing"]
        missing = f"; {lost:,} of {health.rows:,} rows have something missing" if lost else ""
        raise IdentificationError(
            f"{where}: too short: {health.duration:.2g} s are left after the ends that a filter of "
            f"{task.cutoffs.equations:g} Hz needs, {counted(sums.samples, 'sample')}{missing}; "
            "record at least ten seconds of motion of all joints, or give a higher cutoff"
        )


def search_choices(
    task: Task, sums: Sums, friction: str, prior_weight: float | Sequence[float] | None
) -> Choices:
    """The terms of friction and the weight of the prior, by held-out blocks of the training."""
    equations, folds = task.equations, sums.folds(FOLDS)

    def noise_of(problem: Problem) -> Noise:
        phi, deviation = weighted_least_squares(problem.whole)
        return Noise(deviation, repeats_of(sums, problem.motors, phi, task.cutoffs.equations))

    def said(what: str) -> None:
        task.progress(what, 0, 0)

    tried: tuple[tuple[str, float], ...] = ()
    if friction == "choose":
        choice = choose_friction(equations, folds, noise_of, said, task.links)
        motors, tried = choice.motors, choice.tried
    elif friction == "keep":
        motors = tuple(own_motors(equations))
    else:
        motors = tuple(motors_with(equations, equations.structure if friction == "all" else ()))
    problem = problem_of(equations, folds, motors)
    noise = noise_of(problem)
    weights = np.atleast_1d(np.array(WEIGHTS if prior_weight is None else prior_weight, float))
    if not (np.isfinite(weights).all() and (weights > 0).all() and weights.size):
        raise IdentificationError(
            f"prior_weight: expected numbers more than 0, got {shown(prior_weight)}"
        )
    tried_weights: tuple[tuple[float, float], ...] = ()
    weight = float(weights.max())
    if task.method == "entropic" and len(weights) > 1 and task.links:
        weight, tried_weights = choose_weight(equations, problem, noise, weights.tolist(), said)
    search = Search(friction_words(motors), weight, tried, tried_weights)
    others = with_other_speeds(motors) if friction == "choose" else []
    beside = tuple(problem_of(equations, folds, other) for other in others)
    return Choices(search, motors, problem, noise, beside)
