"""A straight line with a turn about a constant axis, and rotations as vectors."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.model.transform import skew


@dataclass(frozen=True, slots=True, eq=False)
class ToolLine:
    """Where the tool is at the part s of its way, in world axes."""

    start: Array
    """Position at the start, (3,) [m]."""
    way: Array
    """From the start to the end, (3,) [m]."""
    R: Array
    """Rotation at the start, (3, 3)."""
    turn: Array
    """Axis times angle of the turn on the way, (3,) [rad]."""
    free: bool
    """Whether the orientation does not matter."""

    @property
    def rows(self) -> slice:
        """The rows of the Jacobian that the line prescribes."""
        return slice(0, 3 if self.free else 6)

    @property
    def twist(self) -> Array:
        """Change of the prescribed coordinates with s, constant on the line, (3,) or (6,)."""
        return np.concatenate([self.way, self.turn])[self.rows]

    def error(self, pose: Array, s: Array) -> Array:
        """What poses (..., 4, 4) lack to be on the line at s (...), (..., 3) or (..., 6)."""
        away = self.start + s[..., None] * self.way - pose[..., :3, 3]
        if self.free:
            return away
        goal = _rotation(s[..., None] * self.turn) @ self.R
        rest = goal @ np.swapaxes(pose[..., :3, :3], -1, -2)
        return np.concatenate([away, rotation_vector(rest)], -1)


LARGE_ANGLE = 2.0
"""Beyond this angle the axis comes from the symmetric part of a rotation [rad]."""


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
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    k = np.where((k * v).sum(-1, keepdims=True) < 0, -k, k)
    return np.where(turned[..., None], angle[..., None] * k, ratio * v)


def _rotation(vector: Array) -> Array:
    """The rotations (..., 3, 3) by axis times angle (..., 3)."""
    angle = np.linalg.norm(vector, axis=-1)[..., None, None]
    S = skew(vector)
    # sin(x)/x and (1 - cos x)/x², as np.sinc has them
    return np.eye(3) + np.sinc(angle / np.pi) * S + np.sinc(angle / 2 / np.pi) ** 2 / 2 * S @ S
