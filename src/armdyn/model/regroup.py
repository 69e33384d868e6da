"""Base parameters: inertia that only acts together, gathered on one link.

A mass distribution that lies on the axis of a revolute joint moves with both links of the joint, so
it may be handed to the parent without changing any torque: Jzz, MZ and M of link j become

    J += Jzz k kᵀ + MZ (k pᵀ + p kᵀ) + M p pᵀ,   u += MZ k + M p,   M += M

on the parent, k and p being direction and position of the axis there. Both sides of a prismatic
joint turn together, so it hands down the whole of J. Done from the tips to the base, a revolute
link keeps seven numbers (Jxx, Jyy, Jxy, Jxz, Jyz, MX, MY), a prismatic one four (MX, MY, MZ, M).

Links that have turned about one direction d only keep less: of J what resists turning about d, of
u what is normal to d; without any turning, M alone. A slide along d carries no first moment of its
own, and the first link on a vertical axis none at all. What is left is as many numbers as the
regressor has independent columns (Gautier and Khalil 1990; Mayeda, Yoshida and Osuka 1990), on
numbers and on nodes alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.model.canonical import CanonicalLink, CanonicalRobot, cos_sin, is_quarter, twist

_SAME = 1e-9
"""Sine of the angle below which two directions are one."""


@dataclass(slots=True)
class Distribution:
    """A mass distribution under way from one link to another."""

    J: Array
    """Second moment, shape (3, 3) [kg m²]."""
    u: Array
    """First moment, shape (3,) [kg m]."""
    M: Any
    """Mass [kg]."""

    @classmethod
    def of(cls, link: CanonicalLink) -> "Distribution":
        """The distribution of a link, on its way."""
        return cls(np.array(link.J, dtype=object), np.array(link.u, dtype=object), link.M)

    def frozen_in(self, link: CanonicalLink) -> CanonicalLink:
        """The link with this distribution."""
        return replace(
            link, J=_frozen(self.J), u=_frozen(self.u), M=0.0 if is_zero(self.M) else self.M
        )


def axis_in_parent(link: CanonicalLink) -> tuple[Array, Array]:
    """Direction k and position p of a joint axis (at q = 0) in the parent frame."""
    k = twist(link)[:, 2]
    return k, link.across + link.r * k


def hand_down(robot: CanonicalRobot, clear: Sequence[int | None] = ()) -> CanonicalRobot:
    """The robot with everything on the revolute axes and sliding second moments handed down.

    Args:
        robot: The robot.
        clear: For each joint the entry of the parent's first moment to make zero by keeping the
            right mass at the origin of the joint, or None to keep none.
    """
    entries = clear or [None] * len(robot.links)
    bodies = [Distribution.of(link) for link in robot.links]
    for i in reversed(range(len(robot.links))):
        link, mine = robot.links[i], bodies[i]
        onto = bodies[link.parent] if link.parent >= 0 else None
        if link.prismatic:
            if onto is not None:
                R = _rest_rotation(link)
                onto.J = onto.J + R @ mine.J @ R.T
            mine.J = _zeros(3, 3)
            continue
        k, p = axis_in_parent(link)
        Jzz, MZ, M = mine.J[2, 2], mine.u[2], mine.M
        stays, entry = 0.0, entries[i]
        if onto is not None:
            if entry is not None and not is_zero(p[entry]):
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
        along = is_quarter(child.alpha) and child.alpha == 0
        if along:
            links[c] = replace(child, r=child.r + r)
        else:
            links[c] = replace(child, across=_frozen(np.array(child.across, dtype=object) + d))
    return replace(robot, links=tuple(links))


def regroup(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot with the fewest inertial parameters that give the same torques.

    Entries may be nodes. An angle that is a node is no special angle: its axes are taken for
    neither parallel nor normal, so a slide at such an angle keeps all four parameters.
    """
    robot = hand_down(robot)
    bodies = [Distribution.of(link) for link in robot.links]
    for i in reversed(range(len(robot.links))):
        link, mine, seen = robot.links[i], bodies[i], _Turning.of(robot, i)
        if seen.directions == 0:
            mine.J, mine.u = _zeros(3, 3), _zeros(3)
        elif seen.directions == 1:
            d = seen.direction
            if link.prismatic:
                mine.u = _without(mine.u, d)
                if _parallel(d, np.array([0.0, 0.0, 1.0])):
                    _give_first_moment(link, mine, bodies[link.parent])
            else:
                total = mine.J[0, 0] + mine.J[1, 1]
                mine.J, mine.u[2] = _zeros(3, 3), 0.0
                mine.J[0, 0] = total
                if seen.balanced:
                    mine.u = _zeros(3)
    links = (body.frozen_in(link) for body, link in zip(bodies, robot.links, strict=True))
    return replace(robot, links=tuple(links))


def parameter_names(robot: CanonicalRobot) -> list[str]:
    """Names of the inertial parameters a regrouped robot has left, such as "Jxx3" or "MY5"."""
    names = []
    for i, link in enumerate(robot.links, start=1):
        upper = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
        entries = [(f"J{'xyz'[a]}{'xyz'[b]}", link.J[a, b]) for a, b in upper]
        entries += [(f"M{c}", link.u[k]) for k, c in enumerate("XYZ")] + [("M", link.M)]
        names += [f"{name}{i}" for name, value in entries if not is_zero(value)]
    return names


def is_zero(value: Any) -> bool:
    """Whether a number, or an expression that is one, is zero: nothing can be divided by it."""
    try:
        _ = 1.0 / (float(value) if isinstance(value, int | float) else value)
    except ZeroDivisionError:
        return True
    return False


@dataclass(frozen=True, slots=True)
class _Turning:
    """About how many directions a link has turned, seen from its own frame."""

    directions: int
    """0, 1, or 2 for more than one."""
    direction: Array
    """The one direction, where there is one."""
    balanced: bool
    """Whether no force on the first turning link in the plane of turning matters to any joint."""

    @classmethod
    def of(cls, robot: CanonicalRobot, i: int) -> "_Turning":
        """What link i has gone through, from the base up to its own joint."""
        z = np.array([0.0, 0.0, 1.0])
        turning = cls(0, np.zeros(3), True)
        gravity, slides = np.zeros(3), list[Array]()
        for j in _path(robot, i):
            link, R = robot.links[j], _rest_rotation(robot.links[j])
            if R.dtype == object or turning.directions == 2:
                return cls(2, z, False)
            gravity = _generic(link.gravity) if link.parent < 0 else gravity
            d, gravity, *slides = (R.T @ v for v in (turning.direction, gravity, *slides))
            if link.prismatic:
                slides.append(z)
                turning = cls(turning.directions, d, turning.directions == 0)
            elif turning.directions == 0:
                turning = cls(1, z, all(_parallel(v, z) for v in (gravity, *slides)))
            else:
                turning = cls(1 if _parallel(d, z) else 2, d, False)
        return turning


def _path(robot: CanonicalRobot, i: int) -> list[int]:
    """The joints from the base up to joint i."""
    path = [i]
    while robot.links[path[-1]].parent >= 0:
        path.append(robot.links[path[-1]].parent)
    return path[::-1]


def _generic(vector: Array) -> Array:
    """The vector with arbitrary numbers for entries that are nodes."""
    return np.array(
        [float(v) if isinstance(v, int | float) else 0.7 + k for k, v in enumerate(vector)]
    )


def _give_first_moment(link: CanonicalLink, mine: Distribution, onto: Distribution) -> None:
    """Hand the moments of a slide along the direction of turning to the parent."""
    R, (_, p) = _rest_rotation(link), axis_in_parent(link)
    h = R @ mine.u
    hp = np.outer(h, p)
    onto.u = onto.u + h
    onto.J = onto.J + R @ mine.J @ R.T + hp + hp.T
    mine.J, mine.u = _zeros(3, 3), _zeros(3)


def _rest_rotation(link: CanonicalLink) -> Array:
    """Rotation from link axes to the parent's, of a revolute joint at q = -θ."""
    R = twist(link)
    if not link.prismatic:
        return R
    c, s = cos_sin(link.theta)
    return R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _without(u: Array, d: Array) -> Array:
    """The vector less a multiple of d, so that its entry along the main axis of d is zero."""
    main = int(np.argmax(np.abs(d)))
    rest = u - (u[main] / d[main]) * np.where(np.abs(d) > _SAME, d, 0.0)
    rest[main] = 0.0
    return rest


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) <= _SAME * max(1.0, float(np.linalg.norm(a))))


def _zeros(*shape: int) -> Array:
    zeros = np.empty(shape, dtype=object)
    zeros[...] = 0.0
    return zeros


def _frozen(values: Array) -> Array:
    """A read-only array of floats where all entries are numbers, of objects otherwise."""
    plain = np.array([0.0 if is_zero(v) else v for v in values.flat], dtype=object)
    numbers = all(isinstance(v, int | float) for v in plain)
    return frozen((plain.astype(float) if numbers else plain).reshape(values.shape))
