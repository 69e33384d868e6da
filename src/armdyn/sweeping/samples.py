"""Samples: random ones and those of Sobol's sequence, each made from its number alone.

Random numbers are those of a counter: columns 2c and 2c + 1 of the state i are the halves, 32 bits
each, of the finaliser of SplitMix64 (Steele, Lea, Flood 2014) of a word that i and c determine.
Sobol's points have 52 bits, the direction numbers of Joe and Kuo (2008) and the order of the Gray
code, each column shifted by a random word (a digital shift) if there is a seed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SweepError, counted, shown
from armdyn.forks import cached_property
from armdyn.kernels.llvm.sweep_states import LAST_SHIFT, MIXERS
from armdyn.kernels.llvm.sweep_states import ONE as BITS_OF_ONE
from armdyn.kernels.sweeper import padded
from armdyn.sweeping.columns import Columns, bounds, fixed, whole
from armdyn.sweeping.space import Over, Space, Words, lattice_words

GOLDEN = 0x9E3779B97F4A7C15
BITS = 52
"""Of a sample: those of the fraction of a double."""
ONE = np.uint64(BITS_OF_ONE)
"""The bits of 1.0."""
SOBOL_RUN = 1024
"""States in a run of Sobol's points, a power of two."""
MASK = 2**64 - 1


class Samples(Over):
    """States at random, or evenly spread, in ranges (lower, upper) of columns."""

    def __init__(self, count: int, seed: int | None = 0, **said: Any):
        self.count = whole("count", count)
        self.seed = None if seed is None else whole("seed", seed, 0)
        self.said = said

    def __repr__(self) -> str:
        said = "".join(f", {k}={v!r}" for k, v in self.said.items())
        return f"{type(self).__name__}({self.count}, seed={self.seed}{said})"

    def space(self, columns: Columns) -> "SampleSpace":
        """The samples."""
        ends = np.array(columns.read(self.said, _ends)).reshape(-1, 2)
        kind = RandomSpace if isinstance(self, Random) else SobolSpace
        return kind(columns, self.count, self.seed, ends)


class Random(Samples):
    """`Random(10**6, seed=0, q=(None, None), qd=(-1, 1))`: independent uniform states."""


class Sobol(Samples):
    """The same spread more evenly; `seed=None` are Sobol's own points, which begin at the corner.

    Means over a power of two of them converge fastest.
    """


def _ends(name: str, value: Any, limits: Array) -> tuple[float, float]:
    number = fixed(name, value)
    if number is not None:
        return number, number
    if isinstance(value, tuple) and len(value) == 2:
        return bounds(name, *value, limits)
    raise SweepError(f"{name}: expected a number or a range (lower, upper), got {shown(value)}")


@dataclass(frozen=True, eq=False)
class SampleSpace(Space):
    """Samples of columns between `ends`, (width, 2)."""

    columns: Columns
    count: int
    seed: int | None
    ends: Array

    @cached_property
    def varying(self) -> Array:
        """The columns that are sampled."""
        return np.flatnonzero(self.ends[:, 1] > self.ends[:, 0])

    @property
    def low(self) -> Array:
        """Lower ends of these."""
        return self.ends[self.varying, 0]

    @property
    def width(self) -> Array:
        """How wide their ranges are."""
        return np.asarray(self.ends[self.varying, 1] - self.low)

    def fractions(self, indices: Array) -> Array:
        """Words of 52 bits, (m, varying) uint64."""
        raise NotImplementedError

    def at(self, indices: Array) -> Array:
        """The states of some numbers."""
        result = np.empty((*np.shape(indices), self.columns.width))
        result[:] = self.ends[:, 0]
        words = self.fractions(np.ravel(indices).astype(np.uint64))
        unit = (words | ONE).view(np.float64) - 1.0
        result[..., self.varying] = (self.low + unit * self.width).reshape(*np.shape(indices), -1)
        return result

    def sampled(self, kind: str, runs: int, states: int, first: int, last: int) -> Words:
        """The words of a block of so many runs and states in a run: columns fixed and sampled."""
        splat = np.setdiff1d(np.arange(self.columns.width), self.varying)
        outer = np.broadcast_to(self.ends[splat, 0], (runs, len(splat)))
        none = np.empty((0, states)), np.empty(0, dtype=int)
        return lattice_words(outer, splat, *none, states, first, last - first) | {
            f"{kind}_count": len(self.varying),
            f"{kind}_columns": np.asarray(self.varying, dtype=np.int64),
            f"{kind}_low": np.array(self.low, dtype=float),
            f"{kind}_width": np.array(self.width, dtype=float),
        }

    def keys(self, seed: int) -> Array:
        """A word for each column that is sampled, (varying,) uint64."""
        key = int(mixed(np.array([seed + GOLDEN & MASK], dtype=np.uint64))[0])
        keys = [(key + (k + 1) * GOLDEN) & MASK for k in range(len(self.varying))]
        return np.array(keys, dtype=np.uint64)

    def describe(self) -> dict[str, Any]:
        """What the states depend on."""
        ends = dict(zip(self.columns.names, self.ends.tolist(), strict=True))
        return {"kind": type(self).__name__, "count": self.count, "seed": self.seed, "ranges": ends}


@dataclass(frozen=True, eq=False)
class RandomSpace(SampleSpace):
    """Independent states."""

    def __post_init__(self) -> None:
        if self.seed is None:
            raise SweepError("seed: random states need a whole number from 0 on, got None")

    @cached_property
    def _keys(self) -> Array:
        """Of each pair of columns."""
        return self.keys(self.seed or 0)[: -(-len(self.varying) // 2)]

    @property
    def _step(self) -> int:
        return (len(self._keys) * GOLDEN) & MASK

    def fractions(self, indices: Array) -> Array:
        """Words of 52 bits."""
        with np.errstate(over="ignore"):
            words = mixed((indices * np.uint64(self._step))[:, None] + self._keys)
        halves = np.stack((words >> np.uint64(32), words & np.uint64(2**32 - 1)), axis=-1)
        unused = np.uint64(BITS - 32)
        return (halves.reshape(len(indices), -1) << unused)[:, : len(self.varying)]

    def lattice(self, first: int, last: int) -> Words:
        """A run of all states."""
        words = self.sampled("random", 1, last - first, first, last)
        own = {"random_count": len(self._keys), "random_keys": self._keys}
        own["random_step"] = self._step
        for name in ("random_columns", "random_low", "random_width"):  # of whole pairs
            own[name] = np.append(words[name], words[name][-1:])
        return words | own

    def words(self) -> str:
        """What the states are."""
        return (
            f"{counted(self.count, 'random state', ',')} of "
            f"{counted(len(self.varying), 'column')}, seed {self.seed}"
        )


def mixed(words: Array) -> Array:
    """The finaliser of SplitMix64, uint64 to uint64."""
    with np.errstate(over="ignore"):
        for shift, factor in MIXERS:
            words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(words ^ (words >> np.uint64(LAST_SHIFT)))


@dataclass(frozen=True, eq=False)
class SobolSpace(SampleSpace):
    """Points of Sobol's sequence."""

    run = SOBOL_RUN

    def __post_init__(self) -> None:
        if self.count > 2**BITS:
            raise SweepError(
                f"count: Sobol's sequence has 2^{BITS} points here, got {self.count:.3g}"
            )

    @cached_property
    def _directions(self) -> Array:
        """Direction numbers, (varying, BITS) uint64."""
        from scipy.stats import qmc  # noqa: PLC0415 (slow to import)

        most = qmc.Sobol.MAXDIM
        if len(self.varying) > most:
            raise SweepError(f"Sobol's sequence has {most} columns, got {len(self.varying)}")
        engine = qmc.Sobol(max(1, len(self.varying)), scramble=False, bits=BITS)
        return np.asarray(engine._sv, dtype=np.uint64)[: len(self.varying)]

    @cached_property
    def _shift(self) -> Array:
        if self.seed is None:
            return np.zeros(len(self.varying), dtype=np.uint64)
        return mixed(self.keys(self.seed)) >> np.uint64(64 - BITS)

    def fractions(self, indices: Array) -> Array:
        """Words of 52 bits."""
        return self._words(indices) ^ self._shift

    def _words(self, indices: Array) -> Array:
        gray = indices ^ (indices >> np.uint64(1))
        result = np.zeros((len(indices), len(self.varying)), dtype=np.uint64)
        some = int(np.bitwise_or.reduce(gray, initial=np.uint64(0)))
        for bit in (k for k in range(some.bit_length()) if some >> k & 1):
            there = (gray >> np.uint64(bit)) & np.uint64(1)
            result ^= there[:, None] * self._directions[:, bit]
        return result

    @cached_property
    def _inner(self) -> Array:
        """The words of the first run, (varying, states)."""
        return self._words(np.arange(SOBOL_RUN, dtype=np.uint64)).T.copy()

    def lattice(self, first: int, last: int) -> Words:
        """Runs of a power of two: their points are those of the first one with a word added."""
        start = first - first % SOBOL_RUN
        runs = np.arange(start, last, SOBOL_RUN)
        outer = self.fractions(runs.astype(np.uint64))
        states = min(SOBOL_RUN, last - first)
        table = padded(self._inner[:, first - start : first - start + states])
        own = {"sobol_inner": table, "sobol_stride": table.strides[0]}
        own["sobol_outer"] = np.ascontiguousarray(outer)
        return self.sampled("sobol", len(runs), states, first, last) | own

    def words(self) -> str:
        """What the states are."""
        return (
            f"{counted(self.count, 'point', ',')} of Sobol's sequence in "
            f"{counted(len(self.varying), 'column')}"
        )
