"""The states of a sweep: so many rows of columns, any of which can be made alone."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from armdyn.arrays import Array
from armdyn.sweeping.columns import Columns


@dataclass(frozen=True, slots=True)
class Lattice:
    """Rows that repeat: the states of a block are all pairs of an outer and an inner row.

    Columns are splat (the same for an inner run), tabled (the same in every run) or sampled. It is
    all that a compiled loop needs to make them, so that states never go through memory.
    """

    outer: Array
    """Values of the splat columns in each run, (runs, splat)."""
    splat: Array
    """Which columns these are, (splat,)."""
    inner: Array
    """Values of the tabled columns in a run, (tabled, states)."""
    tabled: Array
    states: int
    """In a run."""
    first: int
    """Number of the first state."""
    random: "RandomColumns | None" = None
    sobol: "SobolColumns | None" = None


@dataclass(frozen=True, slots=True)
class RandomColumns:
    """Columns that a counter makes: the state i has mix(i · step + key) in each."""

    columns: Array
    keys: Array
    """(columns,) uint64."""
    step: int
    low: Array
    width: Array


@dataclass(frozen=True, slots=True)
class SobolColumns:
    """Columns whose bits are an outer word and an inner word, added without carry."""

    columns: Array
    outer: Array
    """(runs, columns) uint64."""
    inner: Array
    """(columns, states) uint64."""
    low: Array
    width: Array


class Space(ABC):
    """States by number, 0 to `count` - 1, each a row of columns."""

    columns: Columns
    count: int
    run: int = 1
    """States that belong together: blocks have whole runs, if they are as large."""

    @property
    def varying(self) -> Array:
        """The columns that are not the same in all states."""
        return np.arange(self.columns.width)

    @abstractmethod
    def rows(self, first: int, last: int) -> Array:
        """The states from `first` to before `last`, (last - first, width)."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What the states depend on, as plain data: equal data, equal states."""

    @abstractmethod
    def words(self) -> str:
        """What the states are, for reports."""

    def lattice(self, first: int, last: int) -> Lattice | None:
        """How a compiled loop makes the states of a block; None: they come as rows."""
        return None

    def pilot(self, count: int) -> Array:
        """About so many states spread over all, (m, width)."""
        return self.at(np.unique(np.linspace(0, self.count - 1, count).astype(np.int64)))

    def at(self, indices: Array) -> Array:
        """The states of some numbers, (..., width)."""
        flat = [self.rows(int(i), int(i) + 1)[0] for i in np.ravel(indices)]
        return np.array(flat).reshape(*np.shape(indices), self.columns.width)


class Over(Protocol):
    """What people write: it becomes a space when the columns are known."""

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments and columns that something is said about."""

    def space(self, columns: Columns) -> Space:
        """The states."""
