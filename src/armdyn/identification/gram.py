"""Sums over samples: all that an estimate needs of a log, however long it is.

For each joint the products of its features, and of these with the torques of all joints (which a
diagnosis needs), are summed up over blocks of neighbouring samples. There are at most so many
blocks: when there are more, neighbours are joined, and a block is twice as long from then on.
"""

from dataclasses import dataclass, field

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.equations import Equations, Rows

MOST_BLOCKS = 64
"""Blocks of a log that are kept apart."""
KEPT_SAMPLES = 30_000
"""Samples whose equations are kept, for tests of residuals and pictures."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Sums over neighbouring samples."""

    products: tuple[Array, ...]
    """For each joint ZᵀZ of its features and the n torques, (k + n, k + n)."""
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
    products, n = [], rows.tau.shape[1]
    for j in range(n):
        good = rows.good[:, j]
        columns = np.concatenate([rows.Z[j], rows.tau], axis=1)
        if not good.all():
            columns = columns[good]
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
            pairs = [self.blocks[i : i + 2] for i in range(0, len(self.blocks), 2)]
            self.blocks = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
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
        joined = []
        for k in range(count):
            some = [b for b, p in zip(self.blocks, place, strict=True) if p == k]
            if some:
                total = some[0]
                for other in some[1:]:
                    total = total + other
                joined.append(total)
        return joined
