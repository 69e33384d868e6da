"""Sums over samples, and the least-squares problem and prior of a choice of friction terms.

The sums are all that an estimate needs of a log, however long it is. For each joint the products of
its features, and of these with its torque, are summed up over blocks of neighbouring samples. There
are at most so many blocks: when there are more, neighbours are joined, and a block is twice as long
from then on. Folds of a problem are such blocks.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.possible_bodies import PriorBodies
from armdyn.formulations.scaled_newton import Objective
from armdyn.identification.equations import Equations, Motor, Rows

MOST_BLOCKS = 64
"""Blocks of a log that are kept apart."""
KEPT_SAMPLES = 30_000
"""Samples whose equations are kept, for tests of residuals and pictures."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Sums over neighbouring samples."""

    products: tuple[Array, ...]
    """For each joint ZᵀZ of its features and its torque, (k + 1, k + 1)."""
    counts: Array
    """Good samples of each joint, (n,)."""
    length: int
    """Samples it was made of."""

    def __add__(self, other: "Block") -> "Block":
        both = zip(self.products, other.products, strict=True)
        return Block(
            tuple(a + b for a, b in both), self.counts + other.counts, self.length + other.length
        )


def block_of(rows: Rows, weights: Array | None = None) -> Block:
    """The sums over rows, each sample of a joint with a weight (m, n)."""
    products = []
    for j, (Z, good) in enumerate(zip(rows.Z, rows.good.T, strict=True)):
        columns = np.column_stack([Z, rows.tau[:, j]])[good]
        if weights is not None:
            columns = columns * np.sqrt(weights[good, j])[:, None]
        products.append(columns.T @ columns)
    return Block(tuple(products), rows.good.sum(axis=0), len(rows))


@dataclass
class Sums:
    """The sums over the blocks of one or more logs, and some of their samples."""

    equations: Equations
    blocks: list[Block] = field(default_factory=list)
    kept: list[Rows] = field(default_factory=list)
    every: int = 1
    """One of so many pieces is kept."""
    _length: int = 0
    _seen: int = 0

    def add(self, rows: Rows, weights: Array | None = None) -> None:
        """Take in the rows of one more piece."""
        if not len(rows):
            return
        if self._seen % self.every == 0:
            self.kept.append(rows)
            while sum(map(len, self.kept)) > KEPT_SAMPLES and len(self.kept) > 2:
                self.kept, self.every = self.kept[::2], 2 * self.every
        self._seen += 1
        target = self._length or max(1, len(rows) // MOST_BLOCKS)
        self._length = target
        for start in range(0, len(rows), target):
            part = slice(start, start + target)
            self.blocks.append(block_of(rows[part], None if weights is None else weights[part]))
        while len(self.blocks) > 2 * MOST_BLOCKS:
            pairs = (self.blocks[i : i + 2] for i in range(0, len(self.blocks), 2))
            self.blocks = [reduce(operator.add, pair) for pair in pairs]
            self._length *= 2

    @property
    def samples(self) -> int:
        """How many samples are in the sums."""
        return sum(block.length for block in self.blocks)

    def folds(self, count: int) -> list[Block]:
        """The same blocks joined to so many, of about equal length, in order."""
        count = max(1, min(count, len(self.blocks)))
        lengths = np.cumsum([block.length for block in self.blocks])
        place = np.minimum((lengths - 1) * count // lengths[-1], count - 1)
        parts = (
            [b for b, p in zip(self.blocks, place, strict=True) if p == k] for k in range(count)
        )
        return [reduce(operator.add, part) for part in parts if part]


MOTOR_SHARE = 0.1
"""Share of the torque of a joint that a term of its motor is expected to have."""


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

    def part(self, folds: slice | Array) -> "Problem":
        """Some of the folds, as one."""
        sums = (x[folds].sum(axis=0, keepdims=True) for x in (self.G, self.g, self.yy, self.counts))
        return Problem(self.motors, *sums)

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


def problem_of(equations: Equations, folds: Sequence[Block], motors: Sequence[Motor]) -> Problem:
    """The problem with these features of motors."""
    n, F, K = equations.robot.n, equations.links + len(motors), len(folds)
    G, g = np.zeros((K, n, F, F)), np.zeros((K, n, F))
    yy, counts = np.zeros((K, n)), np.array([block.counts for block in folds], dtype=float)
    for j, (out, into) in enumerate(equations.matched(motors)):
        for k, block in enumerate(folds):
            P = block.products[j]
            G[k, j][np.ix_(into, into)] = P[np.ix_(out, out)]
            g[k, j][into] = P[out, -1]
            yy[k, j] = P[-1, -1]
    return Problem(tuple(motors), G, g, yy, counts)


@dataclass(frozen=True, slots=True, eq=False)
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
    whole = np.concatenate([robot.parameters[:ten], known])
    return Prior(objective, M @ objective.transform, whole)
