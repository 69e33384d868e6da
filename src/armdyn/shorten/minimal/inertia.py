"""An articulated inertia by its distinct entries, moved between axes a plane at a time.

Force and moment at the origin that an acceleration a and an angular acceleration w' need:

    f = M a + Hᵀ w',    n = H a + J w'

with M and J symmetric and H arbitrary. A turn in a plane mixes entries in pairs, but for the block
A of the plane itself, of which with h = (A_xx - A_yy) S + (A_xy + A_yx) C

    A_xx' = A_xx - h S,   A_yy' = A_yy + h S,   A_xy' = h C - A_yx,   A_yx' = h C - A_xy.

Entries that are known to be zero stay so, and cost nothing where the others are nodes.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.shorten.canonical.frames import cos_sin, is_quarter
from armdyn.shorten.canonical.regroup import is_zero
from armdyn.shorten.minimal.axes import (
    Pair,
    Rows,
    Scalar,
    Spatial,
    Vector,
    mirrored,
    scaled,
    summed,
    turned,
)

Cycle = tuple[int, int, int]

XYZ: Cycle = (0, 1, 2)
YZX: Cycle = (1, 2, 0)
ZXY: Cycle = (2, 0, 1)


@dataclass(frozen=True, slots=True)
class PlaneTurn:
    """The cos and sin of a rotation in a plane, which may be constant, and so of quarter turns."""

    pair: Pair
    constant: bool = False
    quarter: bool = False

    @classmethod
    def fixed(cls, angle: Scalar) -> "PlaneTurn":
        """A turn by a constant angle."""
        return cls(cos_sin(angle), True, is_quarter(angle))

    def block(self, A: Rows, x: int, y: int) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """Entries xx, xy, yx, yy of the block of the plane, turned."""
        xx, xy, yx, yy = A[x][x], A[x][y], A[y][x], A[y][y]
        C, S = self.pair
        if self.quarter:
            CC, SS = C * C, S * S
            return CC * xx + SS * yy, CC * xy - SS * yx, CC * yx - SS * xy, SS * xx + CC * yy
        e, C2 = (xy, C + C) if xy is yx else (xy + yx, C)
        if self.constant:
            h = (xx - yy) + e * (C2 / S)
            hS, hC = h * (S * S), h * (S * C)
        else:
            h = (xx - yy) * S + e * C2
            hS, hC = h * S, h * C
        return xx - hS, hC - yx, hC - xy, yy + hS


@dataclass(frozen=True, slots=True)
class Articulated:
    """An articulated inertia about an origin in some axes; both halves of M and J are kept."""

    M: Rows
    H: Rows
    J: Rows

    @classmethod
    def of(cls, J: Array, u: Array, m: Scalar) -> "Articulated":
        """The inertia of a rigid link with second moment J, first moment u and mass m."""
        x, y, z = u
        diagonal = J[1, 1] + J[2, 2], J[0, 0] + J[2, 2], J[0, 0] + J[1, 1]
        return cls(
            [[m if a == b else 0.0 for b in range(3)] for a in range(3)],
            [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]],
            mirrored([[diagonal[a] if a == b else -J[a, b] for b in range(3)] for a in range(3)]),
        )

    def plus(self, other: "Articulated") -> "Articulated":
        """The sum of two inertias in the same axes."""
        M, H, J = (
            summed(A, B) for A, B in ((self.M, other.M), (self.H, other.H), (self.J, other.J))
        )
        return Articulated(mirrored(M), H, mirrored(J))

    def turned(self, turn: PlaneTurn, axes: Cycle = XYZ) -> "Articulated":
        """In axes turned back in the plane of the first two of `axes`."""
        x, y, z = axes
        M, H, J = ([row[:] for row in A] for A in (self.M, self.H, self.J))
        for A in (M, H, J):
            symmetric = A is not H
            A[x][x], A[x][y], A[y][x], A[y][y] = turn.block(A, x, y)
            A[x][z], A[y][z] = turned(turn.pair, A[x][z], A[y][z])
            below = (A[x][z], A[y][z]) if symmetric else turned(turn.pair, A[z][x], A[z][y])
            A[z][x], A[z][y] = below
        return Articulated(M, H, J)

    def moved(self, p: Scalar, axes: Cycle) -> "Articulated":
        """About an origin that sees this one at p along the last of `axes`.

        With P the matrix of p ×, H' = H + P M and J' = J + P Hᵀ + H' Pᵀ.
        """
        if is_known_zero(p):
            return self
        x, y, z = axes
        M, G, H, J = self.M, self.H, [row[:] for row in self.H], [row[:] for row in self.J]
        H[x] = [h - p * m for h, m in zip(G[x], M[y], strict=True)]
        H[y] = [h + p * m for h, m in zip(G[y], M[x], strict=True)]
        J[x][x] = J[x][x] - p * (G[x][y] + H[x][y])
        J[y][y] = J[y][y] + p * (G[y][x] + H[y][x])
        J[x][y] = J[y][x] = J[x][y] + p * (H[x][x] - G[y][y])
        J[x][z] = J[z][x] = J[x][z] - p * H[z][y]
        J[y][z] = J[z][y] = J[y][z] + p * H[z][x]
        return Articulated(M, H, J)

    def column(self, part: int) -> Spatial:
        """Force and moment of a unit acceleration along z (part 0) or about it (part 1)."""
        f, n = (self.M[2], [row[2] for row in self.H]) if part == 0 else (self.H[2], self.J[2])
        return (f[0], f[1], f[2]), (n[0], n[1], n[2])

    def with_column(self, part: int, column: Spatial) -> "Articulated":
        """The same with another such column, and row."""
        M, H, J = ([row[:] for row in A] for A in (self.M, self.H, self.J))
        f, n = column
        A, own = (M, f) if part == 0 else (J, n)
        A[2] = list(own)
        A[0][2], A[1][2] = own[:2]
        if part == 0:
            for row, entry in zip(H, n, strict=True):
                row[2] = entry
        else:
            H[2] = list(f)
        return Articulated(M, H, J)

    def less(self, k: Spatial, U: Spatial) -> "Articulated":
        """Less k Uᵀ, k being a multiple of U."""

        def without(A: Rows, v: Vector, w: Vector) -> Rows:
            return [
                [entry - product for entry, product in zip(row, scaled(factor, w), strict=True)]
                for row, factor in zip(A, v, strict=True)
            ]

        M, J = without(self.M, k[0], U[0]), without(self.J, k[1], U[1])
        return Articulated(mirrored(M), without(self.H, k[1], U[0]), mirrored(J))


def is_known_zero(value: Scalar) -> bool:
    """Whether a value is zero in every state."""
    return not isinstance(value, np.ndarray) and is_zero(value)
