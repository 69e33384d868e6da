"""The mass matrix by composite bodies on base parameters, with parallel joints merged.

Link i and all it carries, frozen, have second moment J, first moment u and mass M about O_i. A unit
acceleration of joint i alone needs at O_i

    f = Z×u, n = (-Jxz, -Jyz, Jxx + Jyy)   (revolute)        f = M Z, n = u×Z   (prismatic)

and column i of the mass matrix is this wrench carried down and projected on each axis. Everything
is held in the first axes of each group of parallel joints, so that between the links of a group
nothing is rotated; inertia on the axes has been handed down (T1), which leaves M = 0 on every
revolute chain. Reference: M. Walker and D. Orin 1982, method 3.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import matrix_from_entries
from armdyn.shorten.canonical.frames import CanonicalRobot, cos_sin, is_quarter
from armdyn.shorten.canonical.regroup import hand_down
from armdyn.shorten.minimal.axes import (
    ZERO,
    Axes,
    CompositeBody,
    JointAngle,
    Scalar,
    Vector,
    about_z,
    crossed,
    plus,
    turned,
)
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.constants import moved_origins
from armdyn.shorten.minimal.options import is_flat


def minimal_mass_matrix(robot: CanonicalRobot, q: Array, choices: Choices | None = None) -> Array:
    """Mass matrix of the links (without rotors) at q (..., N), shape (..., N, N).

    Of the choices those of origins and regrouping matter.
    """
    robot = hand_down(robot if choices is None else moved_origins(robot, choices))
    joints: list[_CarryingJoint] = []
    for i, link in enumerate(robot.links):
        value = link.sign * np.asarray(q)[..., i][()]
        joints.append(_CarryingJoint(robot, i, value, joints))
    N = len(robot.links)
    M: dict[tuple[int, int], Scalar] = {}
    for i in reversed(range(N)):
        body = joints[i].composite()
        for j, value in joints[i].column(body):
            M[i, j] = M[j, i] = robot.links[i].sign * robot.links[j].sign * value
        joints[i].hand_down(body)
    return matrix_from_entries(M, N, q.shape[:-1])


class _CarryingJoint:
    """A joint at one position, with what its link carries."""

    def __init__(self, robot: CanonicalRobot, i: int, q: Scalar, before: list["_CarryingJoint"]):
        self.index = i
        self.link = robot.links[i]
        link = self.link
        up = before[self.link.parent] if self.link.parent >= 0 else None
        self.up = up
        self.planar: bool = up is None or (up.planar and is_flat(robot, i))
        """Whether all axes up to it are parallel: then only what is about z counts, and the shorter
        way is through the axes of each link."""
        self.flat = up is not None and is_flat(robot, i) and not up.planar
        """Whether its first axes are those of its parent."""
        step = JointAngle.of(link.type.angle(q), link.theta)
        self.axes = Axes.of(link, step.cos_sin(), rotated=True, tangent=False)
        self.whole: JointAngle = up.whole.plus(step) if up and self.flat else step
        self.angle = self.whole.cos_sin()
        """cos and sin from the first axes of the group to the link."""
        self.slide = link.r + link.type.travel(q)
        x, y, z = link.across.tolist()
        self.step: Vector = (x, y, z)
        """From the parent's origin to this one, for flat joints in the parent's first axes."""
        if up and self.flat:
            self.step = (*turned(up.angle, x, y), z + self.slide)
        self.own = CompositeBody.of(link)
        """The link and what it carries on other axes, in its own axes."""
        self.first = CompositeBody([[0.0] * 3 for _ in range(3)], ZERO, 0.0, 0.0)
        """What it carries on parallel axes, in the first axes."""

    def composite(self) -> CompositeBody:
        """The link and all it carries, in the first axes, about its origin."""
        return self.own.turned(self.angle).plus(self.first)

    def column(self, body: CompositeBody) -> list[tuple[int, Scalar]]:
        """Entries (j, M_ij) of the joints that carry this one, its own included."""
        x, y, _ = body.u
        combine = self.link.type.combine
        f: Vector = combine(0.0, -y), combine(0.0, x), combine(body.M, 0.0)
        n: Vector = combine(y, -body.J[0][2]), combine(-x, -body.J[1][2]), combine(0.0, body.spin)
        entries, at = [], self
        while True:
            entries.append((at.index, at.link.type.combine(f[2], n[2])))
            if at.up is None:
                return entries
            if at.flat:
                n = plus(n, crossed(at.step, f))
            else:
                n = plus(n, crossed((0.0, 0.0, at.slide), f))
                f, n = at.axes.out_of(f), at.axes.out_of(n)
                n = plus(n, crossed(at.step, f))
                f, n = about_z(at.up.angle, f), about_z(at.up.angle, n)
            at = at.up

    def hand_down(self, body: CompositeBody) -> None:
        """Add the composite body to the parent."""
        up, link = self.up, self.link
        if up is None:
            return
        if self.flat:
            up.first = up.first.plus(body.moved(self.step))
            return
        body = body.moved((0.0, 0.0, self.slide))
        quarter = is_quarter(link.alpha) and is_quarter(link.gamma)
        body = body.turned(cos_sin(link.alpha), (1, 2, 0), quarter)
        body = body.turned(cos_sin(link.gamma), quarter=quarter)
        up.own = up.own.plus(body.moved(self.step))
