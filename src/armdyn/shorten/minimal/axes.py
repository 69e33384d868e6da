"""Axes on the way from a link to the next: the parent's, those on the joint, the link's own.

The joint's axes are those after the constant twist and before the rotation; with the tangent form
(T10) they are the link's own.

Vectors are tuples, and no arrays as in `armdyn.formulations.spatial`, because a search writes them
thousands of times: a cross product of values takes 1 µs so, and 6 µs along axes of arrays.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.arrays import record
from armdyn.loops.values import Pair
from armdyn.shorten.canonical.frames import CanonicalLink, cos_sin, is_quarter

Scalar = Any
Vector = tuple[Scalar, Scalar, Scalar]
Matrix = Sequence[Sequence[Scalar]]
"""Rows; of tuples where it serves as a key."""
Rows = list[list[Scalar]]
Spatial = tuple[Vector, Vector]
"""A linear and an angular part, or a force and a moment about the origin."""
ZERO: Vector = (0.0, 0.0, 0.0)


@record
class JointAngle:
    """A sum of joint angles and quarter turns."""

    argument: Scalar
    quarters: int

    @classmethod
    def of(cls, q: Scalar, theta: Scalar) -> "JointAngle":
        """The angle q + θ; a θ of whole quarter turns costs nothing."""
        if is_quarter(theta):
            return cls(q, round(theta / (np.pi / 2)))
        return cls(q + theta, 0)

    def plus(self, other: "JointAngle") -> "JointAngle":
        """The sum of two angles."""
        return JointAngle(self.argument + other.argument, self.quarters + other.quarters)

    def cos_sin(self) -> Pair:
        """Its cosine and sine."""
        c, s = np.cos(self.argument), np.sin(self.argument)
        return ((c, s), (-s, c), (-c, -s), (s, -c))[self.quarters % 4]


NO_TURN: Pair = (1.0, 0.0)


def turned(turn: Pair, x: Scalar, y: Scalar) -> Pair:
    """The pair turned forward by an angle."""
    c, s = turn
    return c * x - s * y, s * x + c * y


def turned_back(turn: Pair, x: Scalar, y: Scalar) -> Pair:
    """The pair turned back by an angle."""
    c, s = turn
    return c * x + s * y, c * y - s * x


@record
class Axes:
    """The rotations of one joint."""

    gamma: Pair
    alpha: Pair
    turn: Pair
    """cos and sin from the joint's axes to those the link is computed in."""
    tangent: Pair | None
    """For the tangent form: the cos and sin of the joint, which `into` then includes."""

    @classmethod
    def of(cls, link: CanonicalLink, turn: Pair, rotated: bool, tangent: bool) -> "Axes":
        """The axes of a link that turns by a given cos and sin."""
        if tangent:
            return cls(cos_sin(link.gamma), cos_sin(link.alpha), NO_TURN, turn)
        own = turn if rotated else NO_TURN
        return cls(cos_sin(link.gamma), cos_sin(link.alpha), own, None)

    def into(self, v: Vector) -> Vector:
        """A vector of the parent, in the joint's axes."""
        x, y = turned_back(self.gamma, v[0], v[1])
        z, (ca, sa) = v[2], self.alpha
        if self.tangent is None:
            return x, *turned_back(self.alpha, y, z)
        C, S = self.tangent
        sum_ = y + (sa / ca) * z
        return C * x + (ca * S) * sum_, (ca * C) * sum_ - S * x, ca * z - sa * y

    def out_of(self, v: Vector) -> Vector:
        """A vector in the joint's axes, in those of the parent."""
        x, y, z = v
        ca, sa = self.alpha
        if self.tangent is None:
            y, z = turned(self.alpha, y, z)
        else:
            C, S = self.tangent
            level = (ca * S) * x + (ca * C) * y
            x = C * x - S * y
            y = level - sa * z
            z = (sa / ca) * level + ca * z
        return *turned(self.gamma, x, y), z

    def axis(self) -> Vector:
        """The joint axis in the parent."""
        ca, sa = self.alpha
        return *turned(self.gamma, 0.0, -sa), ca

    def own(self, v: Vector) -> Vector:
        """A vector in the joint's axes, in those of the link."""
        return *turned_back(self.turn, v[0], v[1]), v[2]

    def on_joint(self, v: Vector) -> Vector:
        """A vector in the axes of the link, in those of the joint."""
        return about_z(self.turn, v)


def about_z(turn: Pair, v: Vector) -> Vector:
    """A vector turned forward about z."""
    return *turned(turn, v[0], v[1]), v[2]


def plus(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def less(a: Vector, b: Vector) -> Vector:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(s: Scalar, v: Vector) -> Vector:
    """s v."""
    return s * v[0], s * v[1], s * v[2]


def crossed(a: Vector, b: Vector) -> Vector:
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def inner(a: Vector, b: Vector) -> Scalar:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def applied(A: Matrix, v: Vector) -> Vector:
    """A v."""
    (a, b, c), (d, e, f), (g, h, i) = A
    x, y, z = v
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


def both(x: Spatial, y: Spatial) -> Spatial:
    """x + y."""
    return plus(x[0], y[0]), plus(x[1], y[1])


def multiple(s: Scalar, x: Spatial) -> Spatial:
    """s x."""
    return scaled(s, x[0]), scaled(s, x[1])


def power(wrench: Spatial, motion: Spatial) -> Scalar:
    """The power of a wrench in a motion."""
    return inner(wrench[0], motion[0]) + inner(wrench[1], motion[1])


def summed(A: Matrix, B: Matrix) -> Rows:
    """A + B."""
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]


def mirrored(A: Matrix) -> Rows:
    """The matrix with its upper half below the diagonal too, so that both are one expression."""
    return [[A[min(a, b)][max(a, b)] for b in range(3)] for a in range(3)]


def moved_moment(J: Matrix, u: Vector, Md: Vector, d: Vector) -> Rows:
    """The second moment of a mass about the origin that sees the present one at d; Md is M d."""
    return mirrored(
        [[J[a][b] + (u[a] * d[b] + d[a] * u[b]) + Md[a] * d[b] for b in range(3)] for a in range(3)]
    )


def plane_turned(
    A: Matrix,
    turn: Pair,
    plane: tuple[int, int, int],
    symmetric: bool = False,
    quarter: bool = False,
) -> Rows:
    """R A Rᵀ for a rotation, perhaps by quarter turns, in the plane of two of three axes."""
    x, y, z = plane
    C, S = turn
    a = A[x][x]
    b = A[x][y]
    c = A[x][y] if symmetric else A[y][x]
    d = A[y][y]
    new = [[*row] for row in A]
    if quarter:
        new[x][x], new[x][y], new[y][x], new[y][y] = (a, b, c, d) if C else (d, -c, -b, a)
    else:
        h = (a - d) * S + (b + c) * C
        new[x][x], new[y][y] = a - (hS := h * S), d + hS
        new[x][y], new[y][x] = (hC := h * C) - c, hC - b
    new[x][z], new[y][z] = turned(turn, A[x][z], A[y][z])
    new[z][x], new[z][y] = new[x][z], new[y][z]
    if not symmetric:
        new[z][x], new[z][y] = turned(turn, A[z][x], A[z][y])
    return new


@record
class CompositeBody:
    """Links that are frozen to each other: a mass distribution about an origin in some axes."""

    J: Rows
    u: Vector
    M: Scalar
    spin: Scalar
    """Jxx + Jyy, which no rotation about z changes."""

    @classmethod
    def of(cls, link: CanonicalLink) -> "CompositeBody":
        """A link alone, in its own axes."""
        J: Rows = link.J.tolist()
        x, y, z = link.u.tolist()
        return cls(J, (x, y, z), link.M, J[0][0] + J[1][1])

    def plus(self, other: "CompositeBody") -> "CompositeBody":
        """Both together."""
        J, u = summed(self.J, other.J), plus(self.u, other.u)
        return CompositeBody(J, u, self.M + other.M, self.spin + other.spin)

    def moved(self, p: Vector) -> "CompositeBody":
        """About the origin that sees this one at p."""
        u, Mp = self.u, scaled(self.M, p)
        J = moved_moment(self.J, u, Mp, p)
        up = u[0] * p[0] + u[1] * p[1]
        spin = self.spin + (up + up) + (Mp[0] * p[0] + Mp[1] * p[1])
        return CompositeBody(J, plus(u, Mp), self.M, spin)

    def turned(
        self, turn: Pair, axes: tuple[int, int, int] = (0, 1, 2), quarter: bool = False
    ) -> "CompositeBody":
        """In axes turned back, perhaps by quarter turns, in the plane of the first two."""
        x, y, z = axes
        J = plane_turned(self.J, turn, axes, symmetric=True, quarter=quarter)
        u = list(self.u)
        u[x], u[y] = turned(turn, self.u[x], self.u[y])
        same = z == 2 or (quarter and not turn[1])
        spin = self.spin if same else J[0][0] + J[1][1]
        return CompositeBody(J, (u[0], u[1], u[2]), self.M, spin)

    def times(self, x: Spatial) -> Spatial:
        """The momentum of a velocity."""
        (v, w), J, u = x, self.J, self.u
        spin = J[1][1] + J[2][2], J[0][0] + J[2][2], J[0][0] + J[1][1]
        moment = (
            spin[0] * w[0] - J[0][1] * w[1] - J[0][2] * w[2],
            spin[1] * w[1] - J[0][1] * w[0] - J[1][2] * w[2],
            spin[2] * w[2] - J[0][2] * w[0] - J[1][2] * w[1],
        )
        return plus(scaled(self.M, v), crossed(w, u)), plus(moment, crossed(u, v))
