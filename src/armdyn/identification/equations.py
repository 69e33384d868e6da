"""The equations of a motion: torques as a matrix of features times what is to be found.

Features are the columns of the base parameters of the links, for each motor (of a joint, or a drive
of several) its rotor and the terms of friction that may be needed, and those of springs. Only the
features that act on a joint are in its rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.identification.friction_terms import (
    ROTOR,
    FrictionFeature,
    Structure,
    joints_felt,
    spring_features,
    spring_torques_at,
)
from armdyn.identification.preparation import Piece, low_pass
from armdyn.loops.coordinates import coordinates_of
from armdyn.robot import Robot

Motor = tuple[int, FrictionFeature]
"""The place of a motor among `model.driven`, springs after them, and one of its features."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The equations of one piece: for each joint, what multiplies the features that act on it."""

    t: Array
    q: Array
    qd: Array
    tau: Array
    """Measured, filtered, (m, n)."""
    good: Array
    Z: tuple[Array, ...]
    """For each joint (m, features that act on it), filtered like the torques."""

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, part: slice) -> "Rows":
        arrays = (self.t, self.q, self.qd, self.tau, self.good)
        t, q, qd, tau, good = (array[part] for array in arrays)
        return Rows(t, q, qd, tau, good, tuple(Z[part] for Z in self.Z))


@dataclass(frozen=True, eq=False)
class Equations:
    """How a motion of a robot becomes rows."""

    robot: Robot
    structure: Structure
    """The terms that each motor has among the features."""
    speeds: Array
    """Root mean square of the rate of each motor."""

    @cached_property
    def ratios(self) -> Array:
        """How each motor turns with the coordinates, (motors, n)."""
        model = self.robot.model
        return coordinates_of(model).with_drives().columns(np.eye(len(model.driven)))

    @cached_property
    def motors(self) -> tuple[Motor, ...]:
        """The features after those of the links."""
        own = ((k, f) for k in range(len(self.ratios)) for f in self.structure)
        return *own, *spring_features(self.robot.model)

    @cached_property
    def felt(self) -> Array:
        """At which coordinates each of `motors` acts, (motors, n) of truths."""
        turned = len(self.ratios)
        own = [self.ratios[k] != 0 for k, _ in self.motors if k < turned]
        rows = [*own, *joints_felt(self.robot.model)]
        return np.array(rows, dtype=bool).reshape(len(rows), self.robot.n)

    @cached_property
    def links(self) -> int:
        """How many features are of the links."""
        return self.robot.base_parameters(links=True).rank

    @cached_property
    def acting(self) -> tuple[Array, ...]:
        """For each coordinate the features that act on it."""
        rng = np.random.default_rng(1)
        n = self.robot.n
        Y = self.robot.base_regressor(*rng.uniform(-1, 1, (3, 8, n)), links=True)
        felt = np.abs(Y).max(axis=0) > 1e-12 * np.abs(Y).max(initial=1e-300)
        return tuple(
            np.concatenate([np.flatnonzero(felt[j]), self._motors_at(j)]).astype(int)
            for j in range(n)
        )

    def _motors_at(self, j: int) -> Array:
        found: Array = self.links + np.flatnonzero(self.felt[:, j])
        return found

    def matched(self, motors: Sequence[Motor]) -> list[tuple[Array, Array]]:
        """For each coordinate, which of its acting features links and these motors have, and where.

        The features of links come first among these, then those of the motors in their order.
        """
        place = np.full(self.links + len(self.motors), -1)
        place[: self.links] = np.arange(self.links)
        number = {motor: self.links + i for i, motor in enumerate(self.motors)}
        for i, motor in enumerate(motors, start=self.links):
            place[number[motor]] = i
        some = (np.flatnonzero(place[acting] >= 0) for acting in self.acting)
        return [(out, place[acting[out]]) for out, acting in zip(some, self.acting, strict=True)]

    def predicted(self, rows: Rows, motors: Sequence[Motor], phi: Array) -> Array:
        """The torques (m, n) of rows by the features φ of links and these motors."""
        pairs = zip(rows.Z, self.matched(motors), strict=True)
        return np.stack([Z[:, out] @ phi[into] for Z, (out, into) in pairs], -1)

    def features(self, q: Array, qd: Array, qdd: Array) -> list[Array]:
        """For each coordinate the features that act on it, unfiltered, (m, features)."""
        Y = self.robot.base_regressor(q, qd, qdd, links=True)
        needed = [*self._of_motors(qd, qdd), *spring_torques_at(self.robot.model, q)]
        found = []
        for j, acting in enumerate(self.acting):
            of_links = acting[acting < self.links]
            columns = [Y[:, j, of_links]]
            for i in acting[len(of_links) :] - self.links:
                columns.append(needed[i][:, j, None])
            found.append(np.concatenate(columns, axis=1))
        return found

    def _of_motors(self, qd: Array, qdd: Array) -> Iterator[Array]:
        """What each feature of a motor needs at the coordinates, (m, n)."""
        rate, acceleration = qd @ self.ratios.T, qdd @ self.ratios.T
        for k, ratios in enumerate(self.ratios):
            for f in self.structure:
                speed = float(self.speeds[k])
                alone = acceleration[:, k] if f is ROTOR else f.torque(rate[:, k], speed)
                yield alone[:, None] * ratios

    def rows(self, piece: Piece, cutoff: float) -> Rows:
        """The equations of a piece, filtered like its torques, the ends dropped."""
        each = self.features(piece.q, piece.qd, piece.qdd)
        widths = np.cumsum([0, *(part.shape[1] for part in each)])
        smooth = low_pass(np.concatenate(each, axis=1), cutoff, piece.rate)[piece.kept]
        Z = tuple(np.ascontiguousarray(smooth[:, a:b]) for a, b in pairwise(widths))
        k = piece.kept
        return Rows(piece.t[k], piece.q[k], piece.qd[k], piece.tau[k], piece.good[k], Z)
