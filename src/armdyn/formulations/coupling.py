"""Joints that mimic others: between the coordinates of a robot and the positions of all its joints.

With q_all = K q + k constant, virtual work gives τ = Kᵀ τ_all, and M, C, J follow.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The map between n coordinates and N moving joints; the identity where none mimics another."""

    K: Array | None
    k: Array | float

    @classmethod
    def of(cls, model: RobotModel) -> "Coordinates":
        """The coordinates of a robot."""
        for loop in model.loops:
            raise LoopError(
                f"{loop.where}: this quantity is not there for robots with loops yet",
                loop=loop.name,
            )
        return cls(None, 0.0) if model.coupling is None else cls(*model.coupling)

    @classmethod
    def of_drives(cls, model: RobotModel) -> "Coordinates":
        """Between the coordinates, and joints followed by drives that turn with several."""
        at = cls.of(model)
        if not model.drives:
            return at
        K = np.eye(len(model.joints)) if at.K is None else at.K
        return cls(np.vstack([K, model.drive_ratios @ K]), 0.0)

    def positions(self, q: Array) -> Array:
        """Positions of all joints, (..., N)."""
        return q if self.K is None else q @ self.K.T + self.k

    def rates(self, qd: Array) -> Array:
        """Velocities or accelerations of all joints, (..., N)."""
        return qd if self.K is None else qd @ self.K.T

    def torques(self, tau: Array) -> Array:
        """Torques at the coordinates, (..., n), for torques at all joints."""
        return tau if self.K is None else tau @ self.K

    def columns(self, J: Array) -> Array:
        """A matrix with n columns from one with N."""
        return J if self.K is None else J @ self.K

    def rows(self, Y: Array) -> Array:
        """A matrix with n rows from one with N."""
        return Y if self.K is None else self.K.T @ Y

    def matrix(self, M: Array) -> Array:
        """An n by n matrix from an N by N one."""
        return M if self.K is None else self.K.T @ M @ self.K

    def tensor(self, c: Array) -> Array:
        """An n by n by n tensor from an N by N by N one."""
        if self.K is None:
            return c
        return np.einsum("ia,jb,kc,...ijk->...abc", self.K, self.K, self.K, c)
