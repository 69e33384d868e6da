"""Periodic motions that start and end at rest, as a linear basis.

A joint moves as q = q₀ + Σ_k a_k sin(kωt) + b_k (cos(kωt) - 1), so that q₀ is where it starts. It
starts with q̇ = ω Σ k a_k and q̈ = -ω² Σ k² b_k, which are zero for all a and b that are orthogonal
to (1, 2, 3, ...) and to (1, 4, 9, ...). Bases of these spaces leave 2 (H - 1) numbers of each joint
besides its start: q = Φ x with one matrix Φ for all joints, and likewise q̇ and q̈.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.simulation.protocols import Motion
from armdyn.simulation.trajectories.periodic import Fourier

FEWEST_HARMONICS, MOST_HARMONICS = 2, 50
"""One harmonic cannot start at rest; many make the search long for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class RestBasis:
    """The motions of one frequency with H harmonics that start at rest."""

    frequency: float
    """Of the first harmonic [Hz]."""
    sines: Array
    """a = sines @ x[1:H], (H, H - 1)."""
    cosines: Array
    """b = cosines @ x[H:], (H, H - 1)."""

    @classmethod
    def of(cls, frequency: float, harmonics: int) -> "RestBasis":
        """The basis; its columns are orthonormal and the same on every machine."""
        k = np.arange(1.0, harmonics + 1)
        return cls(frequency, frozen(_across(k)), frozen(_across(k**2)))

    @property
    def size(self) -> int:
        """How many numbers a joint has: its start and the amplitudes."""
        return 1 + 2 * self.sines.shape[1]

    def at(self, t: Array) -> Motion:
        """Φ and its rates at times (m,) [s], each (m, size)."""
        w = 2 * np.pi * self.frequency * np.arange(1, len(self.sines) + 1)
        s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
        one = np.ones((len(t), 1))
        return Motion(
            np.hstack([one, s @ self.sines, (c - 1) @ self.cosines]),
            np.hstack([0 * one, (c * w) @ self.sines, -(s * w) @ self.cosines]),
            np.hstack([0 * one, -(s * w**2) @ self.sines, -(c * w**2) @ self.cosines]),
        )

    def trajectory(self, x: Array, duration: float) -> Fourier:
        """The motion of n joints with coefficients (size, n)."""
        H = self.sines.shape[1] + 1
        a, b = self.sines @ x[1:H], self.cosines @ x[H:]
        return Fourier(frozen(x[0] - b.sum(0)), frozen(a), frozen(b), self.frequency, duration)

    def coefficients(self, motion: Fourier) -> Array:
        """The coefficients (size, n) of the nearest motion that starts at rest where this does."""
        H, start = len(self.sines), motion.base + motion.b.sum(0)
        a, b = (_resized(part, H) for part in (motion.a, motion.b))
        return np.vstack([start, self.sines.T @ a, self.cosines.T @ b])


def _across(k: Array) -> Array:
    """An orthonormal basis of what is orthogonal to a vector (H,), (H, H - 1)."""
    # a Householder reflection takes the first axis to the vector, and the others across it
    v = k / np.linalg.norm(k) + np.eye(len(k))[0]
    return (np.eye(len(k)) - 2 * np.outer(v, v) / (v @ v))[:, 1:]


def _resized(rows: Array, count: int) -> Array:
    """The first rows (count, n), zeros where there are none."""
    more = np.zeros((max(count - len(rows), 0), rows.shape[1]))
    return np.vstack([rows[:count], more])
