"""The log of an arm: positions and torques of its joints over time, read in blocks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, real
from armdyn.errors import LogError, counted, shown
from armdyn.io.csv.table import TableSource
from armdyn.io.log.columns import LONGEST_PERIOD, TIME_UNITS, TableColumns, find_columns
from armdyn.io.log.sources import ArraySource, open_source

_MOST_BACK = 0.2
"""Share of the time stamps that may step back, as where a recorder mixes its rows a little."""
ADVICE = (
    "Hold joints that are not in the log (locked=, --lock JOINT=VALUE), rename columns, or say "
    "which are meant"
)
_FIELDS = ("t", "q", "qd", "qdd", "tau", "current")


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of a log: times (m,) [s], the rest (m, n) in SI units; NaN is a missing number."""

    t: Array
    q: Array
    tau: Array
    qd: Array | None = None
    qdd: Array | None = None

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, rows: Any) -> "Samples":
        parts = (getattr(self, name) for name in self.__slots__)
        return Samples(*(None if part is None else part[rows] for part in parts))  # type: ignore[arg-type]

    def joined(self, other: "Samples") -> "Samples":
        """These and then the other ones."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return Samples(*(None if a is None else np.concatenate([a, b]) for a, b in pairs))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Log:
    """A log, or a part of it, that can be read any number of times."""

    source: TableSource
    columns: TableColumns
    scales: Array
    """What the numbers in each used column are multiplied with."""
    period: float
    """Usual time between samples [s]."""
    first: int = 0
    """The first row that counts."""
    last: int | None = None
    """The row behind the last one that counts; None: the end."""
    turns: Sequence[bool] = ()
    """Which joints turn."""

    @property
    def where(self) -> str:
        """The file, or what the arrays are called."""
        return self.source.where

    @property
    def rows(self) -> int:
        """How many rows count."""
        last = self.source.rows if self.last is None else min(self.last, self.source.rows)
        return max(last - self.first, 0)

    def part(self, first: int, last: int | None) -> "Log":
        """These rows alone."""
        return replace(self, first=first, last=last)

    def blocks(self) -> Iterator[Samples]:
        """The samples, block by block."""
        row = 0
        for block in self.source.blocks(self.columns.used):
            start, stop = max(self.first - row, 0), len(block)
            if self.last is not None:
                stop = min(self.last - row, stop)
            if start < stop:
                yield self._samples(block[start:stop], row + start)
            row += len(block)
            if self.last is not None and row >= self.last:
                return

    def _samples(self, block: Array, row: int) -> Samples:
        parts = self.columns.split(block * self.scales)
        if "current" in parts:
            parts["tau"] = parts.pop("current")
        if not self.columns.time:
            parts["t"] = (row + np.arange(len(block))) * self.period
        return Samples(**parts)


def open_log(
    data: Any,
    joints: Sequence[str],
    turns: Sequence[bool],
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    degrees: bool = False,
    gains: npt.ArrayLike | None = None,
    rate: float | None = None,
    time_unit: str | None = None,
    name: str = "data",
) -> Log:
    """The log in a file (.csv, .parquet, .npz), or in arrays t, q, tau and, where known, qd, qdd.

    Args:
        data: A path, a mapping of arrays, or anything with arrays as attributes.
        joints: Names of the joints, in order.
        turns: Which of them turn; degrees are of these.
        columns: Which columns are meant, if their names do not tell.
        degrees: Whether angles and their rates are in degrees.
        gains: What the torques, or the currents, are multiplied with, (n,) [N m/A].
        rate: Samples a second, if there are no time stamps.
        time_unit: Unit of the time stamps; None: as the log says, else seconds.
        name: What arrays are called in messages.
    """
    path = isinstance(data, str | Path)
    source = open_source(data) if path else ArraySource(name, _arrays(name, data))
    found = find_columns(
        source, joints, ("q", "tau", "qd", "qdd", "current"), given=columns, advice=ADVICE
    )
    if not found.time and rate is None:
        raise LogError(
            f"{source.where}: there is no column of time (t, time, timestamp, ...); say how many "
            "samples there are a second: rate=..."
        )
    if rate is not None and not 0 < real(rate) < np.inf:
        raise LogError(f"rate: expected samples a second, more than 0, got {shown(rate)}")
    if rate is not None:
        found = replace(found, time=())
    if time_unit is not None and time_unit not in TIME_UNITS:
        expected = ", ".join(TIME_UNITS)
        raise LogError(f"time_unit: expected one of {expected}, got {shown(time_unit)}")
    gain = _gains(source, found, gains, len(joints))
    scales = found.scales(turns, degrees, gain, time_unit)
    period = _period(source, found, scales, time_unit) if rate is None else 1.0 / rate
    return Log(source, found, scales, period, turns=turns)


def _arrays(name: str, data: Any) -> Mapping[str, Any]:
    if isinstance(data, Mapping):
        return data
    given = {key: getattr(data, key) for key in _FIELDS if getattr(data, key, None) is not None}
    if "q" not in given:
        raise LogError(
            f"{name}: expected a .csv, .parquet or .npz file, or arrays t, q and tau, got "
            f"{shown(data)}"
        )
    return given


def _gains(source: TableSource, found: TableColumns, given: npt.ArrayLike | None, n: int) -> Array:
    """What the torques or currents of each joint are multiplied with, one or (n,)."""
    if given is None and "current" in found.places:
        raise LogError(
            f"{source.where}: there are currents and no torques; give the gains of the drives in "
            "N m/A at the joint: gains=[...], or 1 for each, and the robot is found up to these "
            "factors"
        )
    gains = np.asarray(1.0 if given is None else given, dtype=float)
    if gains.shape not in ((), (n,)) or not np.isfinite(gains).all() or not gains.all():
        raise LogError(f"gains: expected {counted(n, 'number')} other than 0, got {shown(given)}")
    return gains


def _period(source: TableSource, found: TableColumns, scales: Array, unit: str | None) -> float:
    """The usual time between samples [s]."""
    first = next(source.blocks(found.used), np.zeros((0, len(scales))))
    period = _usual_step(source.where, np.diff(found.split(first * scales)["t"]))
    known = unit or found.time_unit or len(found.time) == 2
    if period > LONGEST_PERIOD and not known:
        told = next((u for u in ("ms", "us", "ns") if period * TIME_UNITS[u] <= 0.2), "ns")
        raise LogError(
            f"{source.where}: time stamps are {period:g} apart, too far for seconds; if they are "
            f"in {told}, say time_unit={told!r}"
        )
    return period


def _usual_step(where: str, steps: Array) -> float:
    """The median of steps of time that go forwards [s]; an error if too few do."""
    forwards = steps[steps > 0]
    if not len(forwards):
        raise LogError(f"{where}: there are no two samples with increasing times")
    back = float(np.mean(steps < 0))
    if back > _MOST_BACK:
        raise LogError(
            f"{where}: {100 * back:.0f} % of the time stamps are before the one in front; rows "
            "come in the order of time: sort them, or check the column of time"
        )
    return float(np.median(forwards))
