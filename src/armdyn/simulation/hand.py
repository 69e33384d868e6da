"""Where the hand is along a motion, how fast it moves and how it accelerates."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array, broadcast
from armdyn.forks import cached_property
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.mechanics.base_state import BaseState
from armdyn.model.transform import quaternion_from_rotation, rotation_vector
from armdyn.quantities.free_base import BASE, POSE
from armdyn.report.result import Section
from armdyn.robot import Robot

COLUMNS = {
    "position": ("x", "y", "z"),
    "quaternion": ("qw", "qx", "qy", "qz"),
    "velocity": ("vx", "vy", "vz", "wx", "wy", "wz"),
    "acceleration": ("ax", "ay", "az", "wdx", "wdy", "wdz"),
}
"""Names of the columns of a file for each part, without the "hand_" before them."""


def rows_of_base(base: BaseState, a: Array) -> Array:
    """Pose, twist and acceleration of a base that floats in a row, (..., 24)."""
    return np.concatenate(broadcast(pose=base.pose, twist=np.asarray(base.twist), a=a), -1)


def base_of(rows: Array) -> tuple[BaseState, Array]:
    """The state and the acceleration of a base in such rows."""
    return BaseState.of(rows[..., :POSE], rows[..., POSE:-BASE]), rows[..., -BASE:]


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
    def of(
        cls, robot: Robot, q: Array, qd: Array, qdd: Array, floating: Array | None = None
    ) -> "Hand":
        """The hand of a robot in states (..., m, n), on a base that floats as in `rows_of_base`."""
        if floating is None:
            motion = robot.frame_motion(q, qd, qdd)
            return cls(robot.forward_kinematics(q), motion[..., 0, :], motion[..., 1, :])
        free, (base, a) = robot.free_base, base_of(floating)
        motion = free.frame_motion(base, q, qd, a, qdd)
        return cls(free.forward_kinematics(base, q), motion[..., 0, :], motion[..., 1, :])

    @classmethod
    def of_base(cls, floating: Array) -> "Hand":
        """The frame of a base that floats in the place of the hand."""
        base, a = base_of(floating)
        pose = homogeneous(np.asarray(base.rotation), np.asarray(base.position))
        return cls(pose, np.asarray(base.twist), a)

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


def base_section(floating: Array | None) -> Section:
    """How a base that floats moved; empty if it is held."""
    if floating is None:
        return Section("")
    base = Hand.of_base(floating)
    if floating.ndim > 2:
        return Section("", data={"base": base.data()})
    R = base.pose[:, :3, :3]
    far = np.linalg.norm(base.position[-1] - base.position[0])
    angle = np.degrees(np.linalg.norm(rotation_vector(R[-1] @ R[0].T)))
    rows = np.stack([base.velocity, base.acceleration]).reshape(2, -1, 2, 3)
    v, w, a, wd = np.linalg.norm(rows, axis=-1).max(axis=1).ravel()
    moved = f"it ends {far:.4g} m and {angle:.4g} degrees from where it started"
    most = f"at most {v:.4g} m/s, {w:.4g} rad/s, {a:.4g} m/s², {wd:.4g} rad/s²"
    lines = (moved, most) if len(R) > 1 else (most,)
    return Section("The base, which floats", lines, data={"base": base.data()})
