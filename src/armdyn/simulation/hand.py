"""Where the hand is along a motion, how fast it moves and how it accelerates."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.model.transform import quaternion_from_rotation
from armdyn.robot import Robot

COLUMNS = {
    "position": ("x", "y", "z"),
    "quaternion": ("qw", "qx", "qy", "qz"),
    "velocity": ("vx", "vy", "vz", "wx", "wy", "wz"),
    "acceleration": ("ax", "ay", "az", "wdx", "wdy", "wdz"),
}
"""Names of the columns of a file for each part, without the "hand_" before them."""


@dataclass(frozen=True, eq=False)
class Hand:
    """The tool frame at m instants of one arm or many, in the world.

    Of a base that moves, it is what an observer on the base sees, in the axes of a base at rest.
    """

    pose: Array
    """The frame, (..., m, 4, 4)."""
    velocity: Array
    """Of its origin [m/s], then angular [rad/s], (..., m, 6)."""
    acceleration: Array
    """Of its origin [m/s²], then angular [rad/s²], (..., m, 6)."""

    @classmethod
    def of(cls, robot: Robot, q: Array, qd: Array, qdd: Array) -> "Hand":
        """The hand of a robot in states (..., m, n)."""
        motion = robot.frame_motion(q, qd, qdd)
        return cls(robot.forward_kinematics(q), motion[..., 0, :], motion[..., 1, :])

    @property
    def position(self) -> Array:
        """Its origin, (..., m, 3) [m]."""
        return self.pose[..., :3, 3]

    @cached_property
    def quaternion(self) -> Array:
        """How it is turned, w x y z, (..., m, 4); the sign does not jump along the time."""
        found = quaternion_from_rotation(self.pose[..., :3, :3])
        opposed = np.sum(found[..., 1:, :] * found[..., :-1, :], axis=-1, keepdims=True) < 0
        found[..., 1:, :] *= np.cumprod(np.where(opposed, -1.0, 1.0), axis=-2)
        return found

    def columns(self, of: str = "hand") -> dict[str, Array]:
        """The columns of a file: hand_x, ..., hand_qw, ..., hand_vx, ..., hand_wdz."""
        return {
            f"{of}_{name}": column
            for part, names in COLUMNS.items()
            for name, column in zip(
                names, getattr(self, part).reshape(-1, len(names)).T, strict=True
            )
        }

    def data(self, instant: int = -1) -> dict[str, list[float]]:
        """The hand at an instant as plain data."""
        return {part: getattr(self, part)[..., instant, :].tolist() for part in COLUMNS}
