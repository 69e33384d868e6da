"""Forward dynamics by articulated bodies with the fewest operations known.

The accelerations are those at q̈ = 0, gravity included, plus what q̈ adds, δa. The wrench of each
link with the former is that of `minimal`; only the latter meet articulated inertias I. With S, the
axis, U = I S, D = Sᵀ U + rotor, k = U/D, and p the wrench of the link with all that it carries,

    u = τ - Sᵀ p,   I_parent += Xᵀ (I - k Uᵀ) X,   p_parent += Xᵀ (p + k u)           inward
    δa = X δa_parent + S q̈,   q̈ = u/D - k · X δa_parent                               outward

so that velocities never meet an articulated inertia, and p is carried once. What makes it short:

    A1   inertia on a joint axis is handed to the parent (T1), and a second moment along the axis
         kept so that one diagonal entry of the tensor vanishes: nine entries to add for a link
    A2   without a rotor I - k Uᵀ has no row or column for its own axis, S is its kernel, and the
         torque itself is what p + k u has there
    A3   origins lie where offsets along the axis are left to the links carried, so that the
         acceleration of the axis is not carried
    A4   turns about z and x, in pairs of components, and three products less for each block of the
         plane (`PlaneTurn`)
    A5   last links are eliminated in their own axes, as constants, and turned afterwards

Fed floats it computes, fed nodes it is traced. References: R. Featherstone 2008, chapter 7;
S. McMillan and D. Orin 1995 for successive axial screws.
"""

from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.solve import Guard, check_pivots
from armdyn.loops.values import Pair
from armdyn.shorten.canonical.frames import CanonicalRobot, cos_sin, is_quarter
from armdyn.shorten.canonical.regroup import (
    Distribution,
    axis_in_parent,
    hand_down,
    is_zero,
    slide_origin,
)
from armdyn.shorten.minimal.axes import (
    ZERO,
    Rows,
    Scalar,
    Spatial,
    Vector,
    about_z,
    both,
    crossed,
    inner,
    mirrored,
    multiple,
    plus,
    power,
    scaled,
    summed,
    turned,
)
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.torques import LinkLoad, MovingLink, closed, handed_down, moving_links

Cycle = tuple[int, int, int]

XYZ: Cycle = (0, 1, 2)
YZX: Cycle = (1, 2, 0)
ZXY: Cycle = (2, 0, 1)


@record
class PlaneTurn:
    """The cos and sin of a rotation in a plane, which may be constant, and so of quarter turns.

    It mixes entries of an inertia in pairs, but for the block A of the plane itself, of which with
    h = (A_xx - A_yy) S + (A_xy + A_yx) C

        A_xx' = A_xx - h S,   A_yy' = A_yy + h S,   A_xy' = h C - A_yx,   A_yx' = h C - A_xy.
    """

    pair: Pair
    constant: bool = False
    quarter: bool = False

    @classmethod
    def fixed(cls, angle: Scalar) -> "PlaneTurn":
        """A turn by a constant angle."""
        return cls(cos_sin(angle), True, is_quarter(angle))

    def block(self, A: Rows, x: int, y: int) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """Entries xx, xy, yx, yy of the block of the plane, turned."""
        xx = A[x][x]
        xy = A[x][y]
        yx = A[y][x]
        yy = A[y][y]
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


@record
class Articulated:
    """An articulated inertia about an origin in some axes; both halves of M and J are kept.

    Force and moment at the origin that an acceleration a and an angular acceleration w' need are
    f = M a + Hᵀ w' and n = H a + J w', with M and J symmetric and H arbitrary. Entries that are
    known to be zero stay so, and cost nothing where the others are nodes.
    """

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
        M = self.M
        G = self.H
        H = [row[:] for row in self.H]
        J = [row[:] for row in self.J]
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

        M = without(self.M, k[0], U[0])
        J = without(self.J, k[1], U[1])
        return Articulated(mirrored(M), without(self.H, k[1], U[0]), mirrored(J))


def is_known_zero(value: Scalar) -> bool:
    """Whether a value is zero in every state."""
    return not isinstance(value, np.ndarray) and is_zero(value)


def minimal_articulated_body(
    robot: CanonicalRobot,
    q: Array,
    qd: Array,
    tau: Array,
    rotors: Array,
    guard: Guard = lambda pivot, scale: pivot,
    choices: Choices | None = None,
) -> Array:
    """Joint accelerations, (..., N), of a tree of links in canonical frames.

    The torques are less friction and less those that hold external wrenches [N m or N]; the rotors
    are inertias felt at the joints, (N,). The guard gets each D and a constant scale for it, and
    returns the D to divide by: of a revolute joint the scale is the sum of the moments about their
    axes of all links beyond it, each with what it carries hung at its joints; of a slide that of
    their masses. Of the choices those of origins matter; without choices every joint that turns
    passes on.
    """
    for i, link in enumerate(robot.links):
        passes_on = link.type.turns if choices is None else choices.links[i].passes_on
        if passes_on or i not in robot.parents:
            robot = slide_origin(robot, i)  # (A3)
    links = moving_links(robot, options(robot).start, q, qd, 0.0)
    bodies = _bodies(robot)
    scales = _scales(robot, bodies)
    joints = [_ReleasedJoint(link, rotor) for link, rotor in zip(links, rotors, strict=True)]
    for i, joint in reversed(list(enumerate(joints))):
        joint.eliminate(bodies[i], tau[..., i][()], guard, scales[i])
        up = robot.links[i].parent
        if up >= 0:
            bodies[up] = bodies[up].plus(joint.carried())
            joints[up].load = joints[up].load.plus(joint.handed_down())
    for joint, link in zip(joints, robot.links, strict=True):
        joint.accelerate(joints[link.parent] if link.parent >= 0 else None)
    qdd = [joint.link.link.sign * joint.qdd for joint in joints]
    return np.stack([np.broadcast_to(value, q.shape[:-1]) for value in qdd], -1)


def _bodies(robot: CanonicalRobot) -> list[Articulated]:
    """The inertia of each link, with as few entries as gauges allow (A1).

    A rod along the axis, which both links of a joint may have, clears the moment about y.
    """
    robot = hand_down(robot)
    bodies = [Distribution.of(link) for link in robot.links]
    for link, mine in reversed(list(zip(robot.links, bodies, strict=True))):
        onto = bodies[link.parent] if link.parent >= 0 else None
        bare = onto is not None and not robot.links[link.parent].type.turns
        if bare or not link.type.turns:
            continue
        if onto is not None:
            k = axis_in_parent(link)[0]
            onto.J = onto.J + (mine.J[0, 0] + mine.J[2, 2]) * np.outer(k, k)
        mine.J[2, 2] = -mine.J[0, 0]
    return [Articulated.of(mine.J, mine.u, mine.M) for mine in bodies]


def _scales(robot: CanonicalRobot, bodies: list[Articulated]) -> list[Scalar]:
    """What each D is compared with."""
    masses, moments = ([getattr(body, of)[2][2] for body in bodies] for of in "MJ")
    for i, link in reversed(list(enumerate(robot.links))):
        if link.parent >= 0:
            masses[link.parent] = masses[link.parent] + masses[i]
            moments[link.parent] = moments[link.parent] + moments[i]
    return [
        link.type.slide**2 * mass + link.type.turn**2 * moment
        for link, mass, moment in zip(robot.links, masses, moments, strict=True)
    ]


class _ReleasedJoint:
    """A joint on the way inward, where its motion is eliminated, and outward, where it is found."""

    body: Articulated
    """What resists beyond the joint, free to move."""
    k: Spatial
    """U/D in the axes the link is computed in, without the entry of the joint's own axis."""
    push: Scalar
    """u/D."""
    lag: Scalar
    """rotor/D: 1 less the entry of k for the joint's own axis."""
    a: Vector
    w: Vector
    """What q̈ adds to the acceleration of the origin and to the angular one."""
    qdd: Scalar

    def __init__(self, link: MovingLink, rotor: Scalar):
        self.link = link
        self.rotor = rotor
        self.load = LinkLoad()
        kind = link.link.type
        self.part = None if kind.turns and kind.slides else int(kind.turns)
        """The part of six-vectors, whose linear part comes first, that the axis is in; None: that
        of a screw is in both, so that no entry drops out."""

    def eliminate(self, body: Articulated, tau: Scalar, guard: Guard, scale: Scalar) -> None:
        """Leave of inertia and wrench what the joint cannot give way to (A2)."""
        link = self.link
        rotor = self.rotor
        sign = self.link.link.sign
        U = self._resistance(body)
        D = link.link.type.combine(U[0][2], U[1][2]) if self.part is None else U[self.part][2]
        D = D + rotor
        if is_known_zero(D):  # in every state
            check_pivots(np.zeros(1), [self.link.link.name])
        inverse = 1.0 / guard(D, scale)
        k = multiple(inverse, U)
        if self.part is None:
            self.body = body.less(k, U)
        else:
            row = multiple(rotor, k)
            k, U = self._with_axis(k, 0.0), self._with_axis(U, 0.0)
            self.body = body.less(k, U).with_column(self.part, row)
        torque, load = closed(link, link.choice, link.fixed, self.load)
        u = sign * (tau - torque)
        self.push, self.lag = u * inverse, rotor * inverse
        if not link.rotated:
            k = about_z(link.turn, k[0]), about_z(link.turn, k[1])
        self.k = k
        wrench = both((load.e, load.n), multiple(u, k))
        e, n = self._with_axis(wrench, sign * tau - rotor * self.push)
        self.load = replace(load, e=e, n=n)

    def _resistance(self, body: Articulated) -> Spatial:
        """I S: force and moment of a unit acceleration of the joint."""
        if self.part is not None:
            return body.column(self.part)
        kind = self.link.link.type
        along = body.column(0)
        about = body.column(1)
        return both(multiple(kind.slide, along), multiple(kind.turn, about))

    def handed_down(self) -> LinkLoad:
        """The wrench, about the origin of the parent."""
        return handed_down(self.link, self.link.choice, self.link.fixed, self.load)

    def carried(self) -> Articulated:
        """What resists beyond the joint, in the axes and about the origin of the parent (A4)."""
        link = self.link.link
        turn = PlaneTurn(self.link.turn) if link.type.turns else PlaneTurn.fixed(link.theta)
        body = self.body.turned(turn).moved(self.link.slide, XYZ)
        body = body.turned(PlaneTurn.fixed(link.alpha), YZX).turned(PlaneTurn.fixed(link.gamma))
        for offset, axes in zip(link.across.tolist(), (YZX, ZXY, XYZ), strict=True):
            body = body.moved(offset, axes)
        return body

    def accelerate(self, up: "_ReleasedJoint | None") -> None:
        """Find q̈ and what it adds to the accelerations of the link."""
        a, w = self._carried_along(up) if up else (ZERO, ZERO)
        if self.part is None:
            kind = self.link.link.type
            self.qdd = self.push - inner(self.k[0], a) - inner(self.k[1], w)
            self.a = plus(a, (0.0, 0.0, kind.slide * self.qdd))
            self.w = plus(w, (0.0, 0.0, kind.turn * self.qdd))
            return
        before = (a, w)[self.part][2]
        after = self.push - power(self.k, (a, w)) + self.lag * before
        self.qdd = after - before
        self.a, self.w = self._with_axis((a, w), after)

    def _carried_along(self, up: "_ReleasedJoint") -> Spatial:
        """The accelerations that the parent alone gives, in the axes the link is computed in."""
        link = self.link
        x, y, z = link.link.across.tolist()
        a = link.axes.into(plus(up.a, crossed(up.w, (x, y, z))))
        w = link.axes.into(up.w)
        a = plus(a, crossed(w, (0.0, 0.0, link.slide)))
        return link.axes.own(a), link.axes.own(w)

    def _with_axis(self, v: Spatial, value: Scalar) -> Spatial:
        """A six-vector with another entry along the joint's axis, unless that is in both parts."""
        (ax, ay, az), (bx, by, bz) = v
        return (ax, ay, value if self.part == 0 else az), (bx, by, value if self.part == 1 else bz)
