"""Base parameters: inertia that only acts together, gathered on one link.

A mass distribution that lies on the axis of a revolute joint moves with both links of the joint, so
it may be handed to the parent without changing any torque: Jzz, MZ and M of link j become

    J += Jzz k kᵀ + MZ (k pᵀ + p kᵀ) + M p pᵀ,   u += MZ k + M p,   M += M

on the parent, k and p being direction and position of the axis there. Both sides of a prismatic
joint turn together, so it hands down the whole of J. Done from the tips to the base, a revolute
link keeps seven numbers (Jxx, Jyy, Jxy, Jxz, Jyz, MX, MY), a prismatic one four (MX, MY, MZ, M).

Links that have turned about one direction d only keep less: of J what resists turning about d, of
u what is normal to d; without any turning, M alone. A slide along d carries no first moment of its
own. A link whose joints all turn about one line along gravity, or all about one point without any
gravity, has no first moment either: its origin can be put where nothing accelerates it. What is
left is as many numbers as the regressor has independent columns (Gautier and Khalil 1990; Mayeda,
Yoshida and Osuka 1990) for every geometry that was compared, on numbers and on nodes alike.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen, record
from armdyn.graph.nodes import Node, is_number
from armdyn.model.transform import rotation_z
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE
from armdyn.shorten.canonical.model import CanonicalLink, CanonicalRobot, cos_sin, is_quarter, twist

Z = frozen([0.0, 0.0, 1.0])


@record
class Turning:
    """What a link has gone through, from the base up to its own joint, seen from its frame."""

    directions: int
    """About how many directions it has turned: 0, 1, or 2 for more than one."""
    direction: Array
    """The one direction, where there is one."""
    gravity: Array
    """The field of gravity before any turning, and arbitrary numbers for nodes [m/s²]."""
    slides: tuple[Array, ...]
    """Directions of all slides."""
    rests: Array | None
    """For a turning link, a point on its axis that no joint accelerates but along that axis, and
    gravity neither; for a sliding link, where that point of the link before it is. Shape (2, 3):
    with arbitrary numbers for nodes, and with the nodes. None: there is none."""
    reach: float
    """Sum of all lengths, which tells what is rounding of them [m]."""

    @classmethod
    def of_all(cls, robot: CanonicalRobot) -> "list[Turning]":
        """What each link has gone through."""
        base = cls(0, np.zeros(3), np.zeros(3), (), zeros(2, 3), 0.0)
        found: list[Turning] = []
        for i, link in enumerate(robot.links):
            before = found[link.parent] if link.parent >= 0 else base
            found.append(before.through(link, i))
        return found

    def through(self, link: CanonicalLink, j: int) -> "Turning":
        """The same one joint later."""
        R = rest_rotation(link)
        if R.dtype == object or (self.directions == 2 and self.rests is None):
            return replace(self, directions=2, rests=None)
        across, (r,) = _generic(link.across, j), _generic([link.r], j + 0.5)
        gravity = _generic(link.gravity, j) if link.parent < 0 else self.gravity
        d, g, *slides = (R.T @ v for v in (self.direction, gravity, *self.slides))
        rests = self.rests
        if rests is not None:
            offsets = [*zip((across, r), (link.across, link.r), strict=True)]
            rests = (rests - np.array(offsets[0], dtype=object)) @ R - np.outer(offsets[1], Z)
        reach = self.reach + float(np.linalg.norm(across)) + abs(r)
        if link.type.slides:
            slides.append(Z)
        if not link.type.turns:
            return Turning(self.directions, d, g, tuple(slides), rests, reach)
        if self.directions == 0:
            directions = 1
            d = Z
            rests = zeros(2, 3)
        else:
            directions = 1 if self.directions == 1 and parallel(d, Z) else 2
        after = Turning(directions, d, g, tuple(slides), rests, reach)
        return replace(after, rests=after._at_rest(self.directions))

    def _at_rest(self, before: int) -> Array | None:
        """The point of the axis, now that the joint has turned, that is still at rest."""
        if self.rests is None:
            return None
        if self.directions == 1:
            forces = all(parallel(v, Z) for v in (self.gravity, *self.slides))
            return zeros(2, 3) if forces and self._meets(self.rests) else None
        if self.slides or self.gravity.any():
            return None
        point = self.rests
        if before == 1:
            along = self.direction
            share = point[:, :2] @ along[:2] / (along[:2] @ along[:2])
            point = point - np.outer(share, along)
        if not self._meets(point):
            return None
        on_axis = zeros(2, 3)
        if abs(point[0, 2]) > ZERO_TOLERANCE * self.reach:
            on_axis[:, 2] = point[:, 2]
        return on_axis

    def _meets(self, point: Array) -> bool:
        """Whether a point is on the z axis."""
        return math.hypot(*point[0, :2]) <= ZERO_TOLERANCE * self.reach


def _generic(values: Iterable[Any], key: float) -> Array:
    """The values with arbitrary numbers, others for another key, for entries that are nodes."""
    return np.array(
        [
            float(v) if isinstance(v, int | float) else 0.7 + math.sin(1.3 + key + 7.1 * k) ** 2
            for k, v in enumerate(values)
        ]
    )


def rest_rotation(link: CanonicalLink) -> Array:
    """Rotation from link axes to the parent's, of a joint that turns at q = -θ."""
    R = twist(link)
    if link.type.turns:
        return R
    c, s = cos_sin(link.theta)
    return R @ rotation_z(c, s)


def parallel(a: Array, b: Array) -> bool:
    """Whether two directions are the same or opposite, to rounding."""
    return bool(np.linalg.norm(np.cross(a, b)) <= ZERO_TOLERANCE * np.linalg.norm(a))


def zeros(*shape: int) -> Array:
    """Zeros among which nodes can be put."""
    return np.full(shape, 0.0, dtype=object)


DIVISIBLE_SHARE = 1e-6
"""Component of an offset, relative to the largest, that is more than rounding."""
DIVISIBLE_REACH = 1e-2
"""The same relative to the reach of the robot: a mass kept so near to an axis is large."""


@dataclass(slots=True)
class Distribution:
    """A mass distribution under way from one link to another: J, u and M of a CanonicalLink."""

    J: Array
    u: Array
    M: Any

    @classmethod
    def of(cls, link: CanonicalLink) -> "Distribution":
        """The distribution of a link, on its way."""
        return cls(np.array(link.J, dtype=object), np.array(link.u, dtype=object), link.M)

    def frozen_in(self, link: CanonicalLink) -> CanonicalLink:
        """The link with this distribution."""
        J, u = frozen_entries(self.J), frozen_entries(self.u)
        return replace(link, J=J, u=u, M=0.0 if is_zero(self.M) else self.M)


def axis_in_parent(link: CanonicalLink) -> tuple[Array, Array]:
    """Direction k and position p of a joint axis (at q = 0) in the parent frame."""
    k = twist(link)[:, 2]
    return k, link.across + link.r * k


def hand_down(robot: CanonicalRobot, clear: Sequence[int | None] = ()) -> CanonicalRobot:
    """The robot with everything on the revolute axes and sliding second moments handed down.

    For each joint `clear` may name the entry of the parent's first moment that becomes zero because
    the right mass is kept at the origin of the joint.
    """
    entries = clear or [None] * len(robot.links)
    bodies = [Distribution.of(link) for link in robot.links]
    for i in reversed(range(len(robot.links))):
        link, mine = robot.links[i], bodies[i]
        onto = bodies[link.parent] if link.parent >= 0 else None
        if not link.type.turns:
            if onto is not None:
                R = rest_rotation(link)
                onto.J = onto.J + R @ mine.J @ R.T
            mine.J = zeros(3, 3)
            continue
        k, p = axis_in_parent(link)
        if link.type.slides:  # a rod along the axis is all that both links of a screw may have
            if onto is not None:
                onto.J = onto.J + mine.J[2, 2] * np.outer(k, k)
            mine.J[2, 2] = 0.0
            continue
        Jzz = mine.J[2, 2]
        MZ = mine.u[2]
        M = mine.M
        stays, entry = 0.0, entries[i]
        if onto is not None:
            if entry is not None and divides(p, entry):
                stays = (onto.u[entry] + MZ * k[entry]) / p[entry] + M
            given = M - stays
            kp = np.outer(k, p)
            onto.J = onto.J + Jzz * np.outer(k, k) + MZ * (kp + kp.T) + given * np.outer(p, p)
            onto.u = onto.u + MZ * k + given * p
            onto.M = onto.M + given
            if not is_zero(stays):
                onto.u[entry] = 0.0
        mine.J[2, 2], mine.u[2], mine.M = 0.0, 0.0, stays
    links = (body.frozen_in(link) for body, link in zip(bodies, robot.links, strict=True))
    return replace(robot, links=tuple(links))


def slide_origin(robot: CanonicalRobot, i: int) -> CanonicalRobot:
    """The robot with the origin of link i moved along z so that its offset r is zero."""
    links, r = list(robot.links), robot.links[i].r
    d = np.array([0.0, 0.0, 1.0]) * r
    body = Distribution.of(links[i])
    ud = np.outer(body.u, d)
    body.J = body.J + ud + ud.T + body.M * np.outer(d, d)
    body.u = body.u + body.M * d
    links[i] = replace(body.frozen_in(links[i]), r=0.0)
    for c, child in enumerate(links):
        if child.parent != i:
            continue
        if is_quarter(child.alpha) and child.alpha == 0:
            links[c] = replace(child, r=child.r + r)
        else:
            across = np.array(child.across, dtype=object) + d
            links[c] = replace(child, across=frozen_entries(across))
    return replace(robot, links=tuple(links))


def regroup(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot with the fewest inertial parameters that give the same torques.

    Entries may be nodes. An angle that is a node is no special angle: its axes are taken for
    neither parallel nor normal, so a slide at such an angle keeps all four parameters.
    """
    robot = hand_down(robot)
    bodies = [Distribution.of(link) for link in robot.links]
    turnings = Turning.of_all(robot)
    for i in reversed(range(len(robot.links))):
        link = robot.links[i]
        mine = bodies[i]
        seen = turnings[i]
        if link.type.turns:
            _keep_of_turn(mine, seen)
        else:
            _keep_of_slide(link, mine, bodies[link.parent] if link.parent >= 0 else None, seen)
    links = (body.frozen_in(link) for body, link in zip(bodies, robot.links, strict=True))
    return replace(robot, links=tuple(links))


def divides(p: Array, entry: int, reach: float = 0.0) -> bool:
    """Whether a component of an offset may be divided by.

    Not if it is rounding of the other components, or of the reach of the robot.
    """
    if all(isinstance(value, int | float) for value in p):
        least = max(DIVISIBLE_REACH * reach, *(DIVISIBLE_SHARE * abs(float(v)) for v in p))
        return abs(float(p[entry])) > least
    return not is_zero(p[entry])


def reach(robot: CanonicalRobot) -> float:
    """The largest length in a robot of numbers; 0 if it has other entries."""
    lengths = [value for link in robot.links for value in (*link.across, link.r)]
    plain = all(isinstance(value, int | float) for value in lengths)
    return max(abs(float(value)) for value in lengths) if plain else 0.0


def is_zero(value: Any) -> bool:
    """Whether a number, or an expression that is a number, is zero."""
    return is_number(value, 0) if isinstance(value, Node) else bool(value == 0)


def _keep_of_slide(
    link: CanonicalLink, mine: Distribution, onto: Distribution | None, seen: Turning
) -> None:
    """Leave a sliding link what acts by itself."""
    if seen.directions == 0:
        mine.J, mine.u = zeros(3, 3), zeros(3)
    elif seen.directions == 1:
        mine.u = _without(mine.u, seen.direction)
        if onto is not None and parallel(seen.direction, Z):
            _give_first_moment(link, mine, onto)
    if onto is not None:
        R = rest_rotation(link)
        onto.J = onto.J + R @ mine.J @ R.T
    mine.J = zeros(3, 3)


def _keep_of_turn(mine: Distribution, seen: Turning) -> None:
    """Leave a turning link what acts by itself."""
    if seen.rests is not None:
        moved = np.outer(mine.u, seen.rests[1])
        mine.J, mine.u = mine.J - moved - moved.T, zeros(3)
    if seen.directions == 1:
        total = mine.J[0, 0] + mine.J[1, 1]
        mine.J, mine.u[2] = zeros(3, 3), 0.0
        mine.J[0, 0] = total


def _give_first_moment(link: CanonicalLink, mine: Distribution, onto: Distribution) -> None:
    """Hand the moments of a slide along the direction of turning to the parent."""
    R, (_, p) = rest_rotation(link), axis_in_parent(link)
    h = R @ mine.u
    hp = np.outer(h, p)
    onto.u = onto.u + h
    onto.J = onto.J + R @ mine.J @ R.T + hp + hp.T
    mine.J, mine.u = zeros(3, 3), zeros(3)


def _without(u: Array, d: Array) -> Array:
    """The vector less a multiple of d, so that its entry along the main axis of d is zero."""
    main = int(np.argmax(np.abs(d)))
    rest = u - (u[main] / d[main]) * np.where(np.abs(d) > ZERO_TOLERANCE, d, 0.0)
    rest[main] = 0.0
    return rest


def frozen_entries(values: Array | list[Any]) -> Array:
    """A read-only array of floats where all entries are numbers, of objects otherwise."""
    array = np.asarray(values, dtype=object)
    plain = np.array([0.0 if is_zero(v) else v for v in array.flat], dtype=object)
    numbers = all(isinstance(v, int | float) for v in plain)
    return frozen((plain.astype(float) if numbers else plain).reshape(array.shape))
