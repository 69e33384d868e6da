"""The coordinates of a robot: those joints that all others follow from, as they do in loops."""

from dataclasses import dataclass, field

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import IMPORTING
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.kinematics import WorldFrames
from armdyn.model import RobotModel


def coordinates_of(model: RobotModel) -> Coordinates:
    """The map of a robot; a LoopError if its loops cannot be assembled or cannot move."""
    if not model.loops:
        return LinearCoordinates(model, *(model.coupling or ()))
    with IMPORTING:  # few robots have loops, and what closes them is large
        from armdyn.loops.closure import closure_of  # noqa: PLC0415
        from armdyn.loops.loop_coordinates import LoopCoordinates  # noqa: PLC0415

    closed = LoopCoordinates(closure_of(model))
    linear = closed.closure.linear
    return closed if linear is None else LinearCoordinates(model, *linear, closed)


def closure_gap(model: RobotModel) -> str:
    """What rows of loops miss that follow from others but for rounding, in words; else empty."""
    if not model.loops:
        return ""
    with IMPORTING:
        from armdyn.loops.closure import closure_of  # noqa: PLC0415

    return closure_of(model).gap


@dataclass(frozen=True)
class LinearCoordinates(Coordinates):
    """q_all = K q + k, or the identity where K is None."""

    model: RobotModel
    G: Array | None = field(default=None, compare=False)
    """K."""
    k: Array | float = field(default=0.0, compare=False)
    closed: Coordinates | None = field(default=None, compare=False)
    """The same by the closed forms of its loops, if it has some."""
    q: Array = field(default_factory=lambda: np.empty(0), compare=False)

    is_linear, iterates = True, False

    @property
    def assembly(self) -> Array:
        """Where the coordinates are zero, or loops are assembled, (N,)."""
        still = np.zeros(len(self.model.independent))
        return self.positions(still) if self.closed is None else self.closed.assembly

    def at(self, q: Array, pairs: Array | None = None) -> "LinearCoordinates":
        """The same with positions."""
        return self.known(self.positions(q))

    def known(self, full: Array) -> "LinearCoordinates":
        """The same with positions of all joints, (..., N)."""
        return LinearCoordinates(self.model, self.G, self.k, self.closed, full)

    def positions(self, q: Array) -> Array:
        """Positions of all joints, (..., N)."""
        return q if self.G is None else q @ self.G.T + self.k

    def rates(self, qd: Array) -> Array:
        """Velocities of all joints, (..., N)."""
        return qd if self.G is None else qd @ self.G.T

    def accelerations(self, qd: Array, qdd: Array) -> Array:
        """Accelerations of all joints, (..., N)."""
        return self.rates(qdd)

    def torques(self, tau: Array) -> Array:
        """Torques at the coordinates, (..., n), for torques at all joints."""
        return tau if self.G is None else tau @ self.G

    def cut_wrenches(self, tau: Array, frames: WorldFrames) -> list[tuple[Array, Array]]:
        """Force and moment of b on a at frame a for every loop, in world axes."""
        q = self.q[..., list(self.model.independent)]
        return self.closed.at(q).cut_wrenches(tau, frames) if self.closed else []

    def with_drives(self) -> "LinearCoordinates":
        """The map to all joints, followed by drives that turn with several."""
        if not self.model.drives:
            return self
        K = np.eye(len(self.model.joints)) if self.G is None else self.G
        return LinearCoordinates(self.model, np.vstack([K, self.model.drive_ratios @ K]))

    def drawn_in_ranges(self, rng: np.random.Generator, count: int) -> Array:
        """Coordinates at random in their ranges, (count, n)."""
        low, high = self.model.ranges.T
        return rng.uniform(low, high, (count, len(low)))

    def drawn(self, rng: np.random.Generator, count: int) -> Array:
        """Coordinates at random between -1 and 1, (count, n)."""
        return rng.uniform(-1.0, 1.0, (count, len(self.model.independent)))
