"""Choices on held-out blocks of the training data: terms of friction, weight of the prior.

Neighbouring samples are alike, so folds are long blocks. A richer law is taken only if it is better
on blocks it was not fitted to by more than the spread of that difference; of weights that are as
good within the spread, the strongest, which leaves least to chance on another motion.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.equations import Equations, Motor
from armdyn.identification.estimate import Noise, entropic
from armdyn.identification.friction_terms import Structure, changes, first_structures
from armdyn.identification.gram import Block
from armdyn.identification.problem import Problem, motors_with, prior_of, problem_of

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
