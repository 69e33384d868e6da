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
         plane (`inertia`)
    A5   last links are eliminated in their own axes, as constants, and turned afterwards

Fed floats it computes, fed nodes it is traced. References: R. Featherstone 2008, chapter 7;
S. McMillan and D. Orin 1995 for successive axial screws.
"""

from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.solve import Guard, check_pivots
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.canonical.regroup import Distribution, axis_in_parent, hand_down, slide_origin
from armdyn.shorten.minimal.axes import (
    ZERO,
    Scalar,
    Spatial,
    Vector,
    about_z,
    crossed,
    inner,
    plus,
    scaled,
)
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.inertia import XYZ, YZX, ZXY, Articulated, PlaneTurn, is_known_zero
from armdyn.shorten.minimal.link import MovingLink
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.torques import moving_links
from armdyn.shorten.minimal.wrench import Load, closed, handed_down


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
    joints = [
        (_ScrewJoint if link.link.type.slides and link.link.type.turns else _Joint)(link, rotor)
        for link, rotor in zip(links, rotors, strict=True)
    ]
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


class _Joint:
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
        self.link, self.rotor, self.load = link, rotor, Load()
        self.part = 1 if link.link.type.turns else 0
        """The part of six-vectors, whose linear part comes first, that the axis is in."""

    def eliminate(self, body: Articulated, tau: Scalar, guard: Guard, scale: Scalar) -> None:
        """Leave of inertia and wrench what the joint cannot give way to (A2)."""
        link, rotor, sign = self.link, self.rotor, self.link.link.sign
        U = body.column(self.part)
        inverse = self._inverse(U[self.part][2] + rotor, guard, scale)
        k = scaled(inverse, U[0]), scaled(inverse, U[1])
        row = scaled(rotor, k[0]), scaled(rotor, k[1])
        k, U = self._with_axis(k, 0.0), self._with_axis(U, 0.0)
        self.body = body.less(k, U).with_column(self.part, row)
        torque, load = closed(link, link.choice, link.fixed, self.load)
        u = sign * (tau - torque)
        self.push, self.lag = u * inverse, rotor * inverse
        if not link.rotated:
            k = about_z(link.turn, k[0]), about_z(link.turn, k[1])
        self.k = k
        wrench = plus(load.e, scaled(u, k[0])), plus(load.n, scaled(u, k[1]))
        e, n = self._with_axis(wrench, sign * tau - rotor * self.push)
        self.load = replace(load, e=e, n=n)

    def _inverse(self, D: Scalar, guard: Guard, scale: Scalar) -> Scalar:
        """1/D; an error where D is zero in every state."""
        if is_known_zero(D):
            check_pivots(np.zeros(1), [self.link.link.name])
        return 1.0 / guard(D, scale)

    def handed_down(self) -> Load:
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

    def accelerate(self, up: "_Joint | None") -> None:
        """Find q̈ and what it adds to the accelerations of the link."""
        a, w = self._carried_along(up) if up else (ZERO, ZERO)
        before = (a, w)[self.part][2]
        given = inner(self.k[0], a) + inner(self.k[1], w)
        after = self.push - given + self.lag * before
        self.qdd = after - before
        self.a, self.w = self._with_axis((a, w), after)

    def _carried_along(self, up: "_Joint") -> Spatial:
        """The accelerations that the parent alone gives, in the axes the link is computed in."""
        link = self.link
        x, y, z = link.link.across.tolist()
        a = link.axes.into(plus(up.a, crossed(up.w, (x, y, z))))
        w = link.axes.into(up.w)
        a = plus(a, crossed(w, (0.0, 0.0, link.slide)))
        return link.axes.own(a), link.axes.own(w)

    def _with_axis(self, v: Spatial, value: Scalar) -> Spatial:
        """A six-vector with another entry along the joint's axis."""
        (ax, ay, az), (bx, by, bz) = v
        return (
            ((ax, ay, value), (bx, by, bz)) if self.part == 0 else ((ax, ay, az), (bx, by, value))
        )


class _ScrewJoint(_Joint):
    """A joint that turns and slides: its axis is in both parts, so that no entry drops out."""

    def eliminate(self, body: Articulated, tau: Scalar, guard: Guard, scale: Scalar) -> None:
        """Leave of inertia and wrench what the joint cannot give way to."""
        link, kind = self.link, self.link.link.type
        along, about = body.column(0), body.column(1)
        f, n = (plus(scaled(kind.slide, along[k]), scaled(kind.turn, about[k])) for k in (0, 1))
        inverse = self._inverse(kind.combine(f[2], n[2]) + self.rotor, guard, scale)
        self.k = scaled(inverse, f), scaled(inverse, n)
        self.body = body.less(self.k, (f, n))
        torque, load = closed(link, link.choice, link.fixed, self.load)
        u = link.link.sign * (tau - torque)
        self.push = u * inverse
        e, n = plus(load.e, scaled(u, self.k[0])), plus(load.n, scaled(u, self.k[1]))
        self.load = replace(load, e=e, n=n)

    def accelerate(self, up: "_Joint | None") -> None:
        """Find q̈ and what it adds to the accelerations of the link."""
        a, w = self._carried_along(up) if up else (ZERO, ZERO)
        self.qdd = self.push - inner(self.k[0], a) - inner(self.k[1], w)
        kind = self.link.link.type
        self.a = plus(a, (0.0, 0.0, kind.slide * self.qdd))
        self.w = plus(w, (0.0, 0.0, kind.turn * self.qdd))
