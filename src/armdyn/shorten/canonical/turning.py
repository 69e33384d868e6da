"""Through which motion a link has gone, from the base up to its own joint."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.model.transform import rotation_z
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE
from armdyn.shorten.canonical.robot import CanonicalLink, CanonicalRobot, cos_sin, twist

Z = frozen([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
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
            directions, d, rests = 1, Z, zeros(2, 3)
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
    zeros = np.empty(shape, dtype=object)
    zeros[...] = 0.0
    return zeros
