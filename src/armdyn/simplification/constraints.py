"""Where the unknowns of a design may be: bodies that can exist with a margin, and bounds."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armdyn.arrays import Array
from armdyn.simplification.design_variables import NUMBERS
from armdyn.simplification.parametrisation import ParametrisedArm
from armdyn.simplification.sdp import Region

_SOLVER_SLACK = 1e-9
"""Bounds and margins are tightened by this much for the solver."""
VIOLATION_TOLERANCE = 10 * _SOLVER_SLACK
"""The solver may miss bounds and margins by this much."""


class Margin(NamedTuple):
    """How thin and how compact a changed link may be."""

    least: float
    """The smallest eigenvalue of its pseudo-inertia, in units."""
    kept: float
    """The share of its squared radii of gyration that it keeps at least in every direction."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """The bodies and bounds of one arm."""

    arm: ParametrisedArm
    margin: Margin

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
            return self.margin.least + _SOLVER_SLACK
        d = float(np.linalg.norm(self.arm.centre(i, values) - self.arm.own[i][1])) / self.arm.size
        return min(self.margin.least, _smallest(own) / 4) * (np.sqrt(d**2 + 4) - d) ** 2 / 4

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
        elif mass > 0 and self.arm.numbers[i, 4:].all() and self.margin.kept:
            kept = np.zeros((4, 4))
            kept[:3, :3] = self.margin.kept * own[:3, :3] / mass
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
