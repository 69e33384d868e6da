"""A robot as simple bodies: what is drawn where a description has no meshes."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array
from armdyn.model import Inertia, RobotModel


@dataclass(frozen=True, slots=True, eq=False)
class Capsule:
    """A rod with round ends, from a to b [m]."""

    a: Array
    b: Array
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class Barrel:
    """A joint at the origin: a cylinder about its axis, or a square sleeve if it slides."""

    axis: Array
    radius: float
    height: float
    slides: bool


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsoid:
    """The uniform ellipsoid with the same mass and inertia as a link."""

    centre: Array
    axes: Array
    """Principal axes as columns, right-handed, (3, 3)."""
    radii: Array
    """Half its lengths along them, (3,) [m]."""


FIRST_RADIUS = 0.042
"""Radius of the first link, relative to the size of the arm."""
TAPER = 0.5
"""Part of that radius that the last link lacks."""


@lru_cache(maxsize=16)
def size(model: RobotModel) -> float:
    """How far the arm reaches: the longest way from the base to a joint or the tool [m]."""
    far: list[float] = []
    for joint in model.joints:
        upto = far[joint.parent] if joint.parent >= 0 else 0.0
        ends = np.abs([joint.limits.lower, joint.limits.upper])
        slide = abs(joint.type.slide) * float(ends.max() if np.isfinite(ends).all() else 0.0)
        far.append(upto + float(np.linalg.norm(joint.placement[:3, 3])) + slide)
    flange = model.tool_frame
    upto = far[flange.link] if flange.link >= 0 else 0.0
    return max([*far, upto + float(np.linalg.norm(flange.placement[:3, 3]))]) or 1.0


def radius(model: RobotModel, link: int) -> float:
    """Radius of a link as drawn; -1 is the base."""
    depth = len(model.paths[link]) if link >= 0 else 0
    return FIRST_RADIUS * size(model) * (1 - TAPER * depth / _deepest(model))


@lru_cache(maxsize=16)
def _deepest(model: RobotModel) -> int:
    return max(map(len, model.paths))


def rods(model: RobotModel, link: int) -> list[Capsule]:
    """The rods of a link, in its own frame: to each joint on it, and to the tool."""
    children = [i for i, parent in enumerate(model.parents) if parent == link]
    ends = [model.joints[i].placement[:3, 3] for i in children]
    if model.flange.link == link:
        ends.append(model.tool_frame.placement[:3, 3])
    r, start = radius(model, link), np.zeros(3)
    drawn = [Capsule(start, end, r) for end in ends if np.linalg.norm(end) > 0.2 * r]
    if link >= 0 and model.joints[link].type.slides:
        joint = model.joints[link]
        highest = max(joint.type.travel(x) for x in joint.range)
        endless = np.isinf(joint.limits.upper) and not joint.type.turns
        back = 0.4 * size(model) if endless else max(highest, 0.0)
        if back > 0:
            drawn.append(Capsule(-back * joint.axis, start, 0.7 * r))
    return drawn


def barrel(model: RobotModel, i: int) -> Barrel:
    """Joint i in the frame of link i; one that slides is to be drawn where its parent has it."""
    joint, r = model.joints[i], radius(model, i)
    wide, tall = (1.5, 3.6) if joint.type.slides else (1.45, 3.3)
    return Barrel(joint.axis, wide * r, tall * r, joint.type.slides)


def floor(model: RobotModel) -> float:
    """How far below the base the first joint reaches: where the arm stands [m], not above 0."""
    ends = [0.0]
    for i, joint in enumerate(model.joints):
        if joint.parent < 0:
            upright = abs(float((joint.placement[:3, :3] @ joint.axis)[2]))
            ends.append(float(joint.placement[2, 3]) - 0.5 * upright * barrel(model, i).height)
    return min(ends)


def ellipsoid(inertia: Inertia) -> Ellipsoid | None:
    """The ellipsoid of a body; None where there is no mass to speak of.

    A uniform one with half axes a, b, c has I_x = m (b² + c²) / 5, and so on. Where no body has
    these moments, the square that would be negative counts as zero.
    """
    if not inertia.mass > 0:
        return None
    moments, axes = inertia.principal
    squares = 2.5 * (moments.sum() - 2 * moments) / inertia.mass
    return Ellipsoid(inertia.com, axes, np.sqrt(np.maximum(squares, 0.0)))
