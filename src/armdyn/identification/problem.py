"""Sums over samples, and the least-squares problem and prior of a choice of friction terms.

The sums are all that an estimate needs of a log, however long it is. For each joint the products of
its features, and of these with its torque, are summed up. Neighbouring samples are alike, so folds
are long blocks: each piece of a log is cut into so many, and the same blocks of all pieces are one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.possible_bodies import PriorBodies
from armdyn.formulations.scaled_newton import Objective
from armdyn.identification.equations import Equations, Motor, Rows

FOLDS = 25
"""Blocks that samples are summed up in."""
KEPT_SAMPLES = 30_000
"""Samples whose equations are kept, for tests of residuals and pictures."""


@dataclass
class Sums:
    """The sums over one or more logs, and some of their samples."""

    equations: Equations
    samples: int = 0
    """How many samples are in the sums."""
    kept: list[Rows] = field(default_factory=list)
    every: int = 1
    """One of so many pieces is kept."""
    _seen: int = 0

    def __post_init__(self) -> None:
        sizes = [len(acting) + 1 for acting in self.equations.acting]
        self.products = [np.zeros((FOLDS, size, size)) for size in sizes]
        """For each joint ZᵀZ of its features and its torque in each fold, (K, k + 1, k + 1)."""
        self.counts = np.zeros((FOLDS, len(sizes)))
        """Good samples of each joint, (K, n)."""

    def add(self, rows: Rows, weights: Array | None = None) -> None:
        """Take in the rows of one more piece, each sample of a joint with a weight (m, n)."""
        if not len(rows):
            return
        if self._seen % self.every == 0:
            self.kept.append(rows)
            while sum(map(len, self.kept)) > KEPT_SAMPLES and len(self.kept) > 2:
                self.kept, self.every = self.kept[::2], 2 * self.every
        self._seen += 1
        self.samples += len(rows)
        edges = np.linspace(0, len(rows), FOLDS + 1).astype(int).tolist()
        for k, (first, last) in enumerate(pairwise(edges)):
            for j, Z in enumerate(rows.Z):
                good = first + np.flatnonzero(rows.good[first:last, j])
                columns = np.column_stack([Z[good], rows.tau[good, j]])
                if weights is not None:
                    columns = columns * np.sqrt(weights[good, j])[:, None]
                self.products[j][k] += columns.T @ columns
                self.counts[k, j] += len(good)


MOTOR_SHARE = 0.1
"""Share of the torque of a joint that a term of its motor is expected to have."""


@record(eq=False)
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

    def part(self, folds: slice | Array) -> "Problem":
        """Some of the folds, as one."""
        sums = (x[folds].sum(axis=0, keepdims=True) for x in (self.G, self.g, self.yy, self.counts))
        return Problem(self.motors, *sums)

    def held_out(self, count: int) -> "Iterator[tuple[Problem, Problem]]":
        """The folds but for a block of neighbours, and that block, for so many blocks or fewer."""
        every = np.arange(len(self.yy))
        for some in np.array_split(every, min(count, len(every))):
            yield self.part(np.delete(every, some)), self.part(some)

    @property
    def whole(self) -> "Problem":
        """All folds as one."""
        return self.part(slice(None))

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


def problem_of(sums: Sums, motors: Sequence[Motor]) -> Problem:
    """The problem with these features of motors."""
    K, n = sums.counts.shape
    F = sums.equations.links + len(motors)
    G = np.zeros((K, n, F, F))
    g = np.zeros((K, n, F))
    yy = np.zeros((K, n))
    for j, (out, into) in enumerate(sums.equations.matched(motors)):
        P = sums.products[j]
        G[:, j, into[:, None], into] = P[:, out[:, None], out]
        g[:, j, into] = P[:, out, -1]
        yy[:, j] = P[:, -1, -1]
    return Problem(tuple(motors), G, g, yy, sums.counts)


@record(eq=False)
class Prior:
    """What is known before: bodies of the links, and the size of what motors add."""

    objective: Objective
    features: Array
    """The features by the coordinates x of the objective, (F, P)."""
    known: Array
    """θ of the robot as it was given, (P,): ten numbers of each link, then those of motors."""

    @property
    def parameters(self) -> Array:
        """θ by the coordinates x, (P, P)."""
        return self.objective.transform


def prior_of(equations: Equations, problem: Problem) -> Prior:
    """The prior of the links of a robot and of these features."""
    robot, motors = equations.robot, problem.motors
    known = equations.known(motors)
    signed = np.array([feature.signed for _, feature in motors], dtype=bool)
    mean = np.maximum(problem.samples, 1)
    rms = np.sqrt(problem.yy.sum(axis=0) / mean)
    scale = np.ones(len(motors))
    for i in range(len(motors)):
        place = equations.links + i
        size = np.sqrt(problem.G[:, :, place, place].sum(axis=0) / mean)
        share = MOTOR_SHARE * float((rms[size > 0] / size[size > 0]).min(initial=np.inf))
        scale[i] = share if np.isfinite(share) and share > 0 else 1.0
    centre = np.where(signed, known / scale, 1.0)
    scale = np.where(signed | (known <= 0), scale, known)
    objective = Objective.plain(PriorBodies.of(robot.model), scale, signed, centre)
    ten = 10 * len(robot.model.links)
    M = np.zeros((equations.links + len(motors), ten + len(motors)))
    M[: equations.links, :ten] = robot.base_parameters(links=True).matrix
    M[equations.links :, ten:] = np.eye(len(motors))
    whole = np.concatenate([robot.parameters()[:ten], known])
    return Prior(objective, M @ objective.transform, whole)
