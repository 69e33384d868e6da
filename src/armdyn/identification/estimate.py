"""The ways to estimate, by name: from sums to the parameters of a robot.

`entropic` weighs squares against the divergence of bodies from a prior, so that every link can
exist. `least_squares` is on base parameters: in products A of features, scaled to a unit diagonal,
an eigenvalue below `RANK_TOLERANCE` of the largest belongs to a combination of links, rotors and
friction that the data do not show, and this keeps what the robot had. A rotor or a term of friction
that comes out negative is left out, and the rest solved again. The noise of each joint is found
from its residuals. `robust` is the same with samples that weigh less the farther off they
are, after Tukey. Nothing makes the bodies of the last two possible unless they are projected.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.scaled_newton import newton
from armdyn.identification.data import Data
from armdyn.identification.equations import ROTOR, STIFF, TENSE, Motor, Rows
from armdyn.identification.problem import Prior, Problem, Sums, problem_of

METHODS = ("entropic", "least_squares", "robust")
"""Names of the methods; the first is the default."""
RIDGE, GATE = 2.0, 0.36
"""What friction as it was is worth, and what a joint must move in each direction [s]; and the share
of its squares on held-out blocks that must be left with another friction so that it is taken."""
RANK_TOLERANCE = 1e-10
"""Share of the largest eigenvalue below which the data do not show a combination."""
MOTOR_WEIGHT = 1e-2
"""Weight of the prior of rotors and friction, which data show well."""
TOUCH, EDGE = 1e-6, 1e-8
"""Weight of the prior in a projection, which decides what the data leave open, and its least share
of the slope of the data, so that bodies stay off the edge of what is possible."""
_NOISE_WIDTH = 0.95
"""Width of the filter for noise, in its cut-off."""
_WEIGHT_ROUNDS = 8
_LEAST_SQUARES = 1e-12
"""Squares of the torque of a joint that has none, as a share of the largest."""
_SETTLED = 1e-3
"""Relative change of noise levels at which they are found."""
_TUKEY = 4.685
"""Residuals beyond so many deviations do not count, after Tukey."""
_HALF = 0.6745
"""Deviations of a Gaussian that half of all samples are within."""
_ROBUST_PASSES = 6
HELD_BLOCKS = 5
"""Blocks of the training that are held out in turn."""


@record(eq=False)
class Noise:
    """What the torques of each joint have that the best model does not explain."""

    deviation: Array
    """Standard deviation, (n,) [N m or N]."""
    repeats: Array
    """Samples that are worth one independent sample, (n,)."""

    @property
    def weights(self) -> Array:
        """What the squares of residuals are multiplied with, (n,)."""
        return np.asarray(1.0 / (self.deviation**2 * self.repeats))


@record(eq=False)
class Estimate:
    """What a method found."""

    theta: Array
    """Ten numbers of each link, then those of motors and springs, (P,)."""
    phi: Array
    """The features of these, (F,)."""
    noise: Noise
    weight: float
    """Weight of the prior; 0: there was none."""
    scored: str
    """What errors of training and validation are those of, in words."""


def estimate(
    method: str,
    project: bool,
    data: Data,
    problem: Problem,
    prior: Prior,
    noise: Noise,
    weight: float,
    free: Array,
) -> Estimate:
    """The estimate of a method, of the coordinates that are free, (P,) of truths."""
    whole = problem.whole
    C = prior.features
    T = prior.parameters
    if method == "entropic":
        x = entropic(whole, prior, noise.weights, weight, free=free)
        return Estimate(T @ x, C @ x, noise, weight, "the robot, whose links can all exist")
    known = C @ np.linalg.solve(T, prior.known)
    links = len(known) - len(problem.motors)
    magnitudes = np.concatenate([np.zeros(links, dtype=bool), ~prior.objective.signed])
    unknowns = Unknowns(known, np.any(C[:, free], axis=1), magnitudes)
    if method == "adapted":
        phi = adapted(data, problem, unknowns, noise.weights)
    else:
        phi, deviation = weighted_least_squares(whole, unknowns)
    if method == "robust":
        phi, whole, deviation = _robust(data, whole, phi, deviation, unknowns)
        noise = replace(noise, deviation=deviation)
    if project:
        A, _ = whole.normal(noise.weights)
        slope = C.T @ (A @ phi)
        touch = max(TOUCH, EDGE * float(np.abs(slope).max(initial=0.0)))
        objective = prior.objective.weighted(touch, touch).with_data(C.T @ A @ C, slope)
        x = newton(objective, prior.objective.start, free)
        scored = "the possible robot nearest to the base parameters, after its projection"
        return Estimate(T @ x, C @ x, noise, 0.0, scored)
    change = np.zeros(len(free))
    change[free] = np.linalg.lstsq(C[:, free], phi - known)[0]
    scored = "the base parameters as they are, without a projection to possible bodies"
    if method == "adapted":
        scored = "the robot, its friction changed where blocks that were held out gain by it"
    return Estimate(prior.known + T @ change, phi, noise, 0.0, scored)


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


def adapted(data: Data, problem: Problem, unknowns: "Unknowns", weights: Array) -> Array:
    """φ with friction that is changed at joints where blocks that were not fitted to gain by it."""
    rate = np.concatenate([rows.qd for rows in data.sums().kept])
    shares = [way.mean(axis=0) for way in (rate > 0, rate < 0)]
    ridge, known = RIDGE / data.health.duration, unknowns.known
    motors = [feature not in (ROTOR, STIFF, TENSE) for _, feature in problem.motors]
    friction = np.concatenate([np.zeros(len(known) - len(motors), dtype=bool), motors])

    def fitted(some: Problem, free: Array) -> Array:
        size = ridge * np.einsum("kjaa->ja", some.G)
        G = some.G.sum(axis=0) + size[..., None] * np.eye(len(known))
        ridged = replace(some.whole, G=G[None], g=(some.g.sum(axis=0) + size * known)[None])
        return replace(unknowns, free=free).solved(ridged, weights)

    before, after = np.zeros((2, len(weights)))
    for rest, held in problem.held_out(HELD_BLOCKS):
        before += held.squares(known)
        after += held.squares(fitted(rest, friction))
    gains = (np.min(shares, axis=0) > ridge) & (after < GATE * before)
    acts = np.einsum("kjaa->ja", problem.G) > 0
    serves = (gains[:, None] | ~acts).all(axis=0)
    return fitted(problem, friction & serves)


@record(eq=False)
class Unknowns:
    """The features that least squares are to find, each (F,)."""

    known: Array
    """What they are as far as the data do not show them."""
    free: Array
    """Which are to be found; the others are known."""
    magnitudes: Array
    """Which are nothing if they come out negative."""

    @classmethod
    def all_of(cls, count: int) -> "Unknowns":
        """So many features of any sign, of which nothing is known."""
        return cls(np.zeros(count), np.ones(count, dtype=bool), np.zeros(count, dtype=bool))

    def solved(self, problem: Problem, weights: Array) -> Array:
        """φ of the least weighted squares."""
        A, b = problem.normal(weights)
        known = self.known.copy()
        free = self.free.copy()
        while True:
            some = A[np.ix_(free, free)]
            diagonal = np.diag(some)
            scale = np.where(diagonal > 0, 1.0 / np.sqrt(np.maximum(diagonal, 1e-300)), 0.0)
            values, vectors = np.linalg.eigh(some * scale * scale[:, None])
            V = vectors[:, seen := values > RANK_TOLERANCE * values.max(initial=1e-300)]
            right = scale * (b - A @ known)[free]
            phi = known.copy()
            phi[free] += scale * (V @ ((V.T @ right) / values[seen]))
            effect = np.where(free & self.magnitudes, phi * np.sqrt(np.diag(A)), 0.0)
            worst = int(np.argmin(effect))
            if effect[worst] >= 0:
                return phi
            known[worst], free[worst] = 0.0, False


def weighted_least_squares(
    problem: Problem, unknowns: Unknowns | None = None
) -> tuple[Array, Array]:
    """φ with the noise of each joint found from its residuals, and these deviations (n,)."""
    unknowns = unknowns or Unknowns.all_of(problem.g.shape[-1])
    phi = unknowns.known
    squares = problem.yy.sum(axis=0)
    squares = np.maximum(squares, _LEAST_SQUARES * squares.max(initial=0.0))
    deviation = np.sqrt(squares / np.maximum(problem.samples, 1))
    floor = 1e-9 * deviation
    freedom = np.maximum(problem.samples - unknowns.free.sum() / len(deviation), 1)
    for _ in range(_WEIGHT_ROUNDS):
        phi = unknowns.solved(problem, deviation**-2)
        found = np.maximum(np.sqrt(problem.squares(phi) / freedom), floor)
        settled = np.abs(found / deviation - 1).max() < _SETTLED
        deviation = found
        if settled:
            break
    return phi, deviation


def _robust(
    data: Data, whole: Problem, phi: Array, deviation: Array, unknowns: Unknowns
) -> tuple[Array, Problem, Array]:
    """Iteratively reweighted least squares: each pass over the data trusts outliers less.

    Deviations are those that half of the residuals are within, which outliers do not move.
    """
    equations = data.equations

    def residuals(rows: Rows) -> Array:
        return np.abs(rows.tau - equations.predicted(rows, whole.motors, phi))

    def weights(rows: Rows) -> Array:
        size = residuals(rows) / deviation
        return np.where(size < _TUKEY, (1 - np.minimum(size / _TUKEY, 1.0) ** 2) ** 2, 1e-6)

    kept = data.sums().kept
    for _ in range(_ROBUST_PASSES):
        rest = [residuals(rows)[rows.good.all(axis=1)] for rows in kept]
        deviation = np.maximum(np.median(np.concatenate(rest), axis=0) / _HALF, 1e-3 * deviation)
        whole = problem_of(data.sums(weights), whole.motors).whole
        phi = unknowns.solved(whole, deviation**-2)
    return phi, whole, deviation


# noise


def repeats_of(sums: Sums, motors: Sequence[Motor], phi: Array, cutoff: float) -> Array:
    """How many samples are worth an independent one, from the residuals that are kept, (n,).

    It is at least what the filter makes of white noise: its samples then are alike over half a
    period of the cut-off [Hz].
    """
    steps = [np.median(np.diff(rows.t)) for rows in sums.kept if len(rows) > 2]
    least = max(1.0, 0.5 / (_NOISE_WIDTH * cutoff * float(np.median(steps)))) if steps else 1.0
    total, counts = np.zeros((2, sums.equations.robot.n))
    for rows in sums.kept:
        residuals = rows.tau - sums.equations.predicted(rows, motors, phi)
        for j, good in enumerate(rows.good.T):
            r = residuals[good, j]
            if len(r) > 20:
                total[j] += len(r) * correlation_length(r)
                counts[j] += len(r)
    return np.maximum(total / np.maximum(counts, 1.0), least)


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
