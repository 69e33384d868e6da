"""The ways to estimate, by name: from sums to the coordinates of a possible robot.

Without a prior, least squares over all robots that can exist are a semidefinite program.

Noise of positions is in the equations as well as in what they explain, and least squares are then
biased. The motion of the model under the measured torques, held near to the measured one by a soft
spring and damper, has nearly the same features without that noise: with these as V, instrumental
variables,

    Σ w Vᵀ Z φ = Σ w Vᵀ τ

Reference: A. Janot, P. Vandanjon and M. Gautier, A generic instrumental variable approach for
industrial robot identification, IEEE Transactions on Control Systems Technology 22(1), 2014.
"""

import importlib.util
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import IdentificationError, MissingExtraError
from armdyn.identification.build import found_robot
from armdyn.identification.data import Data
from armdyn.identification.equations import Rows
from armdyn.identification.estimate import (
    Noise,
    entropic,
    least_squares,
    weighted_least_squares,
)
from armdyn.identification.preparation import Health, Piece, pieces
from armdyn.identification.problem import Prior, Problem, problem_of
from armdyn.robot import Robot

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
    free: Array | None,
) -> Estimate:
    """The estimate of a method."""
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
        phi, whole, noise = _robust(data, whole, noise)
    elif method == "instrumental":
        start = entropic(whole, prior, noise.weights, weight, free=free)
        phi = instrumental(data, problem, prior.parameters @ start, prior, noise)
    else:
        phi, _ = weighted_least_squares(whole)
    A, _ = whole.normal(noise.weights)
    objective = prior.objective.weighted(TOUCH, TOUCH)
    C = prior.features
    from armdyn.formulations.scaled_newton import newton  # noqa: PLC0415

    x = newton(objective.with_data(C.T @ A @ C, C.T @ (A @ phi)), prior.objective.start, free)
    return Estimate(x, phi, noise, TOUCH)


def _robust(data: Data, whole: Problem, noise: Noise) -> tuple[Array, Problem, Noise]:
    """Iteratively reweighted least squares: each pass over the data trusts outliers less.

    Deviations are those that half of the residuals are within, which outliers do not move.
    """
    phi, deviation = weighted_least_squares(whole)
    equations = data.equations

    def residuals(rows: Rows) -> Array:
        return rows.tau - equations.predicted(rows, whole.motors, phi)

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


LEAST_EIGENVALUE = 1e-4
"""Of the bodies in the coordinates of the prior: nothing is thinner than this share of it."""
_TOUCH = 1e-9
"""Curvature of directions that data do not show, towards the prior."""


def semidefinite(problem: Problem, prior: Prior, weights: Array) -> Array:
    """x of the least weighted squares with all bodies possible and all magnitudes positive."""
    if importlib.util.find_spec("clarabel") is None:
        raise MissingExtraError("clarabel", "design", "the method 'sdp'")
    import clarabel  # noqa: PLC0415 (an extra)
    from scipy import sparse  # noqa: PLC0415

    A, b = problem.normal(weights)
    C, start = prior.features, prior.objective.start
    P, q = C.T @ A @ C, -(C.T @ b)
    scale = float(np.diag(P).max(initial=1e-300))
    P = P / scale + _TOUCH * np.eye(len(P))
    q = q / scale - _TOUCH * start
    N, signed = prior.objective.links, prior.objective.signed
    rows, right, cones = [], [], []
    magnitudes = 10 * N + np.flatnonzero(~signed)
    if len(magnitudes):
        rows.append(-np.eye(len(start))[magnitudes])
        right.append(np.zeros(len(magnitudes)))
        cones.append(clarabel.NonnegativeConeT(len(magnitudes)))
    # Clarabel has the upper triangle by columns, off-diagonal entries times √2, as x has by rows
    order = [i * 4 - i * (i - 1) // 2 + j - i for j in range(4) for i in range(j + 1)]
    floor = np.array([LEAST_EIGENVALUE * (i == j) for j in range(4) for i in range(j + 1)])
    for link in range(N):
        rows.append(-np.eye(len(start))[[10 * link + k for k in order]])
        right.append(-floor)
        cones.append(clarabel.PSDTriangleConeT(4))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), q, sparse.csc_matrix(np.vstack(rows)),
        np.concatenate(right), cones, settings,
    )  # fmt: skip
    solution = solver.solve()
    x = np.asarray(solution.x)
    if not np.isfinite(x).all() or "Solved" not in str(solution.status):
        raise IdentificationError(
            f"the semidefinite program was not solved ({solution.status}); use method='entropic'"
        )
    x[magnitudes] = np.maximum(x[magnitudes], 0.0)
    return x


_STIFF = 2 * np.pi * 0.5
"""Natural frequency of the hold, in cut-offs [rad/s by Hz]."""


def instrumental(data: Data, problem: Problem, theta: Array, prior: Prior, noise: Noise) -> Array:
    """φ with the features of a simulation by a first estimate θ as instruments."""
    equations = data.equations
    N = len(equations.robot.model.links)
    scale = np.abs(np.diag(prior.parameters)[10 * N :])
    model = found_robot(equations, problem.motors, theta, scale)
    pairs, F = equations.matched(problem.motors), len(prior.features)
    A, b = np.zeros((F, F)), np.zeros(F)
    limits = np.full(equations.robot.n, np.inf)
    data.passes += 1
    for log in data.logs:
        for piece in pieces(log, data.cutoffs, Health(), limits):
            simulated = _simulated(model, piece, data.cutoffs.equations)
            measured = equations.rows(piece, data.cutoffs.equations)
            instruments = equations.rows(simulated, data.cutoffs.equations)
            for j, (out, into) in enumerate(pairs):
                good = measured.good[:, j]
                V, Z = instruments.Z[j][good][:, out], measured.Z[j][good][:, out]
                A[np.ix_(into, into)] += noise.weights[j] * V.T @ Z
                b[into] += noise.weights[j] * V.T @ measured.tau[good, j]
    size = np.sqrt(np.maximum(np.abs(np.diag(A)), 1e-300))
    found: Array = np.linalg.lstsq(A / size / size[:, None], b / size, rcond=1e-9)[0] / size
    return found


def _simulated(robot: Robot, piece: Piece, cutoff: float) -> Piece:
    """The motion of a robot under the torques of a piece, held near to its motion."""
    h, stiff = 1 / piece.rate, _STIFF * cutoff
    damping = 2 * stiff
    q, qd = piece.q[0].copy(), piece.qd[0].copy()
    Q, V, W = (np.empty_like(piece.q) for _ in range(3))
    forward = robot.kernel("forward_dynamics")
    for k in range(len(piece.t)):
        hold = stiff**2 * (piece.q[k] - q) + damping * (piece.qd[k] - qd)
        qdd = forward(q, qd, piece.tau[k]) + hold
        Q[k], V[k], W[k] = q, qd, qdd
        qd = qd + h * qdd
        q = q + h * qd - 0.5 * h * h * qdd
    return replace(piece, q=Q, qd=V, qdd=W)
