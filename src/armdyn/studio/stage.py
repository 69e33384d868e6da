"""How an arm stands on the page: gravity points down there, whatever it does in the model."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array
from armdyn.model import RobotModel
from armdyn.model.transform import frame_along, transform
from armdyn.studio import shapes

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
        low = shapes.floor(model) - 0.5 * shapes.radius(model, -1)
        return Stage(turn, height + low, False)
    reach = shapes.size(model)
    return Stage(turn, height - BELOW * reach, bool(abs(axis[2]) < LEVEL))


def upright(gravity: Array) -> Array:
    """The rotation (3, 3) by the smallest angle that turns a field of gravity into -z."""
    size = float(np.linalg.norm(gravity))
    if size == 0:
        return np.eye(3)
    down = np.asarray(gravity, dtype=float) / size
    cosine = -float(down[2])
    if cosine > 1 - 1e-12:
        return np.eye(3)
    return frame_along(-down).T
