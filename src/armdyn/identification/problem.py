"""The least-squares problem of a choice of friction terms, fold by fold, and its prior."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.possible_bodies import PriorBodies
from armdyn.formulations.scaled_newton import Objective
from armdyn.identification.equations import Equations, Motor
from armdyn.identification.friction_terms import (
    ROTOR,
    FrictionFeature,
    Structure,
    own_features,
)
from armdyn.identification.gram import Block
from armdyn.identification.spring_terms import spring_features, spring_value
from armdyn.robot import Robot

MOTOR_SHARE = 0.1
"""Share of the torque of a joint that a term of its motor is expected to have."""
RANK_TOLERANCE = 1e-10
"""Eigenvalue of scaled products below which the data do not show a direction."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Products of some features, by fold and joint; F features, K folds, n joints."""

    motors: tuple[Motor, ...]
    """The features after those of the links."""
    G: Array
    """Products of features, (K, n, F, F)."""
    g: Array
    """Products with the torque of the joint, (K, n, F)."""
    yy: Array
    """Squares of the torque, (K, n)."""
    counts: Array
    """Samples, (K, n)."""

    @property
    def whole(self) -> "Problem":
        """All folds as one."""
        G, g = self.G.sum(axis=0, keepdims=True), self.g.sum(axis=0, keepdims=True)
        counts = self.counts.sum(axis=0, keepdims=True)
        return Problem(self.motors, G, g, self.yy.sum(axis=0, keepdims=True), counts)

    def without(self, fold: int) -> "Problem":
        """All folds but one, as one."""
        rest = np.arange(len(self.yy)) != fold
        return Problem(
            self.motors, self.G[rest], self.g[rest], self.yy[rest], self.counts[rest]
        ).whole

    def fold(self, fold: int) -> "Problem":
        """One fold."""
        some = slice(fold, fold + 1)
        return Problem(self.motors, self.G[some], self.g[some], self.yy[some], self.counts[some])

    def normal(self, weights: Array) -> tuple[Array, Array]:
        """A and b of the normal equations A φ = b with a weight for each joint, (n,)."""
        return np.einsum("j,kjab->ab", weights, self.G), np.einsum("j,kja->a", weights, self.g)

    def squares(self, phi: Array) -> Array:
        """Sum of the squares of the residuals of each joint, (n,)."""
        found = self.yy - 2 * (self.g @ phi) + (self.G @ phi) @ phi
        return np.maximum(found, 0.0).sum(axis=0)

    @property
    def samples(self) -> Array:
        """Samples of each joint, (n,)."""
        return self.counts.sum(axis=0)


def problem_of(
    equations: Equations,
    folds: Sequence[Block],
    motors: Sequence[Motor],
    torque: Sequence[int] | None = None,
) -> Problem:
    """The problem with these features of motors; `torque` says whose torque each joint has."""
    n, links = equations.robot.n, equations.links
    place = {motor: links + i for i, motor in enumerate(equations.motors)}
    chosen = np.array([*range(links), *(place[motor] for motor in motors)], dtype=int)
    F, K = len(chosen), len(folds)
    G, g = np.zeros((K, n, F, F)), np.zeros((K, n, F))
    yy, counts = np.zeros((K, n)), np.array([block.counts for block in folds], dtype=float)
    for j, acting in enumerate(equations.acting):
        where = {feature: i for i, feature in enumerate(acting.tolist())}
        pairs = [(i, where[f]) for i, f in enumerate(chosen.tolist()) if f in where]
        into, out = (np.array(part, dtype=int) for part in zip(*pairs, strict=True))
        column = len(acting) + (j if torque is None else torque[j])
        for k, block in enumerate(folds):
            P = block.products[j]
            G[k, j][np.ix_(into, into)] = P[np.ix_(out, out)]
            g[k, j][into] = P[out, column]
            yy[k, j] = P[column, column]
    return Problem(tuple(motors), G, g, yy, counts)


def motors_with(equations: Equations, structure: Structure) -> list[Motor]:
    """The features of all motors with these terms, and of the springs.

    A drive has no offset of its own.
    """
    N = len(equations.robot.model.joints)
    own = [(k, f) for k in range(len(equations.ratios)) for f in structure if k < N or not f.signed]
    return [*own, *spring_features(equations.robot.model)]


def own_motors(equations: Equations) -> list[Motor]:
    """The features that the motors and springs of the robot have already."""
    found: list[Motor] = []
    for k, owner in enumerate(equations.robot.model.driven):
        law = own_features(owner.friction, float(equations.speeds[k]))
        rotor = (ROTOR,) if owner.rotor.reflected else ()
        found += [(k, feature) for feature in (*rotor, *law)]
    return [*found, *spring_features(equations.robot.model)]


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """What is known before: bodies of the links, and the size of what motors add."""

    objective: Objective
    features: Array
    """The features by the coordinates x of the objective, (F, P)."""

    @property
    def parameters(self) -> Array:
        """θ by the coordinates x, (P, P)."""
        return self.objective.transform


def prior_of(equations: Equations, problem: Problem) -> Prior:
    """The prior of the links of a robot and of these features."""
    robot = equations.robot
    scale, signed, centre = [], [], []
    rms = np.sqrt(problem.yy.sum(axis=0) / np.maximum(problem.samples, 1))
    for i, (k, feature) in enumerate(problem.motors, start=equations.links):
        known = known_value(robot, k, feature)
        size = np.sqrt(problem.G[:, :, i, i].sum(axis=0) / np.maximum(problem.samples, 1))
        felt = size > 0
        share = MOTOR_SHARE * float((rms[felt] / size[felt]).min(initial=np.inf))
        usual = share if np.isfinite(share) and share > 0 else 1.0
        scale.append(usual if feature.signed or known <= 0 else known)
        signed.append(feature.signed)
        centre.append(known / usual if feature.signed else 1.0)
    objective = Objective.plain(
        PriorBodies.of(robot.model), np.array(scale), np.array(signed, dtype=bool), np.array(centre)
    )
    N, motors = len(robot.model.links), len(problem.motors)
    M = np.zeros((equations.links + motors, 10 * N + motors))
    M[: equations.links, : 10 * N] = robot.base_parameters(links=True).matrix
    M[equations.links :, 10 * N :] = np.eye(motors)
    return Prior(objective, M @ objective.transform)


def known_value(robot: Robot, motor: int, feature: FrictionFeature) -> float:
    """What a robot has of a feature already; 0 if nothing."""
    driven = robot.model.driven
    if motor >= len(driven):
        return spring_value(robot.model.springs[motor - len(driven)], feature)
    owner = driven[motor]
    if feature is ROTOR:
        return owner.rotor.reflected
    values = [getattr(owner.friction, name) for name in feature.linear]
    return float(np.mean(values)) if values else 0.0
