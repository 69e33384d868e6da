"""Branch and bound: the largest torque of a motor between a state that reaches it and a proof.

Boxes of positions are halved until the bound of each is below a threshold, which is the largest
torque that was reached and a gap. Wherever the middle of a box that stays reaches more, the climb
goes on from there, and the threshold rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.bounds.boxes import WIDEST, Support, Tensor, boxes
from armdyn.bounds.descent import BoundCode
from armdyn.bounds.polynomials import UP, U
from armdyn.bounds.rows import Row, StateLimits

FIRST_STATES = 2**12
"""Positions that fill the limits evenly."""
STARTS = 12
"""Of them, those from which a motor's largest torque is searched."""
BATCH = 128
"""Boxes that are looked at before the threshold may rise."""
FINEST = 40
"""Halvings of one joint after which a box is given up."""
WORK = 2e10
"""Products of entries and control points after which a gap is doubled."""
SAMPLE = 300
"""Positions by which the influence of joints and squares is judged."""
FLOOR = 1e-12
"""Of a threshold, relative to the sum of all coefficients: torques that cancel are no larger."""
HUGE, TINY = 1e6, 1e-300
TURN = 2 * np.pi * (1 + 4 * U)


@dataclass(frozen=True, slots=True, eq=False)
class Attained:
    """Where a torque is reached."""

    value: float
    """±torque, with the most that friction adds."""
    q: Array
    """Positions of the joints that matter; of a slide its share of the stroke."""
    speeds: Array
    """Shares of the largest speeds, (n,)."""
    sign: float
    """1 for the torque, -1 for its opposite."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """How positions were divided: a box is halved, or below the threshold."""

    axes: Array
    """For each box the joint, among those that matter, that is halved; or -1."""
    halves: Array
    """The first of the two halves of each, which stand one after the other."""


class Search:
    """The largest ±torque of one row."""

    def __init__(self, row: Row, limits: StateLimits, friction: tuple[float, float], gap: float):
        """Take the row, its limits, and the most that friction adds to the torque and takes.

        Args:
            row: The torque of a motor without friction.
            limits: Between what the state is.
            friction: Its largest part along the torque and against it.
            gap: How far above what is reached a bound may be.
        """
        self.row, self.friction, self.gap = row, np.array(friction), gap
        self.n, self.count = len(limits.low), len(row.joints)
        self.low, self.high = windows(row, limits)
        self.turns = ~np.array(row.slides, dtype=bool)
        self.boxes = self.states = 0
        self.floor = 2 * row.error + FLOOR * row.scale
        tensor, sizes = Tensor(row), np.zeros(len(row.rates))
        np.add.at(sizes, row.entries, np.abs(row.numbers))
        self._first = evenly(self.count)
        self.support = Support(row.rates, sizes, np.ones(self.n))
        self.code = BoundCode(tensor)
        self.reached = self._climbed(None)
        # tangents as many as the gap needs, and how much each joint changes
        entries = self.code.entries(self._positions(self._first[:SAMPLE]))
        largest = np.abs(entries).max(axis=0) / max(self.reached.value, TINY)
        tangents = np.zeros(self.n)
        for k, rates in enumerate(row.rates):
            if len(rates) == 2 and rates[0] == rates[1] and largest[k] > gap / 4:
                tangents[rates[0]] = np.ceil(np.sqrt(largest[k] / (2 * gap)))
        self.support = Support(row.rates, sizes, tangents)
        self._weights = np.zeros(self.count)
        for j in range(self.count):
            moved = self._positions(self._first[:SAMPLE])
            moved[:, j] += 1.0
            change = np.abs(self.code.entries(moved) - entries).sum(axis=1).max()
            self._weights[j] = np.sqrt(change)

    def pushes(self, q: Array) -> Array:
        """The signs of the accelerations that ask most at positions of the joints that matter."""
        entries, signs = self.code.entries(q[None])[0], np.ones(self.n)
        for k, rates in enumerate(self.row.rates):
            if len(rates) == 1 and entries[k] < 0:
                signs[rates[0]] = -1.0
        return signs

    def _positions(self, x: Array) -> Array:
        return np.asarray(self.low + x * (self.high - self.low))

    def _sizes(self, x: Array) -> Array:
        self.states += len(x)
        value, sign, _ = self.support.largest(self.code.entries(self._positions(x)))
        return np.asarray(value + np.where(sign > 0, *self.friction))

    def _climbed(self, x: Array | None) -> Attained:
        """What is reached from places (m, joints) of the unit cube; or from the best of many."""
        if x is None:
            order = np.argsort(-self._sizes(self._first), kind="stable")
            x = self._first[order[:STARTS]]
        best = climbed(self._sizes, x)[None]
        q = self._positions(best)
        value, sign, shares = self.support.largest(self.code.entries(q))
        speeds = np.ones(self.n)
        speeds[self.support.speeds] = shares[0]
        total = float(value[0] + self.friction[0 if sign[0] > 0 else 1])
        return Attained(total, q[0], speeds, float(sign[0]))

    def proved(self, least: float = 0.0, in_time: Sequence[bool] = (True,)) -> tuple[float, Tree]:
        """A threshold that ±torque of the model exceeds nowhere, and the boxes that show it.

        Args:
            least: What another row reaches.
            in_time: Empty, perhaps only later, where larger gaps are enough.
        """
        axes, halves = [-1], [0]
        none = np.zeros(self.count, dtype=np.int64)
        stack = [(0, none, none)]
        work, gap = 0.0, self.gap
        share = len(self.row.rates) * float(np.prod(np.array(self.code.tensor.kinds, dtype=float)))
        while True:
            threshold = max(self.reached.value, least) * (1 + gap) + self.floor
            if not stack:
                return threshold, Tree(np.array(axes), np.array(halves))
            level = threshold * (1 - 8 * U) - self.friction - self.row.error * UP
            batch, stack = stack[-BATCH:], stack[:-BATCH]
            depth, index = (np.array([box[k] for box in batch]) for k in (1, 2))
            middle, half = boxes(self.low, self.high, depth, index)
            wide = (half > WIDEST) & self.turns
            over = wide.any(axis=1)
            ready = np.flatnonzero(~over)
            if len(ready):
                over[ready] = self.code.exceeds(self.support, middle[ready], half[ready], level)
                self.boxes += len(ready)
                work += len(ready) * share
            order = np.where(wide, half * HUGE, half * self._weights)
            for k in np.flatnonzero(over).tolist():
                node, deep, at = batch[k]
                axis = int(np.argmax(order[k]))
                axes[node], halves[node] = axis, len(axes)
                for side in range(2):
                    d, i = deep.copy(), at.copy()
                    d[axis] += 1
                    i[axis] = 2 * i[axis] + side
                    stack.append((len(axes), d, i))
                    axes.append(-1)
                    halves.append(0)
            if over.any():
                self._rise(middle[over])
            deepest = int(stack[-1][1].max()) if stack else 0
            if work > WORK or deepest > FINEST or not in_time:
                gap, work = 2 * gap, 0.0

    def _rise(self, middles: Array) -> None:
        """Climb on from the middle of a box where more is reached than before."""
        x = np.clip((middles - self.low) / np.maximum(self.high - self.low, TINY), 0.0, 1.0)
        sizes = self._sizes(x)
        k = int(sizes.argmax())
        if sizes[k] > self.reached.value * (1 + 1e-9):
            self.reached = self._climbed(x[k : k + 1])


def windows(row: Row, limits: StateLimits) -> tuple[Array, Array]:
    """The ranges of the joints that matter: a turn at most, and shares of the stroke of a slide."""
    low, high = limits.low[list(row.joints)], limits.high[list(row.joints)]
    middle, turns = 0.5 * low + 0.5 * high, ~np.array(row.slides, dtype=bool)
    far = turns & (high - low > TURN)
    half = 0.5 * TURN
    low, high = np.where(far, middle - half, low), np.where(far, middle + half, high)
    return np.where(turns, low, -1.0), np.where(turns, high, 1.0)


def evenly(count: int) -> Array:
    """Places that fill the unit cube, (m, joints)."""
    from scipy.stats import qmc  # noqa: PLC0415 (slow to import)

    return np.asarray(qmc.Sobol(count, scramble=False).random(FIRST_STATES))


STEPS = tuple(0.25 * 0.5**k for k in range(11))
"""Steps along a coordinate, in parts of its range."""
ROUNDS = 12
"""Steps of one length at most."""
Sizes = Callable[[Array], Array]
"""From places (m, k) in the unit cube to what is sought the largest of, (m,)."""


def climbed(sizes: Sizes, x: Array) -> Array:
    """The place (k,) of the largest that is reached from places (m, k) in the unit cube.

    Steps are along one coordinate at a time, the best of all, and become smaller.
    """
    value, rows = sizes(x), np.arange(len(x))
    moves = np.concatenate([np.eye(x.shape[1]), -np.eye(x.shape[1])])
    for step in STEPS:
        for _ in range(ROUNDS):
            tried = np.clip(x[:, None] + step * moves, 0.0, 1.0)
            there = sizes(tried.reshape(-1, x.shape[1])).reshape(len(x), -1)
            best = there.argmax(axis=1)
            better = there[rows, best] > value * (1 + 1e-12)
            if not better.any():
                break
            x = np.where(better[:, None], tried[rows, best], x)
            value = np.maximum(value, there.max(axis=1))
    return np.asarray(x[int(value.argmax())])
