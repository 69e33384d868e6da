"""Rotations and rigid transforms, as 3x3 and 4x4 arrays.

A transform T_AB takes the coordinates of a point in frame B to those in frame A, so that
neighbouring letters cancel: T_AC = T_AB @ T_BC.
"""

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, frozen
from armdyn.errors import ModelError

LARGEST_SQUARED = 1e100
"""A vector with larger entries is divided by its largest one before its length is computed."""
IDENTITY = frozen(np.eye(4))


def skew(a: Array) -> Array:
    """The matrix S(a) with S(a) b = a × b, shape (..., 3, 3)."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = np.zeros_like(x)
    rows = [np.stack(r, -1) for r in ((o, -z, y), (z, o, -x), (-y, x, o))]
    return np.stack(rows, -2)


def rotation_about(axis: Array, angle: Array | float) -> Array:
    """Rotation by an angle (any batch shape) about a constant unit axis, shape (..., 3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    along = np.outer(axis, axis)
    c, s = np.asarray(c)[..., None, None], np.asarray(s)[..., None, None]
    return along + c * (np.eye(3) - along) + s * skew(axis)


def transform(rotation: npt.ArrayLike | None = None, position: npt.ArrayLike = (0, 0, 0)) -> Array:
    """The 4x4 transform made of a rotation and a position."""
    T = np.eye(4)
    if rotation is not None:
        T[:3, :3] = rotation
    T[:3, 3] = position
    return T


def inverse(T: Array) -> Array:
    """The inverse of a rigid transform, shape (..., 4, 4)."""
    R = np.swapaxes(T[..., :3, :3], -1, -2)
    upper = np.concatenate([R, -(R @ T[..., :3, 3:])], axis=-1)
    return np.concatenate([upper, T[..., 3:, :]], axis=-2)


def quarter_exact(angle: float) -> tuple[float, float]:
    """cos and sin of a constant angle; a quarter turn as floats can write it gives exact zeros."""
    c, s = float(np.cos(angle)), float(np.sin(angle))
    if abs(c) < 1e-15:
        c, s = 0.0, float(np.sign(s))
    if abs(s) < 1e-15:
        c, s = float(np.sign(c)), 0.0
    return c, s


def rotation_from_rpy(rpy: npt.ArrayLike) -> Array:
    """Rotation from roll, pitch, yaw about the fixed x, y, z axes: Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = (quarter_exact(a) for a in np.asarray(rpy, dtype=float))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: Array) -> Array:
    """Roll, pitch, yaw of a rotation, which they give back to rounding at any pitch."""
    yaw = np.arctan2(R[1, 0], R[0, 0])
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    # near pitch = ±90° the yaw is noise; the roll that completes this very yaw is not
    c, s = np.cos(yaw), np.sin(yaw)
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return np.array([roll, pitch, yaw])


def normalised(vector: Array) -> Array:
    """The direction of a vector that is not zero, however long it is."""
    largest = np.abs(vector).max()
    scaled = vector / largest if largest > LARGEST_SQUARED else vector
    return scaled / np.linalg.norm(scaled)


def rotation_from_quaternion(wxyz: npt.ArrayLike) -> Array:
    """Rotation from a quaternion (w, x, y, z), which is normalised first."""
    w, *v = normalised(np.asarray(wxyz, dtype=float))
    S = skew(np.array(v))
    return np.eye(3) + 2.0 * (w * S + S @ S)


def check_transform(what: str, value: npt.ArrayLike | None) -> Array:
    """A frozen rigid 4x4 transform (None: the identity), or a ModelError that names it."""
    if value is None:
        return IDENTITY
    T = check_constant(what, value, (4, 4))
    R = T[:3, :3]
    if np.abs(T[3] - [0, 0, 0, 1]).max() > 1e-9:
        raise ModelError(f"{what}: the last row must be 0 0 0 1, got {T[3].tolist()}")
    error = np.abs(R @ R.T - np.eye(3)).max()
    if error > 1e-6 or np.linalg.det(R) < 0:
        raise ModelError(
            f"{what}: the upper left 3x3 block is not a rotation "
            f"(R Rᵀ differs from 1 by {error:.1e}, determinant {np.linalg.det(R):.6g})"
        )
    if error < 1e-12:
        return T
    # the nearest rotation, so that rounded digits do not stretch the robot
    left, _, right = np.linalg.svd(R)
    return frozen(transform(left @ right, T[:3, 3]))
