"""Estimates from sums: least squares, weighted, and physically consistent with a prior."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.scaled_newton import newton
from armdyn.identification.equations import Motor
from armdyn.identification.problem import RANK_TOLERANCE, Prior, Problem, Sums

MOTOR_WEIGHT = 1e-2
"""Weight of the prior of rotors and friction, which data show well."""
_NOISE_WIDTH = 0.95
"""Width of the filter for noise, in its cut-off."""
_WEIGHT_ROUNDS = 8
_LEAST_SQUARES = 1e-12
"""Squares of the torque of a joint that has none, as a share of the largest."""
_SETTLED = 1e-3
"""Relative change of noise levels at which they are found."""


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """What the torques of each joint have that the best model does not explain."""

    deviation: Array
    """Standard deviation, (n,) [N m or N]."""
    repeats: Array
    """Samples that are worth one independent sample, (n,)."""

    @property
    def weights(self) -> Array:
        """What the squares of residuals are multiplied with, (n,)."""
        found: Array = 1.0 / (self.deviation**2 * self.repeats)
        return found


def least_squares(problem: Problem, weights: Array) -> Array:
    """φ of the least weighted squares; directions that the data do not show stay zero."""
    A, b = problem.normal(weights)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(A), 1e-300))
    scale[np.diag(A) <= 0] = 0.0
    values, vectors = np.linalg.eigh(A * scale * scale[:, None])
    seen = values > RANK_TOLERANCE * values.max(initial=1e-300)
    V = vectors[:, seen]
    return scale * (V @ ((V.T @ (scale * b)) / values[seen]))


def weighted_least_squares(problem: Problem) -> tuple[Array, Array]:
    """φ with the noise of each joint found from its residuals, and these deviations (n,)."""
    squares = problem.yy.sum(axis=0)
    squares = np.maximum(squares, _LEAST_SQUARES * squares.max(initial=0.0))
    deviation = np.sqrt(squares / np.maximum(problem.samples, 1))
    floor = 1e-9 * deviation
    phi = np.zeros(problem.g.shape[-1])
    for _ in range(_WEIGHT_ROUNDS):
        phi = least_squares(problem, deviation**-2)
        freedom = np.maximum(problem.samples - len(phi) / len(deviation), 1)
        found = np.maximum(np.sqrt(problem.squares(phi) / freedom), floor)
        settled = np.abs(found / deviation - 1).max() < _SETTLED
        deviation = found
        if settled:
            break
    return phi, deviation


def repeats_of(sums: Sums, motors: Sequence[Motor], phi: Array, cutoff: float) -> Array:
    """How many samples are worth an independent one, from the residuals that are kept, (n,).

    It is at least what the filter makes of white noise: its samples then are alike over half a
    period of the cut-off [Hz].
    """
    steps = [np.median(np.diff(rows.t)) for rows in sums.kept if len(rows) > 2]
    least = max(1.0, 0.5 / (_NOISE_WIDTH * cutoff * float(np.median(steps)))) if steps else 1.0
    total, shares = np.zeros(sums.equations.robot.n), np.zeros(sums.equations.robot.n)
    for rows in sums.kept:
        residuals = rows.tau - sums.equations.predicted(rows, motors, phi)
        for j, good in enumerate(rows.good.T):
            r = residuals[good, j]
            if len(r) > 20:
                total[j] += len(r) * correlation_length(r)
                shares[j] += len(r)
    return np.maximum(np.where(shares > 0, total / np.maximum(shares, 1.0), 1.0), least)


def correlation_length(r: Array) -> float:
    """Σ ρ_k over all lags, positive and negative, of a series; 1 for white noise.

    The sum ends at five times its own value, after Sokal, or where the correlation is lost.
    """
    r = r - r.mean()
    size = 1 << int(2 * len(r) - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(r, size)) ** 2
    rho = np.fft.irfft(spectrum, size)[: len(r) // 2]
    if not len(rho) or rho[0] <= 0:
        return 1.0
    length = 2 * np.cumsum(rho / rho[0]) - 1
    window = np.arange(len(length)) >= 5 * length
    place = int(np.argmax(window)) if window.any() else len(length) - 1
    return float(np.clip(length[place], 1.0, len(r) / 4))


def entropic(
    problem: Problem,
    prior: Prior,
    weights: Array,
    weight: float,
    start: Array | None = None,
    free: Array | None = None,
) -> Array:
    """x of the minimum of weighted squares plus `weight` times the divergence from the prior."""
    A, b = problem.normal(weights)
    C = prior.features
    objective = prior.objective.weighted(weight, MOTOR_WEIGHT).with_data(C.T @ A @ C, C.T @ b)
    return newton(objective, prior.objective.start if start is None else start, free)
