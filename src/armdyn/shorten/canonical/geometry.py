"""Lines and directions in space."""

import math

import numpy as np

from armdyn.arrays import Array

PARALLEL_SINE = 1e-2
"""Sine of the angle below which two axes have no usable common normal."""


def sine(a: Array, b: Array) -> float:
    """The sine of the angle between two unit vectors."""
    return float(np.linalg.norm(np.cross(a, b)))


def closest(O: Array, z: Array, other: Array, point: Array, tolerance: float) -> Array:
    """The point of a line along z nearest to another; for parallel ones to the point on it."""
    angle = sine(z, other)
    if angle <= max(tolerance, PARALLEL_SINE):
        return O + z * (z @ (point - O))
    return O + z * (np.cross(point - O, other) @ np.cross(z, other)) / angle**2


def common_normal(a: Array, b: Array) -> Array:
    """The unit normal of two unit vectors, to rounding even where they are nearly parallel."""
    normal = np.cross(a, b)
    for _ in range(2):
        normal = normal_to(normal_to(normal, a), b)
    return normal


def normal_to(vector: Array, axis: Array) -> Array:
    """The direction of a vector less its part along an axis, which rounding brings back once."""
    for _ in range(2):
        vector = vector - axis * (axis @ vector)
        vector = vector / np.linalg.norm(vector)
    return vector


def turn_about(axis: Array, a: Array, b: Array, tolerance: float) -> tuple[float, float]:
    """The angle from a to b about an axis normal to both, and how far from a quarter turn it was.

    Within the tolerance it is that quarter turn; beyond, the second number is 0.
    """
    angle = math.atan2(float(np.cross(a, b) @ axis), float(a @ b))
    quarter = round(angle / (math.pi / 2)) * (math.pi / 2)
    off = abs(angle - quarter)
    return (quarter, off) if off <= tolerance else (angle, 0.0)
