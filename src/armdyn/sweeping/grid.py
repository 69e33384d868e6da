"""Grids: every combination of some values of some columns."""

from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import SweepError, counted, shown
from armdyn.forks import cached_property
from armdyn.simulation.checks import floats
from armdyn.sweeping.columns import Columns, bounds, fixed, whole
from armdyn.sweeping.space import Over, Space, Words, lattice_words

SHORTEST_RUN = 1024
"""States of a run, below which another axis is taken into it."""
LARGEST_STATES = 2**53
"""Most states of a sweep."""


class Grid(Over):
    """Every combination of the values of the columns that have a range.

    `Grid(q=(None, None, 20), qd2=(-1, 1, 5), qdd=0.5)`: 20 positions between the limits of each
    joint, five speeds of the second joint, fixed accelerations. A list of numbers for one column
    are its values. The last column changes first.
    """

    def __init__(self, **said: Any):
        self.said = said

    def __repr__(self) -> str:
        return f"Grid({', '.join(f'{k}={v!r}' for k, v in self.said.items())})"

    def space(self, columns: Columns) -> "GridSpace":
        """The grid."""
        return GridSpace(columns, tuple(columns.read(self.said, _axis)))


@dataclass(frozen=True, eq=False)
class Axis:
    """The values of a column."""

    lower: float
    upper: float
    count: int
    listed: Array | None = None
    """The values, if they are not evenly spaced."""

    def at(self, k: Array) -> Array:
        """The values of some numbers; the ends are exact."""
        if self.listed is not None:
            return self.listed[k]
        if self.count == 1:
            return np.full(np.shape(k), self.lower)
        step = (self.upper - self.lower) / (self.count - 1)
        return np.where(k == self.count - 1, self.upper, self.lower + k * step)

    def describe(self) -> Any:
        """As plain data."""
        ends = [self.lower, self.upper, self.count]
        return ends if self.listed is None else self.listed.tolist()


def _axis(name: str, value: Any, limits: Array) -> Axis:
    number = fixed(name, value)
    if number is not None:
        return Axis(number, number, 1)
    if isinstance(value, tuple) and len(value) == 3:
        low, high = bounds(name, value[0], value[1], limits)
        return Axis(low, high, whole(f"points of {name}", value[2]))
    if isinstance(value, list | np.ndarray):
        listed = frozen(floats(value))
        if listed.ndim == 1 and listed.size and np.isfinite(listed).all():
            return Axis(float(listed[0]), float(listed[-1]), listed.size, listed)
    raise SweepError(
        f"{name}: expected a number, a range (lower, upper, points) or a list of finite "
        f"numbers, got {shown(value)}"
    )


@dataclass(frozen=True, eq=False)
class GridSpace(Space):
    """A grid; axes of one value are there too."""

    columns: Columns
    axes: tuple[Axis, ...]
    """Of every column."""
    kept: tuple[int, ...] = ()
    """Columns whose axes come first, because a result is wanted for each of their values."""
    order: tuple[int, ...] = field(init=False)
    """The columns that vary, slowest first."""

    def __post_init__(self) -> None:
        varying = [c for c, axis in enumerate(self.axes) if axis.count > 1 and c not in self.kept]
        object.__setattr__(self, "order", (*self.kept, *varying))
        if self.count > LARGEST_STATES:
            raise SweepError(
                f"the grid has {self.count:.3g} states, more than the {LARGEST_STATES:.3g} that "
                "can be numbered; give fewer points, or take samples"
            )

    def by(self, names: tuple[str, ...]) -> "GridSpace":
        """The grid with some columns first."""
        if len(set(names)) < len(names):
            raise SweepError(f"by: each column once, got {', '.join(names)}")
        return replace(self, kept=tuple(self.columns.place(name) for name in names))

    @property
    def varying(self) -> Array:
        """The columns that are not the same in all states."""
        return np.sort(self.order)

    @property
    def shape(self) -> tuple[int, ...]:
        """Values of each column that varies, slowest first."""
        return tuple(self.axes[c].count for c in self.order)

    @cached_property
    def count(self) -> int:
        """How many states there are."""
        return prod(self.shape)

    @property
    def cells(self) -> tuple[int, ...]:
        """Values of each column that is kept."""
        return self.shape[: len(self.kept)]

    @cached_property
    def _inner(self) -> int:
        """How many axes are in a run: from the last one on, until it is long enough."""
        free = self.shape[len(self.kept) :]
        lengths = [*accumulate(reversed(free), int.__mul__)]
        return next((k + 1 for k, n in enumerate(lengths) if n >= SHORTEST_RUN), len(free))

    @cached_property
    def run(self) -> int:
        """States in a run."""
        return prod(self.shape[len(self.shape) - self._inner :])

    def at(self, indices: Array) -> Array:
        """The states of some numbers, (..., width)."""
        result = np.empty((*np.shape(indices), self.columns.width))
        for c, axis in enumerate(self.axes):
            result[..., c] = axis.lower
        digits = np.unravel_index(indices, self.shape) if self.shape else ()
        for c, k in zip(self.order, digits, strict=True):
            result[..., c] = self.axes[c].at(k)
        return result

    @cached_property
    def _split(self) -> tuple[Array, Array]:
        """The columns that are the same in a run, and those that are the same in every run."""
        tabled = np.array(self.order[len(self.order) - self._inner :], dtype=int)
        return np.setdiff1d(np.arange(self.columns.width), tabled), tabled

    def _table(self, first: int, last: int) -> Array:
        """The values of the columns that vary in a run, (tabled, states)."""
        return self.at(np.arange(first, last))[:, self._split[1]].T

    @cached_property
    def _whole_table(self) -> Array:
        return self._table(0, self.run)

    def lattice(self, first: int, last: int) -> Words:
        """How a compiled loop makes a block: of whole runs, or of a part of one."""
        begin = first % self.run
        states = min(self.run, last - first)
        whole = states == self.run
        inner = self._whole_table if whole else self._table(begin, begin + states)
        splat, tabled = self._split
        runs = self.at(np.arange(first - begin, last, self.run))[:, splat]
        return lattice_words(runs, splat, inner, tabled, states, first, last - first)

    def describe(self) -> dict[str, Any]:
        """What the states depend on."""
        axes = dict(zip(self.columns.names, (a.describe() for a in self.axes), strict=True))
        return {"kind": "grid", "axes": axes, "first": [self.columns.names[c] for c in self.kept]}

    def words(self) -> str:
        """What the states are."""
        axes = (f"{self.columns.names[c]} {self.axes[c].count}" for c in self.order)
        return f"a grid of {counted(self.count, 'state', ',')} ({', '.join(axes) or 'one point'})"
