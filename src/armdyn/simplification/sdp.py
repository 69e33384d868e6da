"""Least squares under matrix inequalities, solved by Clarabel."""

import importlib
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import MissingExtraError

_WANTED_PRECISION = 1e-11
"""The precision that the solver tries to reach."""
_ACCEPTED_PRECISION = 1e-7
"""The precision that is enough where rounding stops the solver earlier."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Where the variables y may be: A + Σ y_i S_i positive semidefinite, and G y ≤ h."""

    A: Array
    """Constant parts of k matrices, shape (k, 4, 4)."""
    S: Array
    """Shape (variables, k, 4, 4)."""
    G: Array
    """Shape (rows, variables)."""
    h: Array

    def through(self, y0: Array, basis: Array) -> "Region":
        """The same for the variables z of y = y0 + basis z."""
        slopes = np.tensordot(basis.T, self.S, axes=1)
        return Region(self._matrices(y0), slopes, self.G @ basis, self.h - self.G @ y0)

    def violation(self, y: Array) -> float:
        """By how much y is outside: the most negative eigenvalue, or the excess over a limit."""
        lowest = np.linalg.eigvalsh(self._matrices(y))
        return float(max(0.0, (-lowest).max(initial=0.0), (self.G @ y - self.h).max(initial=0.0)))

    def _matrices(self, y: Array) -> Array:
        return self.A + np.tensordot(y, self.S, axes=1)


def nearest(
    C: Array, c: Array, region: Region, ball: tuple[Array, Array, float] | None = None
) -> Array | None:
    """The y in a region with the least |C y - c|, or None where the solver finds none.

    C has full column rank. A ball (E, e, r) is the further condition |E y - e| ≤ r.
    """
    try:
        clarabel = importlib.import_module("clarabel")
    except ImportError:
        raise MissingExtraError("clarabel", "design", "a design") from None
    csc_matrix, width = importlib.import_module("scipy.sparse").csc_matrix, C.shape[1]
    if width == 0:
        return np.zeros(0)
    rows = [region.G, -_triangles(region.S).reshape(width, -1).T]
    right = [region.h, _triangles(region.A).ravel()]
    cones = [clarabel.NonnegativeConeT(len(region.h))] if len(region.h) else []
    cones += [clarabel.PSDTriangleConeT(4)] * len(region.A)
    if ball is not None:
        E, e, r = ball
        rows.append(np.concatenate([np.zeros((1, width)), -E]))
        right.append(np.concatenate([[r], -e]))
        cones.append(clarabel.SecondOrderConeT(1 + len(e)))
    if not cones:
        return np.linalg.lstsq(C, c, rcond=None)[0]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _WANTED_PRECISION
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = _ACCEPTED_PRECISION
    settings.reduced_tol_feas = _ACCEPTED_PRECISION
    P, A = csc_matrix(np.triu(C.T @ C)), csc_matrix(np.concatenate(rows))
    solver = clarabel.DefaultSolver(P, -(C.T @ c), A, np.concatenate(right), cones, settings)
    found = solver.solve()
    solved = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    return np.array(found.x) if found.status in solved else None


def _triangles(matrices: Array) -> Array:
    """Upper triangles by columns, entries off the diagonal times √2, shape (..., 10)."""
    b, a = np.tril_indices(4)
    triangles: Array = matrices[..., a, b] * np.where(a == b, 1.0, np.sqrt(2.0))
    return triangles
