"""Where the unknowns of a design may be: bodies that can exist with a margin, and bounds.

Least squares over such a region, which is given by matrix inequalities, is solved by Clarabel.
"""

import importlib
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import MissingExtraError
from armdyn.study.simplify.design_variables import NUMBERS
from armdyn.study.simplify.parametrisation import ParametrisedArm

_SOLVER_SLACK = 1e-9
"""Bounds and margins are tightened by this much for the solver."""
VIOLATION_TOLERANCE = 10 * _SOLVER_SLACK
"""The solver may miss bounds and margins by this much."""
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


@dataclass(frozen=True, eq=False)
class Constraints:
    """The bodies and bounds of one arm."""

    arm: ParametrisedArm
    margin: float
    """The smallest eigenvalue of the pseudo-inertia of a changed link, in units."""
    kept: float
    """The share of its squared radii of gyration that a changed link keeps in every direction."""

    def region(self, p: Array, B: Array, values: Array) -> Region:
        """Where θ of ψ = p + B θ may be, for p (n, 10) and B (n, 10, unknowns)."""
        bodies: list[tuple[Array, Array]] = []
        sides, limits = [np.zeros((0, B.shape[2]))], [np.zeros(0)]
        for i in map(int, np.flatnonzero(B.any(axis=(1, 2)))):
            phi, slopes = self.arm.from_units[i] @ p[i], self.arm.from_units[i] @ B[i]
            bodies += self._bodies(i, phi, slopes, values)
            rows = self._bounds(i, values)
            sides.append(rows[:, :10] @ slopes)
            limits.append(rows[:, 10] - rows[:, :10] @ phi)
        A = np.array([body for body, _ in bodies]).reshape(-1, 4, 4)
        S = np.array([slopes for _, slopes in bodies]).reshape(len(A), B.shape[2], 4, 4)
        return Region(A, S.swapaxes(0, 1), np.concatenate(sides), np.concatenate(limits))

    def outside(self, i: int, p: Array, basis: Array, values: Array) -> bool:
        """Whether link i of ψ = p is out of its bounds and can change."""
        rows, phi = self._bounds(i, values), self.arm.from_units[i] @ p
        beyond = rows[:, :10] @ phi > rows[:, 10] + 2 * _SOLVER_SLACK
        return basis.shape[1] > 0 and bool(beyond.any())

    def _margin(self, i: int, own: Array, values: Array) -> float:
        """The margin of link i; `own` is its pseudo-inertia as it was.

        A link with held moments may be thin already, and it looks thinner from afar: seen from a
        distance d, in units of the size, the smallest eigenvalue falls by (√(d² + 4) - d)² / 4.
        """
        if self.arm.numbers[i, 4:].all():
            return self.margin + _SOLVER_SLACK
        d = float(np.linalg.norm(self.arm.centre(i, values) - self.arm.own[i][1])) / self.arm.size
        return min(self.margin, _smallest(own) / 4) * (np.sqrt(d**2 + 4) - d) ** 2 / 4

    def _bodies(
        self, i: int, phi: Array, slopes: Array, values: Array
    ) -> list[tuple[Array, Array]]:
        """Matrices and their slopes, positive semidefinite for bodies that exist with the margin.

        A body J less a part S of its second moments is positive semidefinite if and only if its
        second moments about the centre of mass are at least S, wherever that centre is.
        """
        unit, mass = self.arm.pseudo[i], self.arm.start[i, 0]
        changes = np.tensordot(slopes.T, unit, axes=1)
        body, own = (np.tensordot(x, unit, axes=1) for x in (phi, self.arm.start[i]))
        margin, found = self._margin(i, own, values), []
        if not self.arm.add_only or _smallest(own) < margin:
            found.append((body - margin * np.eye(4), changes))
        if self.arm.add_only:
            found.append((body - own, changes))
        elif mass > 0 and self.arm.numbers[i, 4:].all() and self.kept:
            kept = np.zeros((4, 4))
            kept[:3, :3] = self.kept * own[:3, :3] / mass
            found.append((body - phi[0] * kept, changes - np.multiply.outer(slopes[0], kept)))
        return found

    def _bounds(self, i: int, values: Array) -> Array:
        """Rows (g, h) of g φ ≤ h for link i, shape (rows, 11)."""
        arm, rows, centre = self.arm, [np.zeros((0, 11))], self.arm.centre(i, values)
        for k, name in enumerate(NUMBERS):
            pair = arm.variables.bounds.get(f"{name}{i + 1}")
            of_centre = 0 < k < 4
            if pair is None or (of_centre and not arm.unknown[i, k - 1]):
                continue
            low, high = pair
            row = arm.tensor_row(i, k - 4, centre) if k >= 4 else np.eye(10)[k]
            unit = arm.mass[i] * arm.size ** (0 if k == 0 else 1 if of_centre else 2)
            slack = _SOLVER_SLACK if low < high else 0.0
            for sign, limit in ((1.0, high), (-1.0, low)):
                if np.isfinite(limit):
                    # a coordinate x ≤ limit of the centre of mass is m x - m limit ≤ 0
                    by_mass = limit * np.eye(10)[0] * of_centre
                    right = 0.0 if of_centre else sign * limit / unit
                    rows.append(np.append(sign * (row - by_mass) / unit, right - slack)[None])
        return np.concatenate(rows)


def _smallest(pseudo: Array) -> float:
    """The smallest eigenvalue of a pseudo-inertia, or zero."""
    return max(float(np.linalg.eigvalsh(pseudo)[0]), 0.0)


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
    return np.asarray(matrices[..., a, b] * np.where(a == b, 1.0, np.sqrt(2.0)))
