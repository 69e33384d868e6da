"""Rotations and rigid transforms, as 3x3 and 4x4 arrays.

A transform T_AB takes the coordinates of a point in frame B to those in frame A, so that
neighbouring letters cancel: T_AC = T_AB @ T_BC.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, frozen
from armdyn.errors import ModelError

LARGEST_SQUARED = 1e100
"""A vector with larger entries is divided by its largest one before its length is computed."""
LARGE_ANGLE = 2.0
"""Beyond this angle the axis comes from the symmetric part of a rotation [rad]."""
IDENTITY = frozen(np.eye(4))


def cross(a: Array, b: Array) -> Array:
    """a × b along the last axis, of floats or nodes, for which np.cross would not fold zeros."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], -1)


def dot(a: Array, b: Array) -> Array:
    """a · b along the last axis."""
    return (a * b).sum(-1)


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
    c = np.asarray(c)[..., None, None]
    s = np.asarray(s)[..., None, None]
    return along + c * (np.eye(3) - along) + s * skew(axis)


def rotation_z(c: Any, s: Any) -> Array:
    """Rotation about z by the angle with this cosine and sine, (3, 3)."""
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def frame_of(x: Array, z: Array) -> Array:
    """The rotation whose columns are x, z × x and z, unit vectors normal to each other, (3, 3)."""
    return np.column_stack([x, np.cross(z, x), z])


def any_frame(z: Array) -> Array:
    """A rotation whose third column is a unit vector, (3, 3)."""
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    return frame_of(x / np.linalg.norm(x), z)


def frame_along(axis: Array) -> Array:
    """The shortest turn that takes z to a unit vector, (3, 3); a half turn about x to -z."""
    x, y, z = axis
    across = x * x + y * y
    if z < 0 and not across:
        return np.diag([1.0, -1.0, -1.0])
    S = skew(np.array([-y, x, 0.0]))
    # 1 + z, which cancels near -z
    share = 1 + z if z > 0 else across / (1 - z)
    return np.asarray(np.eye(3) + S + S @ S / share)


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


def rotation_vector(R: Array) -> Array:
    """Axis times angle, at most half a turn, of rotations (..., 3, 3)."""
    odd = (R - np.swapaxes(R, -1, -2)) / 2
    v = np.stack([odd[..., 2, 1], odd[..., 0, 2], odd[..., 1, 0]], -1)
    sine = np.linalg.norm(v, axis=-1)
    cosine = (np.trace(R, axis1=-2, axis2=-1) - 1) / 2
    angle = np.arctan2(sine, cosine)
    small = sine < 1e-9
    ratio = np.where(small, 1.0, angle / np.where(small, 1.0, sine))[..., None]
    turned = angle > LARGE_ANGLE
    if not turned.any():
        return ratio * v
    # (R + Rᵀ)/2 = cos 1 + (1 - cos) k kᵀ, whose longest column gives the axis k at half a turn too
    even = (R + np.swapaxes(R, -1, -2)) / 2 - cosine[..., None, None] * np.eye(3)
    longest = np.linalg.norm(even, axis=-2).argmax(-1)
    k = np.take_along_axis(even, longest[..., None, None], -1)[..., 0]
    length = np.linalg.norm(k, axis=-1, keepdims=True)
    k = k / np.where(length > 0, length, 1.0)  # without a turn there is no axis
    k = np.where((k * v).sum(-1, keepdims=True) < 0, -k, k)
    return np.where(turned[..., None], angle[..., None] * k, ratio * v)


def rotation_from_vector(vector: Array) -> Array:
    """The rotations (..., 3, 3) by axis times angle (..., 3)."""
    angle = np.linalg.norm(vector, axis=-1)[..., None, None]
    S = skew(vector)
    # sin(x)/x and (1 - cos x)/x², as np.sinc has them
    return np.eye(3) + np.sinc(angle / np.pi) * S + np.sinc(angle / 2 / np.pi) ** 2 / 2 * S @ S


def quaternion_from_rotation(R: Array) -> Array:
    """Quaternions (w, x, y, z) of rotations (..., 3, 3), with w not negative, (..., 4)."""
    vector = rotation_vector(R)
    half = np.linalg.norm(vector, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), np.sinc(half / np.pi) / 2 * vector], -1)


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
