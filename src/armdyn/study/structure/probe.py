"""What D, h and g depend on: exact evaluation at points where single symbols are drawn anew."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.graph import field
from armdyn.study.structure.field import Drawn, Point, values_and_slopes
from armdyn.study.structure.graph import Trunk

SEEDS = (0, 1)
"""Points of the field at which everything is decided."""


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
        n, outputs = self.n, [*self.trunk.D.ravel(), self.trunk.V]
        found, slopes = values_and_slopes(outputs, Drawn(points), self.trunk.q)
        T = slopes[:-1].reshape(n, n, n, -1)
        # 2 h_ikm = ∂D_ik/∂q_m + ∂D_im/∂q_k - ∂D_km/∂q_i
        h = field.sub(field.add(T, np.swapaxes(T, 1, 2)), np.moveaxis(T, 2, 0))
        return _pattern(found[:-1].reshape(n, n, -1)), _pattern(h), _pattern(slopes[-1])

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

        def woken(entries: Array, *shape: int) -> tuple[Array, Array]:
            at = entries.reshape(*shape, len(SEEDS), len(self.absent), 2)
            return (at != 0).any((-3, -1)), (at[..., 0] != at[..., 1]).any(-2)

        D, _ = values_and_slopes(self.trunk.D.ravel(), Drawn(points))
        _, g = values_and_slopes([self.trunk.V], Drawn(points), self.trunk.q)
        return woken(D, self.n, self.n), woken(g[0], self.n)

    def axes(self) -> Axes:
        """How the axes lie."""
        points = [Point(seed, again) for seed in SEEDS for again in (frozenset[str](), self._all)]
        trunk, n = self.trunk, self.n
        outputs = [*trunk.cosines.ravel(), *trunk.fall, *trunk.tilt.ravel()]
        at, _ = values_and_slopes(outputs, Drawn(points))
        cosines = at[: n * n].reshape(n, n, -1)
        angles = _pattern(cosines)
        return Axes(
            angles.zero,
            (field.mul(cosines, cosines) == 1).all(-1),
            angles.constant,
            (at[n * n : n * n + n] == 0).all(-1),
            (at[n * n + n :].reshape(n, 3, -1) == 0).all((-2, -1)),
        )


def _pattern(entries: Array) -> Pattern:
    """What the values (..., points) say, the first point of each seed being the one to compare."""
    at = entries.reshape(*entries.shape[:-1], len(SEEDS), -1)
    moved = (at[..., 1:] != at[..., :1]).any(-2)
    return Pattern((at == 0).all((-2, -1)), moved, np.logical_not(moved.any(-1)))
