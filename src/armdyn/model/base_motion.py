"""BaseMotion: how the base of a robot moves, as on a vehicle or a ship."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, broadcast, check_joint_vector, frozen, record
from armdyn.errors import ModelError, ShapeError, shown

ORTHOGONAL = 1e-6
"""Largest difference of RᵀR from the identity in a rotation."""
VECTORS = ("angular_velocity", "angular_acceleration", "linear_acceleration")


@record(eq=False)
class BaseMotion:
    """Orientation, turning and acceleration of the base, in world axes, with any batch shape.

    Where the base is and how fast it travels has no effect on torques. What is given is checked and
    copied here: batch shapes that do not fit together, or a rotation that is none, are an error.
    """

    rotation: ArrayLike | None = None
    """From base axes to world axes, (..., 3, 3); None: as the robot stands."""
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    """(..., 3) [rad/s]."""
    angular_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    """(..., 3) [rad/s²]."""
    linear_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    """Of the origin of the base, without gravity, (..., 3) [m/s²]."""

    def __post_init__(self) -> None:
        checked = {name: check_base_vector(name, getattr(self, name)) for name in VECTORS}
        shapes = {name: vector.shape[:-1] for name, vector in checked.items()}
        if self.rotation is not None:
            checked["rotation"] = check_rotation(self.rotation)
            shapes["rotation"] = checked["rotation"].shape[:-2]
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError:
            words = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ShapeError(
                f"the batch shapes of a motion of the base do not fit together: {words}"
            ) from None
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def vector(self, standing: Array) -> Array:
        """All numbers in a row, (..., 18); `standing` is the rotation of a robot that stands."""
        R = np.asarray(standing if self.rotation is None else self.rotation, dtype=float)
        vectors = {name: np.asarray(getattr(self, name)) for name in VECTORS}
        return np.concatenate(broadcast(rotation=R.reshape(*R.shape[:-2], 9), **vectors), -1)


def check_base_vector(name: str, given: ArrayLike, size: int = 3) -> Array:
    """A vector (..., size) of finite numbers, or an error."""
    vector = check_joint_vector(f"{name} of the base", given, size, "components")
    if not np.isfinite(vector).all():
        raise ModelError(
            f"{name} of the base: expected finite numbers, got {shown(vector.tolist())}"
        )
    return frozen(vector)


def check_rotation(given: ArrayLike) -> Array:
    """Rotations (..., 3, 3), or an error that says what is no rotation."""
    try:
        R = np.asarray(given)
        R = R.astype(float) if R.dtype.kind in "fiu" else np.zeros(0)
    except (TypeError, ValueError, OverflowError):
        R = np.zeros(0)
    if R.shape[-2:] != (3, 3):
        raise ShapeError(
            f"rotation of the base: expected numbers of shape (..., 3, 3), got {shown(given)}"
        )
    with np.errstate(all="ignore"):
        off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max((-1, -2), initial=0.0)
        right = (off <= ORTHOGONAL) & (np.linalg.det(R) > 0)
    if not right.all():
        at = tuple(int(i) for i in np.argwhere(~right)[0])
        raise ModelError(
            "rotation of the base: expected rotations, orthogonal with determinant 1, got "
            f"{shown(R[at].tolist())}{f' at {list(at)}' if at else ''}; columns are the axes of "
            "the base in the world"
        )
    return frozen(R)
