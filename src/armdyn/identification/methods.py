"""The ways to estimate, by name: from sums to the coordinates of a possible robot."""

from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.data import Data
from armdyn.identification.equations import Rows
from armdyn.identification.estimate import (
    Noise,
    entropic,
    least_squares,
    weighted_least_squares,
)
from armdyn.identification.problem import Prior, Problem, problem_of
from armdyn.identification.sdp import semidefinite

METHODS = ("entropic", "weighted", "least_squares", "robust", "sdp", "instrumental")
"""Names of the methods; the first is the default."""
TOUCH = 1e-6
"""Weight of the prior for methods without one: it decides what the data leave open."""
_TUKEY = 4.685
"""Residuals beyond so many deviations do not count, after Tukey."""
_HALF = 0.6745
"""Deviations of a Gaussian that half of all samples are within."""
_ROBUST_PASSES = 6


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What a method found."""

    x: Array
    """Coordinates of the prior's objective."""
    phi: Array
    """The features, as the method has them; those of x are the nearest possible ones."""
    noise: Noise
    weight: float
    """Weight of the prior."""


def estimate(
    method: str,
    data: Data,
    problem: Problem,
    prior: Prior,
    noise: Noise,
    weight: float,
    chosen: Array,
    free: Array | None,
) -> Estimate:
    """The estimate of a method; `chosen` are the places of its features among all."""
    whole = problem.whole
    if method == "entropic":
        x = entropic(whole, prior, noise.weights, weight, free=free)
        return Estimate(x, prior.features @ x, noise, weight)
    if method == "sdp":
        x = semidefinite(whole, prior, noise.weights)
        return Estimate(x, prior.features @ x, noise, TOUCH)
    if method == "least_squares":
        phi = least_squares(whole, np.full_like(noise.deviation, 1 / np.mean(noise.deviation**2)))
    elif method == "robust":
        phi, whole, noise = _robust(data, whole, noise, chosen)
    elif method == "instrumental":
        from armdyn.identification.instruments import instrumental  # noqa: PLC0415

        start = entropic(whole, prior, noise.weights, weight, free=free)
        phi = instrumental(data, problem, prior.parameters @ start, prior, noise, chosen)
    else:
        phi, _ = weighted_least_squares(whole)
    A, _ = whole.normal(noise.weights)
    objective = prior.objective.weighted(TOUCH, TOUCH)
    C = prior.features
    from armdyn.formulations.scaled_newton import newton  # noqa: PLC0415

    x = newton(objective.with_data(C.T @ A @ C, C.T @ (A @ phi)), prior.objective.start, free)
    return Estimate(x, phi, noise, TOUCH)


def _robust(
    data: Data, whole: Problem, noise: Noise, chosen: Array
) -> tuple[Array, Problem, Noise]:
    """Iteratively reweighted least squares: each pass over the data trusts outliers less.

    Deviations are those that half of the residuals are within, which outliers do not move.
    """
    phi, deviation = weighted_least_squares(whole)
    equations = data.equations
    position = np.full(equations.links + len(equations.motors), -1)
    position[chosen] = np.arange(len(chosen))

    def residuals(rows: Rows) -> Array:
        columns = []
        for j, acting in enumerate(equations.acting):
            out = np.flatnonzero(position[acting] >= 0)
            columns.append(rows.tau[:, j] - rows.Z[j][:, out] @ phi[position[acting[out]]])
        return np.stack(columns, -1)

    def weights(rows: Rows) -> Array:
        size = np.abs(residuals(rows)) / deviation
        return np.where(size < _TUKEY, (1 - np.minimum(size / _TUKEY, 1.0) ** 2) ** 2, 1e-6)

    kept = data.sums().kept
    for _ in range(_ROBUST_PASSES):
        rest = [np.abs(residuals(rows))[rows.good.all(axis=1)] for rows in kept]
        deviation = np.maximum(np.median(np.concatenate(rest), axis=0) / _HALF, 1e-3 * deviation)
        sums = data.sums(weights)
        whole = problem_of(equations, sums.folds(1), whole.motors)
        phi = least_squares(whole, deviation**-2)
    return phi, whole, replace(noise, deviation=deviation)
