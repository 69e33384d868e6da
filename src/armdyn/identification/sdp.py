"""Least squares over all robots that can exist, without a prior: a semidefinite program."""

import importlib.util

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import IdentificationError, MissingExtraError
from armdyn.identification.problem import Prior, Problem

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
