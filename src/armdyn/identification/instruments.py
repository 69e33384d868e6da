"""Instrumental variables: regressors of a simulated motion, which noise of sensors has no part in.

Noise of positions is in the equations as well as in what they explain, and least squares are then
biased. The motion of the model under the measured torques, held near to the measured one by a soft
spring and damper, has nearly the same features without that noise: with these as V,

    Σ w Vᵀ Z φ = Σ w Vᵀ τ

Reference: A. Janot, P. Vandanjon and M. Gautier, A generic instrumental variable approach for
industrial robot identification, IEEE Transactions on Control Systems Technology 22(1), 2014.
"""

from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.build import found_robot
from armdyn.identification.data import Data
from armdyn.identification.estimate import Noise
from armdyn.identification.preparation import Health, Piece, pieces
from armdyn.identification.problem import Prior, Problem
from armdyn.robot import Robot

_STIFF = 2 * np.pi * 0.5
"""Natural frequency of the hold, in cut-offs [rad/s by Hz]."""


def instrumental(
    data: Data, problem: Problem, theta: Array, prior: Prior, noise: Noise, chosen: Array
) -> Array:
    """φ with the features of a simulation by a first estimate θ as instruments."""
    equations = data.equations
    N = len(equations.robot.model.links)
    scale = np.abs(np.diag(prior.parameters)[10 * N :])
    model = found_robot(equations, problem.motors, theta, scale)
    place = {int(feature): i for i, feature in enumerate(chosen)}
    F = len(chosen)
    A, b = np.zeros((F, F)), np.zeros(F)
    limits = np.full(equations.robot.n, np.inf)
    data.passes += 1
    for log in data.logs:
        for piece in pieces(log, data.cutoffs, Health(), limits):
            simulated = _simulated(model, piece, data.cutoffs.equations)
            measured = equations.rows(piece, data.cutoffs.equations)
            instruments = equations.rows(simulated, data.cutoffs.equations)
            for j, acting in enumerate(equations.acting):
                pairs = [(i, place[f]) for i, f in enumerate(acting.tolist()) if f in place]
                out, into = (np.array(part, dtype=int) for part in zip(*pairs, strict=True))
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
