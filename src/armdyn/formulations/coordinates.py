"""The map from the coordinates of a robot to all its moving joints, and back.

    q_all = φ(q)    q̇_all = G q̇    q̈_all = G q̈ + Ġ q̇    τ = Gᵀ τ_all    M = Gᵀ M_all G
    C = Gᵀ (M_all Ġ + C_all G)    J = J_all G    J̇ = J̇_all G + J_all Ġ

Formulations are handed it; `armdyn.loops` makes that of a robot. Of an open arm it hands arrays
through. Where joints mimic others, φ is K q + k and G = K everywhere; where they close loops, G
depends on the configuration.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames
from armdyn.graph.nodes import Node
from armdyn.model import RobotModel


class StandingMap(ABC):
    """The map at one configuration or a batch of them, of floats or nodes."""

    q: Array
    """Positions of all joints, (..., N)."""
    solved: Mapping[str, Node] = {}
    """What symbols for positions of joints stand for, by their names."""
    unknown: Sequence[Node] = ()
    """Symbols that positions are made of besides the coordinates."""

    @property
    @abstractmethod
    def G(self) -> Array | None:
        """q̇_all = G q̇, (..., N, n); None: the identity."""

    def G_rate(self, qd: Array) -> Array | None:
        """Ġ, (..., N, n); None where G is constant."""
        return None

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
    def cut_wrenches(self, tau: Array, frames: WorldFrames) -> list[tuple[Array, Array]]:
        """Force and moment of b on a at frame a for every loop, in world axes.

        `tau` are the torques of the open tree at all joints.
        """

    def motion(self, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations of all joints, (..., N) each."""
        return self.q, self.rates(qd), self.accelerations(qd, qdd)

    @property
    def slopes(self) -> Array:
        """How the symbols of `unknown` change with the coordinates, (symbols, n); here are none."""
        return np.empty((0, 0))

    def columns(self, J: Array) -> Array:
        """A matrix with n columns from one with N."""
        return J if self.G is None else J @ self.G

    def columns_rate(self, J: Array, J_rate: Array, qd: Array) -> Array:
        """The rate of a matrix with n columns, from one with N and its rate."""
        found, turning = self.columns(J_rate), self.G_rate(qd)
        return found if turning is None else found + J @ turning

    def rows(self, Y: Array) -> Array:
        """A matrix with n rows from one with N."""
        return Y if self.G is None else np.swapaxes(self.G, -1, -2) @ Y

    def matrix(self, M: Array) -> Array:
        """An n by n matrix from an N by N one."""
        return M if self.G is None else np.swapaxes(self.G, -1, -2) @ M @ self.G

    def coriolis(self, M: Array, C: Array, qd: Array) -> Array:
        """The Coriolis matrix of the coordinates from M and C of all joints."""
        G, turning = self.G, self.G_rate(qd)
        if G is None or turning is None:
            return self.matrix(C)
        return np.swapaxes(G, -1, -2) @ (M @ turning + C @ G)


class Coordinates(StandingMap):
    """The map of a robot; one that is the same everywhere is that at a configuration as well."""

    model: RobotModel
    is_linear: bool
    """Whether the map is the same at all configurations."""

    @property
    def in_plane(self) -> Callable[..., Array] | None:
        """Writes torques of all joints in axes of the plane that all links move in, if they do.

        That is from the robot, the map at a configuration, q̇, q̈ and whether with weight.
        """
        return None

    @property
    @abstractmethod
    def iterates(self) -> bool:
        """Whether passive joints are solved for step by step."""

    @property
    @abstractmethod
    def assembly(self) -> Array:
        """Positions of all joints in one configuration where loops are closed, (N,)."""

    @abstractmethod
    def at(self, q: Array, pairs: Array | None = None) -> StandingMap:
        """The map at positions (..., n); `pairs` are symbols of what is solved for elsewhere."""

    def positions(self, q: Array) -> Array:
        """Positions of all joints, (..., N)."""
        return self.at(q).q

    @abstractmethod
    def known(self, full: Array) -> StandingMap:
        """The map where positions of all joints are known, (..., N)."""

    def near_assembly(self, full: Array) -> Array:
        """Positions of all joints with passive ones at the turn that is nearest to the assembly."""
        return full  # where they follow from the coordinates, turns included

    def explain(self, q: Array) -> None:
        """Raise an error that names the loop and the state where the robot cannot be.

        It is asked where numbers were lost; if no loop is the cause, nothing happens.
        """

    @abstractmethod
    def with_drives(self) -> "Coordinates":
        """The map to all joints, followed by drives that turn with several."""

    @abstractmethod
    def drawn_in_ranges(self, rng: np.random.Generator, count: int) -> Array:
        """Coordinates at random in their ranges where the robot can be, (count, n)."""

    @abstractmethod
    def drawn(self, rng: np.random.Generator, count: int) -> Array:
        """Coordinates at random between -1 and 1, or near the assembly of loops, (count, n)."""
