"""What D, h and g depend on: exact evaluation at points where single symbols are drawn anew."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.expr.graph import Node
from armdyn.structure.field import (
    EXACT,
    FLOATS,
    Drawn,
    Point,
    symbol,
    values,
    values_and_slopes,
)
from armdyn.structure.graph import Trunk

SEEDS = (0, 1)
"""Points of the field at which everything is decided."""
CONFIGURATIONS = 256
"""Random configurations over which ranges are measured."""
CANCELLATION = 1e-12
"""Largest variation, relative to the size of an element, that counts as rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Which elements vanish, and on what the others depend."""

    zero: Array
    """(...), booleans."""
    on: Array
    """(..., k), booleans: whether they change with each of k joints or sets of joints."""
    constant: Array
    """(...), booleans: which depend on no joint, zeros among them."""


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """How the joint axes lie to each other and to gravity, in every configuration."""

    perpendicular: Array
    """(n, n), booleans."""
    parallel: Array
    constant: Array
    """Whether the angle between the two is constant."""
    level: Array
    """Whether the axis is horizontal, (n,)."""
    upright: Array


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Lowest and highest value over random configurations, and what to hold them against."""

    low: Array
    high: Array
    size: Array

    @property
    def rounding(self) -> Array:
        """Where the variation is no more than rounding."""
        return np.less_equal(self.high - self.low, CANCELLATION * self.size)


class Probe:
    """One trunk, evaluated."""

    def __init__(self, trunk: Trunk):
        self.trunk, self.n = trunk, len(trunk.q)
        self.absent = tuple(name for name in trunk.inertial if not trunk.numbers[name])
        """Inertial parameters that are zero."""
        self._zero, self._all = frozenset(self.absent), frozenset(trunk.q)

    def patterns(self) -> tuple[Pattern, Pattern, Pattern]:
        """D, h and g of the robot; each joint is drawn anew by itself."""
        return self._decided(self._zero, [frozenset([q]) for q in self.trunk.q])

    def always(self) -> tuple[Pattern, Pattern, Pattern]:
        """D, h and g of every robot of this geometry; all joints are drawn anew together."""
        return self._decided(frozenset(), [self._all])

    def _decided(
        self, zero: frozenset[str], redrawn: Sequence[frozenset[str]]
    ) -> tuple[Pattern, Pattern, Pattern]:
        again = (frozenset[str](), *redrawn)
        points = [Point(seed, names, zero) for seed in SEEDS for names in again]
        D, h, g = (_pattern(_by_seed(found, len(again))) for found in self._exact(points))
        return D, h, g

    def awakened(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """For D and g: which parameters that are zero make an element nonzero, which make it vary.

        Each of shape (..., absent), booleans.
        """
        points = [
            Point(seed, again, self._zero - {name})
            for seed in SEEDS
            for name in self.absent
            for again in (frozenset[str](), self._all)
        ]
        shape = (len(SEEDS), len(self.absent), 2)
        D = values(self.trunk.D.ravel(), Drawn(points), len(points))
        _, g = values_and_slopes([self.trunk.V], Drawn(points), len(points), self.trunk.q)
        found = []
        for entries, outer in ((D, (self.n, self.n)), (g[0], (self.n,))):
            at = entries.reshape(*outer, *shape)
            found.append(
                ((at != 0).any((-3, -1)), (at[..., 0] != at[..., 1]).any(-2)),
            )
        return found[0], found[1]

    def axes(self) -> Axes:
        """How the axes lie."""
        points = [Point(seed, again) for seed in SEEDS for again in (frozenset[str](), self._all)]
        trunk, n = self.trunk, self.n
        outputs = [*trunk.cosines.ravel(), *trunk.fall, *trunk.tilt.ravel()]
        at = values(outputs, Drawn(points), len(points))
        cosines = at[: n * n].reshape(n, n, -1)
        steady = _by_seed(cosines, 2)
        return Axes(
            (cosines == 0).all(-1),
            (EXACT.mul(cosines, cosines) == 1).all(-1),
            (steady[..., 0] == steady[..., 1]).all(-1),
            (at[n * n : n * n + n] == 0).all(-1),
            (at[n * n + n :].reshape(n, 3, -1) == 0).all((-2, -1)),
        )

    def ranges(self, joints: Sequence[tuple[float, float]]) -> tuple[Ranges, Ranges, Ranges]:
        """D, h and g in numbers, over random configurations within the ranges of the joints."""
        low, high = zip(*joints, strict=True)
        rng = np.random.default_rng(0)
        q = dict(zip(self.trunk.q, rng.uniform(low, high, (CONFIGURATIONS, self.n)).T, strict=True))

        def leaf(node: Node) -> Array:
            name = symbol(node)
            at = q[name] if name in q else np.full(CONFIGURATIONS, self.trunk.numbers[name])
            return {"sin": np.sin, "cos": np.cos}[node.op](at) if node.args else at

        found, slopes = values_and_slopes(self._outputs, leaf, CONFIGURATIONS, self.trunk.q, FLOATS)
        D, T, g = self._split(found, slopes)
        h = 0.5 * ((T + np.swapaxes(T, 1, 2)) - np.moveaxis(T, 2, 0))
        root = np.sqrt(np.abs(np.einsum("iip->ip", D)).max(-1))
        numbers = self.trunk.numbers
        mass = sum(abs(numbers[m]) for m in self.trunk.inertial if m[0] == "m" and m[1].isdigit())
        field = math.hypot(*(numbers.get(f"g{a}", 0.0) for a in "xyz"))
        sizes = (
            root[:, None] * root,
            root[:, None, None] * np.maximum(root[:, None], root),
            field * math.sqrt(mass) * root,  # by Cauchy and Schwarz no g_i is larger
        )
        return (
            Ranges(D.min(-1), D.max(-1), sizes[0]),
            Ranges(h.min(-1), h.max(-1), sizes[1]),
            Ranges(g.min(-1), g.max(-1), sizes[2]),
        )

    @property
    def _outputs(self) -> list[Node]:
        return [*self.trunk.D.ravel(), self.trunk.V]

    def _exact(self, points: Sequence[Point]) -> tuple[Array, Array, Array]:
        """D, 2h and g at points of the field."""
        found = values_and_slopes(self._outputs, Drawn(points), len(points), self.trunk.q)
        D, T, g = self._split(*found)
        # 2 h_ikm = ∂D_ik/∂q_m + ∂D_im/∂q_k - ∂D_km/∂q_i
        h = EXACT.sub(EXACT.add(T, np.swapaxes(T, 1, 2)), np.moveaxis(T, 2, 0))
        return D, h, g

    def _split(self, found: Array, slopes: Array) -> tuple[Array, Array, Array]:
        n = self.n
        return found[:-1].reshape(n, n, -1), slopes[:-1].reshape(n, n, n, -1), slopes[-1]


def _by_seed(entries: Array, points: int) -> Array:
    """(..., points of all seeds) as (..., seeds, points)."""
    return entries.reshape(*entries.shape[:-1], len(SEEDS), points)


def _pattern(at: Array) -> Pattern:
    moved = (at[..., 1:] != at[..., :1]).any(-2)
    return Pattern((at == 0).all((-2, -1)), moved, np.logical_not(moved.any(-1)))
