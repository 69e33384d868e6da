"""Rotations in rational numbers, exactly orthogonal, without any rounding."""

from fractions import Fraction

import numpy as np

from armdyn.arrays import Array

ENTRY_ROUNDING = 1e-12
"""An entry this close to -1, 0 or 1 is that number."""


def rational_rotation(rotation: Array) -> Array:
    """The rotation of a rational quaternion, to rounding the one given, shape (3, 3) of fractions.

    Quarter turns have entries 0, 1 and -1.
    """
    whole = np.round(rotation)
    near = np.where(np.abs(rotation - whole) < ENTRY_ROUNDING, whole, rotation)
    w, x, y, z = map(Fraction, _quaternion(near))
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.array(rows, dtype=object) / (w * w + x * x + y * y + z * z)


def _quaternion(rotation: Array) -> list[float]:
    """A multiple of the quaternion of a rotation: the largest row of 4 q qᵀ.

    Reference: S. W. Shepperd, 1978.
    """
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    outer = np.array(
        [
            [1 + a + e + i, h - f, c - g, d - b],
            [h - f, 1 + a - e - i, b + d, c + g],
            [c - g, b + d, 1 - a + e - i, f + h],
            [d - b, c + g, f + h, 1 - a - e + i],
        ]
    )
    return outer[int(np.argmax(np.diag(outer)))].tolist()
