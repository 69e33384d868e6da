"""The map between the coordinates of a robot with loops and all its joints, at a configuration."""

from abc import abstractmethod

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.formulations.coordinates import StandingMap
from armdyn.formulations.kinematics import WorldFrames
from armdyn.formulations.spatial import rotate
from armdyn.loops.closure import Closure
from armdyn.loops.dyad import StandingDyad
from armdyn.loops.plane import Path, angle_of
from armdyn.loops.steps import LinearDyad, StandingStep
from armdyn.loops.values import (
    Pair,
    Values,
    across,
    added,
    entries,
    inner,
    scaled,
    stacked,
    turned,
)
from armdyn.model import RobotModel

SAME_VECTOR = 1e-14
"""Largest difference of constant vectors that are the same but for rounding [m]."""


class StandingClosure(StandingMap):
    """The map at one configuration or a batch of them, of floats or nodes."""

    model: RobotModel
    n: int

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


class StandingLoops(StandingClosure):
    """The map by closed forms at one configuration or a batch of them, of floats or nodes."""

    def __init__(self, closure: Closure, q: Array):
        self.model, self.n = closure.model, len(closure.model.independent)
        values = self._spread(q)
        with np.errstate(invalid="ignore", divide="ignore"):  # where a loop cannot be closed
            self._steps: list[StandingStep] = [step.at(values) for step in closure.steps]
        self._values = values
        self.q = stacked(values)
        """Positions of all joints, (..., N)."""

    def _spread(self, x: Array) -> Values:
        """A value for each joint, zeros for those that are not known."""
        values: Values = [0.0] * len(self.model.joints)
        for i, value in zip(self.model.independent, entries(x), strict=True):
            values[i] = value
        return values

    def rates(self, qd: Array) -> Array:
        """Velocities of all joints, (..., N)."""
        if still(qd):
            return np.zeros(len(self.model.joints))
        return stacked(self._rates(qd))

    def _rates(self, qd: Array) -> Values:
        rates = self._spread(qd)
        for dyad in self._steps:
            dyad.rates(self._values, rates)
        return rates

    def accelerations(self, qd: Array, qdd: Array) -> Array:
        """Accelerations of all joints, (..., N)."""
        if still(qd):
            return self.rates(qdd)
        rates, found = self._rates(qd), self._spread(qdd)
        for dyad in self._steps:
            dyad.accelerations(self._values, rates, rates, found)
        return stacked(found)

    def torques(self, tau: Array) -> Array:
        """Torques at the coordinates, (..., n), for torques at all joints."""
        if still(tau):
            return np.zeros(self.n)
        values = entries(tau)
        for dyad in reversed(self._steps):
            dyad.torques(self._values, values)
        return stacked([values[i] for i in self.model.independent])

    def vector(self, path: Path, v: tuple[float, float]) -> Pair:
        """A vector of the plane of the base that turns with a link, as closures have it or new."""
        for dyad in self._steps:
            for segment, V in getattr(dyad, "parts", ()):
                if segment.path == path and segment.slide < 0:
                    for sign in (1.0, -1.0):
                        if np.allclose(np.multiply(sign, segment.v), v, rtol=0, atol=SAME_VECTOR):
                            return scaled(sign, V)
        number = self.q[0].graph.number
        return turned(angle_of(self._values, path), (number(v[0]), number(v[1])))

    def along(self, path: Path, u: tuple[float, float]) -> Pair:
        """The same, as α V + β V' of a vector V that a closure has on this link."""
        for dyad in self._steps:
            for segment, V in getattr(dyad, "parts", ()):
                if segment.path == path and segment.slide < 0 and any(u):
                    number = self.q[0].graph.number
                    vx, vy, ux, uy = (number(x) for x in (*segment.v, *u))
                    square = vx * vx + vy * vy
                    alpha = (ux * vx + uy * vy) / square
                    beta = (uy * vx - ux * vy) / square
                    return added(scaled(alpha, V), scaled(beta, across(V)))
        return self.vector(path, u)

    @cached_property
    def G(self) -> Array:
        """q̇_all = G q̇, (..., N, n)."""
        unit = np.eye(self.n)
        columns = [self._rates(self._constant(unit[k])) for k in range(self.n)]
        return np.stack([stacked(column, self.q) for column in columns], -1)

    def G_rate(self, qd: Array) -> Array:
        """Ġ, (..., N, n): its columns are bilinear in the rates and those of one coordinate."""
        rates, columns = self._rates(qd), []
        for k in range(self.n):
            unit = self._rates(self._constant(np.eye(self.n)[k]))
            found: Values = [0.0] * len(self.model.joints)
            for dyad in self._steps:
                dyad.accelerations(self._values, rates, unit, found)
            columns.append(stacked(found, self.q))
        return np.stack(columns, -1)

    def _constant(self, x: Array) -> Array:
        """The same vector in every configuration."""
        return np.broadcast_to(x, (*self.q.shape[:-1], len(x)))

    @property
    def type2(self) -> Array:
        """The determinant of each dyad that is no parallelogram, as a share of its bound.

        It is 0 where the loop cannot be closed, and small near a singular configuration of type 2.
        """
        shares = []
        for dyad in self._steps:
            if isinstance(dyad, StandingDyad):
                c1, c2 = dyad.columns
                bound = np.sqrt(inner(c1, c1) * inner(c2, c2))
                with np.errstate(invalid="ignore", divide="ignore"):
                    shares.append(np.nan_to_num(np.abs(dyad.root) / bound))
        shape = self.q.shape[:-1]
        if not shares:  # nothing but couplings
            return np.empty((*shape, 0))
        return np.stack([np.broadcast_to(x, shape) for x in shares], -1)

    def cut_wrenches(self, tau: Array, frames: WorldFrames) -> list[tuple[Array, Array]]:
        """Force and moment of b on a at frame a for every loop, in world axes.

        `tau` are the torques of the open tree at all joints. What of a planar loop acts out of its
        plane is not determined, nor is the force of a loop that follows from others: both are zero.
        """
        q = self._values
        values = entries(tau)
        found = {loop.name: np.zeros(3) for loop in self.model.loops}
        for step in reversed(self._steps):
            standing = (
                StandingDyad(step.dyad, q, solved=True) if isinstance(step, LinearDyad) else step
            )
            if not isinstance(standing, StandingDyad):  # a coupling
                standing.torques(q, values)
                continue
            fx, fy = standing.torques(q, values)
            plane = standing.dyad.plane
            x, y = np.asarray(plane.x), np.asarray(plane.y)
            local = np.asarray(fx)[..., None] * x + np.asarray(fy)[..., None] * y
            found[plane.loop.name] = rotate(frames.link(plane.host)[0], local)
        return [(found[loop.name], 0.0 * found[loop.name]) for loop in self.model.loops]


def still(x: Array) -> bool:
    """Whether numbers are all zero."""
    return x.dtype != object and not x.any()
