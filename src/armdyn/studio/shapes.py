"""A robot as simple bodies, drawn where a description has no meshes, and how it stands on the page.

Gravity points down on the page, whatever it does in the model.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array
from armdyn.model import Inertia, RobotModel
from armdyn.model.transform import frame_along, transform


@dataclass(frozen=True, slots=True, eq=False)
class Rod:
    """A part of a link from a to b [m], as thick as the joints at its ends."""

    a: Array
    b: Array
    radius: float
    axis_a: Array | None = None
    """Axis of the joint at a, about which the rod is round there; None: it ends in a ball."""
    axis_b: Array | None = None
    radius_b: float | None = None
    """Radius at b; None: as at a."""


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


def size(model: RobotModel) -> float:
    """How far the arm reaches: to a joint or the tool, else to a centre of mass [m]."""
    far = max(float(np.linalg.norm(link.inertia.com)) for link in model.links)
    return _reach(model) or far or 1.0


@lru_cache(maxsize=16)
def _reach(model: RobotModel) -> float:
    """The longest way from the base to a joint or the tool [m]."""
    far = {-1: 0.0}
    for i, joint in enumerate(model.joints):
        ends = np.abs([joint.limits.lower, joint.limits.upper])
        slide = abs(joint.type.slide) * float(ends.max() if np.isfinite(ends).all() else 0.0)
        far[i] = far[joint.parent] + float(np.linalg.norm(joint.placement[:3, 3])) + slide
    tool = model.tool_frame
    return max(*far.values(), far[tool.link] + float(np.linalg.norm(tool.placement[:3, 3])))


def radius(model: RobotModel, link: int) -> float:
    """Radius of a link as drawn; -1 is the base."""
    depth = len(model.paths[link]) if link >= 0 else 0
    return FIRST_RADIUS * size(model) * (1 - TAPER * depth / _deepest(model))


@lru_cache(maxsize=16)
def _deepest(model: RobotModel) -> int:
    return max(map(len, model.paths))


def rods(model: RobotModel, link: int) -> list[Rod]:
    """The rods of a link, in its own frame: to each joint on it, to the tool, where it slides."""
    r, start = radius(model, link), np.zeros(3)
    axis: Array | None = np.array([0.0, 0.0, 1.0])
    if link >= 0:
        axis = None if model.joints[link].type.slides else model.joints[link].axis
    drawn = [
        Rod(start, end, r, axis, along, thin)
        for end, along, thin in _rod_ends(model, link)
        if np.linalg.norm(end) > 0.2 * r
    ]
    return drawn + _slide(model, link)


def _rod_ends(model: RobotModel, link: int) -> list[tuple[Array, Array | None, float]]:
    """Where the rods of a link end, with the axis and the radius there."""
    r = radius(model, link)
    ends: list[tuple[Array, Array | None, float]] = []
    for i, joint in enumerate(model.joints):
        if joint.parent == link:
            along = None if joint.type.slides else joint.placement[:3, :3] @ joint.axis
            ends.append((joint.placement[:3, 3], along, radius(model, i)))
    if model.flange.link == link:
        place = model.tool_frame.placement
        ends.append((place[:3, 3], place[:3, 2], 0.8 * r))
    if link >= 0 and not _reach(model):  # nothing but masses says where its links are
        ends.append((np.array(model.links[link].inertia.com), None, r))
    return ends + [(end, None, r) for end in loop_ends(model, link)]


def _slide(model: RobotModel, link: int) -> list[Rod]:
    """The part of a sliding link that is behind its joint."""
    if link < 0 or not model.joints[link].type.slides:
        return []
    joint = model.joints[link]
    highest = max(joint.type.travel(x) for x in joint.range)
    endless = np.isinf(joint.limits.upper) and not joint.type.turns
    back = 0.4 * size(model) if endless else max(highest, 0.0)
    return [Rod(-back * joint.axis, np.zeros(3), 0.7 * radius(model, link))] if back > 0 else []


def loop_ends(model: RobotModel, link: int) -> list[Array]:
    """Where loops hold a link, in its frame [m]."""
    cuts = [loop for loop in model.loops if not loop.couples]
    ends = (((loop.link_a, loop.frame_a), (loop.link_b, loop.frame_b)) for loop in cuts)
    return [np.array(T[:3, 3]) for pair in ends for owner, T in pair if owner == link]


def barrel(model: RobotModel, i: int) -> tuple[float, float]:
    """Radius and height of joint i: a cylinder about its axis, or a square sleeve if it slides."""
    r = radius(model, i)
    return (1.5 * r, 3.6 * r) if model.joints[i].type.slides else (1.45 * r, 3.3 * r)


def floor(model: RobotModel) -> float:
    """How far below the base the first joint reaches: where the arm stands [m], not above 0."""
    ends = [0.0]
    for i, joint in enumerate(model.joints):
        if joint.parent < 0:
            upright = abs(float((joint.placement[:3, :3] @ joint.axis)[2]))
            ends.append(float(joint.placement[2, 3]) - 0.5 * upright * barrel(model, i)[1])
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


STEEL, ALUMINIUM = 7850.0, 2700.0
"""Densities [kg/m³]."""


def ball(mass: float, density: float = STEEL) -> float:
    """Radius of a ball [m]."""
    return float(np.cbrt(mass / (density * 4 / 3 * np.pi)))


UPRIGHT = 0.9
"""Cosine of the angle between the axis of a base and the vertical up to which an arm stands."""
LEVEL = 0.5
"""Cosine of that angle up to which an arm sticks out of a wall."""
BELOW = 1.12
"""How far the ground is below a base that does not stand on it, in reaches of the arm."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """The world of a model on the page."""

    turn: Array
    """Turns axes of the model's world into those of the page, (3, 3)."""
    ground: float
    """Height of the ground on the page [m]."""
    post: bool
    """Whether the base is at the side of a post."""

    @property
    def placement(self) -> Array:
        """The world of the model on the page, (4, 4)."""
        return transform(self.turn)

    def on_page(self, points: Array) -> Array:
        """Points of the model's world on the page, (..., 3)."""
        return np.asarray(points @ self.turn.T)


@lru_cache(maxsize=16)
def stage(model: RobotModel) -> Stage:
    """The stage of an arm; where there is no gravity, z is up."""
    turn = upright(model.gravity)
    axis = turn @ model.base[:3, 2]
    height = float((turn @ model.base[:3, 3])[2])
    if axis[2] > UPRIGHT:
        low = floor(model) - 0.5 * radius(model, -1)
        return Stage(turn, height + low, False)
    reach = size(model)
    return Stage(turn, height - BELOW * reach, bool(abs(axis[2]) < LEVEL))


def upright(gravity: Array) -> Array:
    """The rotation (3, 3) by the smallest angle that turns a field of gravity into -z."""
    field = float(np.linalg.norm(gravity))
    if field == 0:
        return np.eye(3)
    down = np.asarray(gravity, dtype=float) / field
    cosine = -float(down[2])
    if cosine > 1 - 1e-12:
        return np.eye(3)
    return frame_along(-down).T
