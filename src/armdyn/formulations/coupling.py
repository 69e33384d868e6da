"""Joints that mimic others: between the coordinates of a robot and the positions of all its joints.

With q_all = K q + k constant, virtual work gives τ = Kᵀ τ_all, and M, C, J follow.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.formulations.loops import sampling
from armdyn.formulations.loops.closure import closure_of
from armdyn.formulations.loops.coordinates import LoopCoordinates
from armdyn.formulations.loops.standing import StandingMap
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The map between n coordinates and N moving joints; the identity where none mimics another."""

    K: Array | None
    k: Array | float

    @classmethod
    def of(cls, model: RobotModel) -> "Coordinates | LoopCoordinates":
        """The coordinates of a robot."""
        if model.loops:
            closure = closure_of(model)
            linear = closure.linear
            return LoopCoordinates(closure) if linear is None else cls(*linear)
        return cls(None, 0.0) if model.coupling is None else cls(*model.coupling)

    @classmethod
    def of_drives(cls, model: RobotModel) -> "Coordinates":
        """Between the coordinates, and joints followed by drives that turn with several."""
        at = cls.of(model)
        if isinstance(at, LoopCoordinates):
            raise LoopError(
                f"{model.loops[0].where} of {model.name!r}: drives and dry friction along changing "
                "directions are not there for robots with loops that are not parallelograms",
                loop=model.loops[0].name,
            )
        if not model.drives:
            return at
        K = np.eye(len(model.joints)) if at.K is None else at.K
        return cls(np.vstack([K, model.drive_ratios @ K]), 0.0)

    def at(self, q: Array) -> "StandingCoordinates":
        """The map at one configuration, or a batch of them."""
        return StandingCoordinates(self, self.positions(q))

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


@dataclass(frozen=True, slots=True)
class StandingCoordinates:
    """The same map at a configuration, which it does not depend on, as that of loops does."""

    of: Coordinates
    q: Array
    """Positions of all joints, (..., N)."""

    def rates(self, qd: Array) -> Array:
        """Velocities of all joints, (..., N)."""
        return self.of.rates(qd)

    def accelerations(self, qd: Array, qdd: Array) -> Array:
        """Accelerations of all joints, (..., N)."""
        return self.of.rates(qdd)

    def torques(self, tau: Array) -> Array:
        """Torques at the coordinates, (..., n), for torques at all joints."""
        return self.of.torques(tau)

    def columns(self, J: Array) -> Array:
        """A matrix with n columns from one with N."""
        return self.of.columns(J)

    def columns_rate(self, J: Array, J_rate: Array, qd: Array) -> Array:
        """The rate of a matrix with n columns, from one with N and its rate."""
        return self.of.columns(J_rate)

    def rows(self, Y: Array) -> Array:
        """A matrix with n rows from one with N."""
        return self.of.rows(Y)

    def matrix(self, M: Array) -> Array:
        """An n by n matrix from an N by N one."""
        return self.of.matrix(M)

    def coriolis(self, M: Array, C: Array, qd: Array) -> Array:
        """The Coriolis matrix of the coordinates from M and C of all joints."""
        return self.of.matrix(C)


Standing = StandingCoordinates | StandingMap


def drawn_in_ranges(model: RobotModel, rng: np.random.Generator, count: int) -> Array:
    """Coordinates at random in their ranges, (count, n); of loops those that can be closed."""
    at = Coordinates.of(model)
    if isinstance(at, LoopCoordinates):
        return sampling.drawn_in_ranges(at.closure, rng, count)
    low, high = model.ranges.T
    return rng.uniform(low, high, (count, len(low)))


def drawn_positions(
    model: RobotModel, rng: np.random.Generator, count: int, size: Array | float = 1.0
) -> Array:
    """Coordinates at random, (count, n): up to their size, or near the assembly of loops."""
    at = Coordinates.of(model)
    if isinstance(at, LoopCoordinates):
        return sampling.drawn_near_assembly(at.closure, rng, count)
    return rng.uniform(-1.0, 1.0, (count, len(model.independent))) * size
