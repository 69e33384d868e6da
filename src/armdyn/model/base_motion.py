"""BaseMotion: how the base of a robot moves, as on a vehicle or a ship."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import ModelError, ShapeError, shown

ORTHOGONAL = 1e-6
"""Largest difference of RᵀR from the identity in a rotation."""
ENTRIES = 18
"""Numbers of a motion: a rotation row by row, then three vectors."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseMotion:
    """Orientation, turning and acceleration of the base, in world axes, with any batch shape.

    Where the base is and how fast it travels has no effect on torques.
    """

    rotation: ArrayLike | None = None
    """From base axes to world axes, (..., 3, 3); None: as the robot stands."""
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    """(..., 3) [rad/s]."""
    angular_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    """(..., 3) [rad/s²]."""
    linear_acceleration: ArrayLike = (0.0, 0.0, 0.0)
    """Of the origin of the base, without gravity, (..., 3) [m/s²]."""

    def vector(self, standing: Array) -> Array:
        """All numbers in a row, (..., 18); `standing` is the rotation of a robot that stands."""
        R = _rotation(standing if self.rotation is None else self.rotation)
        names = ("angular_velocity", "angular_acceleration", "linear_acceleration")
        vectors = {
            name: check_joint_vector(name, getattr(self, name), 3, "components") for name in names
        }
        for name, vector in vectors.items():
            if not np.isfinite(vector).all():
                raise ModelError(
                    f"{name} of the base: expected finite numbers, got {shown(vector.tolist())}"
                )
        return np.concatenate(broadcast(rotation=R, **vectors), -1)


def _rotation(given: ArrayLike) -> Array:
    """The entries of a rotation, (..., 9)."""
    try:
        R = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        R = np.zeros(0)
    if R.shape[-2:] != (3, 3):
        raise ShapeError(
            f"rotation of the base: expected numbers of shape (..., 3, 3), got {shown(given)}"
        )
    with np.errstate(all="ignore"):
        off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if not (off <= ORTHOGONAL and (np.linalg.det(R) > 0).all()):
        raise ModelError("rotation of the base: expected rotations, orthogonal with determinant 1")
    return R.reshape(*R.shape[:-2], 9)
