"""The map between the coordinates of a robot with loops and all its joints, at a configuration."""

from abc import ABC, abstractmethod

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.formulations.kinematics import WorldFrames
from armdyn.model import RobotModel


class StandingMap(ABC):
    """The map at one configuration or a batch of them, of floats or nodes."""

    model: RobotModel
    n: int
    q: Array
    """Positions of all joints, (..., N)."""

    @abstractmethod
    def rates(self, qd: Array) -> Array:
        """Velocities of all joints, (..., N)."""

    @abstractmethod
    def accelerations(self, qd: Array, qdd: Array) -> Array:
        """Accelerations of all joints, (..., N)."""

    @abstractmethod
    def torques(self, tau: Array) -> Array:
        """Torques at the coordinates, (..., n), for torques at all joints."""

    @abstractmethod
    def _slopes(self) -> Array:
        """q̇_all = G q̇, (..., N, n)."""

    @abstractmethod
    def G_rate(self, qd: Array) -> Array:
        """Ġ, (..., N, n): its columns are bilinear in the rates and those of one coordinate."""

    @property
    @abstractmethod
    def type2(self) -> Array:
        """How far each loop that is no parallelogram is from a singular configuration of type 2.

        It is 0 where the loop cannot be closed, and small near a singular configuration, (...,
        loops).
        """

    @abstractmethod
    def cut_wrenches(self, tau: Array, frames: WorldFrames) -> list[tuple[Array, Array]]:
        """Force and moment of b on a at frame a for every loop, in world axes.

        `tau` are the torques of the open tree at all joints.
        """

    @cached_property
    def G(self) -> Array:
        """q̇_all = G q̇, (..., N, n)."""
        return self._slopes()

    def columns(self, J: Array) -> Array:
        """A matrix with n columns from one with N."""
        return J @ self.G

    def columns_rate(self, J: Array, J_rate: Array, qd: Array) -> Array:
        """The rate of a matrix with n columns, from one with N and its rate."""
        return J_rate @ self.G + J @ self.G_rate(qd)

    def rows(self, Y: Array) -> Array:
        """A matrix with n rows from one with N."""
        return np.swapaxes(self.G, -1, -2) @ Y

    def matrix(self, M: Array) -> Array:
        """An n by n matrix from an N by N one."""
        return np.swapaxes(self.G, -1, -2) @ M @ self.G

    def coriolis(self, M: Array, C: Array, qd: Array) -> Array:
        """The Coriolis matrix of the coordinates from M and C of all joints."""
        return np.swapaxes(self.G, -1, -2) @ (M @ self.G_rate(qd) + C @ self.G)


def still(x: Array) -> bool:
    """Whether numbers are all zero."""
    return x.dtype != object and not x.any()
