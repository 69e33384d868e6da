"""Where the unknowns of a design may be: bodies that can exist with a margin, and bounds."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from armdyn.arrays import Array
from armdyn.simplification.design_variables import NUMBERS
from armdyn.simplification.parametrisation import ParametrisedArm
from armdyn.simplification.sdp import Matrix, Region

_SOLVER_SLACK = 1e-9
"""By how much bounds and margins are kept to more tightly than asked, for the solver."""
VIOLATION_TOLERANCE = 10 * _SOLVER_SLACK
"""By how much the solver may miss them."""


class Margin(NamedTuple):
    """How thin and how compact a changed link may be."""

    least: float
    """The smallest eigenvalue of its pseudo-inertia, in units."""
    kept: float
    """The share of its squared radii of gyration that it keeps at least in every direction."""


class Constraints:
    """The bodies and bounds of one arm."""

    def __init__(self, arm: ParametrisedArm, margin: Margin):
        self.arm, self.margin = arm, margin

    def region(self, p: Array, B: Mapping[int, Array], values: Array) -> Region:
        """Where θ of ψ = p + B θ may be.

        Args:
            p: Shape (n, 10).
            B: By link, columns of B.
            values: Of what is searched.
        """
        matrices, sides, limits, at = [], [], [], 0
        width = sum(basis.shape[1] for basis in B.values())
        for i, basis in B.items():
            end = at + basis.shape[1]
            to_phi = self.arm.from_units[i]
            far = float(np.linalg.norm(self.arm.centre(i, values)[0] - self.arm.own[i][1]))
            margin = self._margin(i, far / self.arm.size)
            for constant, slopes in self._bodies(i, to_phi @ p[i], to_phi @ basis, margin):
                wide = np.zeros((width, 4, 4))
                wide[at:end] = slopes
                matrices.append(Matrix(constant, wide))
            for row in self._bounds(i, values):
                wide_row = np.zeros(width)
                wide_row[at:end] = row[:10] @ to_phi @ basis
                sides.append(wide_row)
                limits.append(row[10] - row[:10] @ to_phi @ p[i])
            at = end
        return Region(tuple(matrices), np.array(sides).reshape(len(sides), width), np.array(limits))

    def outside(self, i: int, p: Array, basis: Array, values: Array) -> bool:
        """Whether link i of ψ = p is out of its bounds and can change."""
        phi = self.arm.from_units[i] @ p
        return basis.shape[1] > 0 and any(
            row[:10] @ phi > row[10] + 2 * _SOLVER_SLACK for row in self._bounds(i, values)
        )

    def _margin(self, i: int, far: float) -> float:
        """The margin of link i whose centre of mass was put so far away, in units of the size.

        What is held may be thin already, and looks thinner from afar: seen from a distance d, the
        smallest eigenvalue falls by (√(d² + 4) - d)² / 4 at most.
        """
        if self.arm.numbers[i, 4:].all():
            return self.margin.least + _SOLVER_SLACK
        return min(self.margin.least, self._own(i) / 4) * (np.sqrt(far**2 + 4) - far) ** 2 / 4

    def _own(self, i: int) -> float:
        """The smallest eigenvalue of link i as it was, or zero."""
        own = np.tensordot(self.arm.start[i], self.arm.pseudo[i], axes=1)
        return max(float(np.linalg.eigvalsh(own)[0]), 0.0)

    def _bodies(
        self, i: int, phi: Array, slopes: Array, margin: float
    ) -> list[tuple[Array, Array]]:
        """Matrices that are positive semidefinite for bodies that exist with the margin."""
        if slopes.shape[1] == 0:
            return []
        unit = self.arm.pseudo[i]
        changes = np.tensordot(slopes.T, unit, axes=1)
        body = np.tensordot(phi, unit, axes=1)
        found = []
        if not self.arm.add_only or self._own(i) < margin:
            found.append((body - margin * np.eye(4), changes))
        kept = self._kept(i)
        if kept.any():
            share = slopes[0][:, None, None]
            found.append((body - phi[0] * kept, changes - share * kept))
        if self.arm.add_only:
            own = np.tensordot(self.arm.start[i], unit, axes=1)
            found.append((body - own, changes))
        return found

    def _kept(self, i: int) -> Array:
        """What the second moments about its centre of mass keep of link i, for each kilogram.

        A body J less a part S of its second moments is positive semidefinite if and only if those
        about its centre of mass are at least S, wherever that centre is.
        """
        mass = self.arm.start[i, 0]
        if self.arm.add_only or mass <= 0 or not self.arm.numbers[i, 4:].all():
            return np.zeros((4, 4))
        own = np.tensordot(self.arm.start[i], self.arm.pseudo[i], axes=1)
        own[3, :] = own[:, 3] = 0.0
        return self.margin.kept * own / mass

    def _bounds(self, i: int, values: Array) -> list[Array]:
        """Rows (g, h) of g φ ≤ h."""
        arm, rows = self.arm, []
        centre, unknown = arm.centre(i, values)
        for symbol, (low, high) in arm.variables.bounds.items():
            name, number = symbol.rstrip("0123456789"), int(symbol.lstrip("mxyzI"))
            k = NUMBERS.index(name)
            if number != i + 1 or (0 < k < 4 and not unknown[k - 1]):
                continue
            if k >= 4:
                row, scale = arm.tensor_row(k - 4, centre, unknown), np.zeros(10)
                unit = arm.mass[i] * arm.size**2
            else:
                row, scale = np.eye(10)[k], np.eye(10)[0] * (k > 0)
                unit = arm.mass[i] * (arm.size if k else 1.0)
            slack = _SOLVER_SLACK if low < high else 0.0
            for sign, limit in ((1.0, high), (-1.0, low)):
                if np.isfinite(limit):
                    side = sign * (row - limit * scale) / unit
                    rows.append(
                        np.append(side, sign * limit * (k in (0, *range(4, 10))) / unit - slack)
                    )
        return rows
