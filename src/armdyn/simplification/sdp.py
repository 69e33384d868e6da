"""Least squares under matrix inequalities, solved by Clarabel."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import MissingExtraError

_WANTED_PRECISION = 1e-11
"""The precision that the solver tries to reach."""
_ACCEPTED_PRECISION = 1e-7
"""The precision that is enough where rounding stops the solver earlier."""


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """The matrix `constant` + Σ y_i `slopes`[i], which shall be positive semidefinite."""

    constant: Array
    """Shape (k, k)."""
    slopes: Array
    """Shape (variables, k, k)."""

    def at(self, y: Array) -> Array:
        """The matrix for values of the variables."""
        return self.constant + np.tensordot(y, self.slopes, axes=1)


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Where the variables y may be."""

    matrices: tuple[Matrix, ...]
    sides: Array
    """Rows G of G y ≤ h, shape (r, variables)."""
    limits: Array
    """h, shape (r,)."""

    def through(self, y0: Array, basis: Array) -> "Region":
        """The same for the variables z of y = y0 + basis z."""
        matrices = tuple(
            Matrix(matrix.at(y0), np.tensordot(basis.T, matrix.slopes, axes=1))
            for matrix in self.matrices
        )
        return Region(matrices, self.sides @ basis, self.limits - self.sides @ y0)

    def violation(self, y: Array) -> float:
        """By how much y is outside: the most negative eigenvalue, or the excess over a limit."""
        lowest = [float(np.linalg.eigvalsh(matrix.at(y))[0]) for matrix in self.matrices]
        excess = self.sides @ y - self.limits
        return max([0.0, *(-value for value in lowest), *excess.tolist()])


def nearest(
    C: Array, c: Array, region: Region, ball: tuple[Array, Array, float] | None = None
) -> Array | None:
    """The y in a region with the least |C y - c|, or None where the solver finds none.

    Args:
        C: Matrix of full column rank.
        c: Its right-hand side.
        region: Where y may be.
        ball: (E, e, r) of a further condition |E y - e| ≤ r.
    """
    clarabel, sparse = _clarabel(), importlib.import_module("scipy.sparse")
    width = C.shape[1]
    if width == 0:
        return np.zeros(0)
    rows, right, cones = [region.sides], [region.limits], []
    if len(region.limits):
        cones.append(clarabel.NonnegativeConeT(len(region.limits)))
    if ball is not None:
        E, e, r = ball
        rows.append(np.concatenate([np.zeros((1, width)), -E]))
        right.append(np.concatenate([[r], -e]))
        cones.append(clarabel.SecondOrderConeT(1 + len(e)))
    for matrix in region.matrices:
        rows.append(-_triangle(matrix.slopes).T)
        right.append(_triangle(matrix.constant))
        cones.append(clarabel.PSDTriangleConeT(len(matrix.constant)))
    if not cones:
        return np.linalg.lstsq(C, c, rcond=None)[0]
    problem = (
        sparse.csc_matrix(np.triu(C.T @ C)),
        -(C.T @ c),
        sparse.csc_matrix(np.concatenate(rows)),
        np.concatenate(right),
        cones,
    )
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _WANTED_PRECISION
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = _ACCEPTED_PRECISION
    settings.reduced_tol_feas = _ACCEPTED_PRECISION
    found = clarabel.DefaultSolver(*problem, settings).solve()
    solved = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    return np.array(found.x) if found.status in solved else None


def _triangle(matrices: Array) -> Array:
    """Upper triangles by columns, entries off the diagonal times √2, shape (..., k (k+1) / 2)."""
    k = matrices.shape[-1]
    places: Sequence[tuple[int, int]] = [(a, b) for b in range(k) for a in range(b + 1)]
    scale = np.array([1.0 if a == b else np.sqrt(2.0) for a, b in places])
    return matrices[..., [a for a, _ in places], [b for _, b in places]] * scale


def _clarabel() -> Any:
    try:
        return importlib.import_module("clarabel")
    except ImportError:
        raise MissingExtraError("clarabel", "design", "a design") from None
