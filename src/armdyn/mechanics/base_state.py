"""BaseState: where a base is and how it moves."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, broadcast, frozen, record
from armdyn.errors import ShapeError
from armdyn.model.base_motion import check_base_vector, check_rotation


@record(eq=False)
class BaseState:
    """Pose and twist of a base that nothing holds, in world axes, with any batch shape.

    What is given is checked and copied here. See also `armdyn.BaseMotion`, the motion of a base
    that something holds.
    """

    rotation: ArrayLike = field(default_factory=lambda: np.eye(3))
    """From base axes to world axes, (..., 3, 3)."""
    position: ArrayLike = (0.0, 0.0, 0.0)
    """Of the origin of the base, (..., 3) [m]."""
    twist: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Velocity of this origin, then angular velocity, (..., 6) [m/s, rad/s]."""
    pose: Array = field(init=False, repr=False)
    """Rotation row by row, then position, as kernels take them, (..., 12)."""

    def __post_init__(self) -> None:
        rotation = check_rotation(self.rotation)
        position = check_base_vector("position", self.position)
        twist = check_base_vector("twist", self.twist, 6)
        rows = rotation.reshape(*rotation.shape[:-2], 9)
        try:
            np.broadcast_shapes(rows.shape[:-1], position.shape[:-1], twist.shape[:-1])
        except ValueError:
            raise ShapeError(
                "the batch shapes of a state of the base do not fit together: rotation "
                f"{rotation.shape[:-2]}, position {position.shape[:-1]}, twist {twist.shape[:-1]}"
            ) from None
        pose = np.concatenate(broadcast(rotation=rows, position=position), -1)
        values = {"rotation": rotation, "position": position, "twist": twist, "pose": frozen(pose)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, pose: Array, twist: Array) -> Self:
        """The state of a pose, (..., 12), and a twist that are right already, without checks."""
        state = object.__new__(cls)
        rotation = pose[..., :9].reshape(*pose.shape[:-1], 3, 3)
        parts = {"rotation": rotation, "position": pose[..., 9:], "twist": twist, "pose": pose}
        for name, value in parts.items():
            object.__setattr__(state, name, value)
        return state

    def __getitem__(self, index: Any) -> Self:
        """The state at an index of the batch shape, or several."""
        rows = broadcast(pose=self.pose, twist=np.asarray(self.twist))
        index = index if isinstance(index, tuple) else (index,)
        return self.of(*(row[(*index, slice(None))] for row in rows))
