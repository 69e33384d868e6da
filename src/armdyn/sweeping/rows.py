"""States that are there already: arrays in memory or on disk, of dask or xarray, files, motions."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SweepError, check_installed, counted, shown
from armdyn.io.csv.trajectory import trajectory_from_csv, warn_of_unused
from armdyn.io.regular import check_path
from armdyn.robot import Robot
from armdyn.simulation.trajectories import sampled
from armdyn.sweeping.columns import Columns
from armdyn.sweeping.space import Over, Space
from armdyn.sweeping.store import ParquetRows

INSTANTS = 10_000
"""Steps into which a trajectory is cut."""
DIGESTED_ROWS = 1000
"""Rows at either end of an array that tell it from others."""
PILOT_PIECES = 8
"""Pieces in which some states are read."""
LIKE = "a Grid, Random or Sobol, a trajectory or file, or arrays by the names of arguments"


@dataclass(frozen=True, eq=False)
class Rows(Over):
    """Arrays (m, length) by the names of arguments; they are read piece by piece."""

    said: Mapping[str, Any]
    source: str = ""
    """The file, motion or dataset that they are of."""

    def space(self, columns: Columns) -> "RowSpace":
        """The states."""
        counts = {}
        given = self.said
        if self.source:  # which has what other quantities need, too
            given = {name: array for name, array in given.items() if name in columns.sizes}
        for name, array in given.items():
            if name not in columns.sizes:
                raise SweepError(
                    f"there is no argument {name!r} here; arrays are those of "
                    f"{', '.join(columns.sizes)}"
                )
            shape = tuple(getattr(array, "shape", ()))
            if len(shape) != 2 or shape[1] != columns.sizes[name]:
                raise SweepError(
                    f"{name}: expected an array of shape (states, {columns.sizes[name]}), got "
                    f"{shape or shown(array)}"
                )
            counts[name] = shape[0]
        if len(set(counts.values())) != 1 or not all(counts.values()):
            told = ", ".join(f"{count} of {name}" for name, count in counts.items())
            raise SweepError(
                f"expected as many states in every array, at least one, got {told or 0}"
            )
        return RowSpace(columns, dict(given), counts.popitem()[1], self.source)


@dataclass(frozen=True, eq=False)
class RowSpace(Space):
    """Rows of arrays; arguments without an array keep their usual values."""

    columns: Columns
    arrays: Mapping[str, Any]
    count: int
    source: str

    def rows(self, first: int, last: int, parts: Mapping[str, Any] | None = None) -> Array:
        """The states from `first` to before `last`; `parts` are those that somebody else read."""
        read = dict(parts or {})
        result = np.empty((last - first, self.columns.width))
        result[:] = self.columns.usual
        for name, into in self.columns.split(result).items():
            if name in read or name in self.arrays:
                try:
                    part = read[name] if name in read else self.arrays[name][first:last]
                    into[:] = np.asarray(part, dtype=float)
                except Exception as reason:  # of whatever library the array is
                    raise SweepError(
                        f"{self.source or 'arrays'}: states {first} to {last - 1} of {name} are no "
                        f"numbers, or damaged ({reason}); write them anew, or sweep over others"
                    ) from reason
        return result

    def at(self, indices: Array) -> Array:
        """The states of some numbers, each read by itself."""
        flat = [self.rows(int(i), int(i) + 1)[0] for i in np.ravel(indices)]
        return np.array(flat).reshape(*np.shape(indices), self.columns.width)

    def pilot(self, count: int) -> Array:
        """Some states in a few pieces, which are read at once."""
        size = min(count, self.count) // PILOT_PIECES + 1
        starts = np.unique(np.linspace(0, max(0, self.count - size), PILOT_PIECES).astype(int))
        return np.concatenate([self.rows(k, min(k + size, self.count)) for k in starts.tolist()])

    @property
    def lazy(self) -> bool:
        """Whether arrays are computed by dask, which then must do it."""
        return any(hasattr(array, "__dask_graph__") for array in self.arrays.values())

    def describe(self) -> dict[str, Any]:
        """What the states depend on; of large arrays both ends."""
        digest = hashlib.sha256()
        ends = {
            (0, min(DIGESTED_ROWS, self.count)),
            (max(0, self.count - DIGESTED_ROWS), self.count),
        }
        for first, last in sorted(ends):
            digest.update(np.ascontiguousarray(self.rows(first, last)).tobytes())
        arrays = {name: list(array.shape) for name, array in self.arrays.items()}
        return {"kind": "rows", "arrays": arrays, "digest": digest.hexdigest()}

    def words(self) -> str:
        """What the states are."""
        return f"{counted(self.count, 'state', ',')} of {self.source or 'arrays'}"


def read_over(robot: Robot, over: Any) -> Over:
    """What is swept over, from any of the ways in which it can be given."""
    if isinstance(over, Over):
        return over
    if isinstance(over, str | Path):
        return _file(robot, check_path(over))
    if callable(over) and hasattr(over, "duration"):
        over = sampled(over, over.duration / INSTANTS if over.duration else 1.0)
    if hasattr(over, "data_vars"):  # an xarray.Dataset
        return Rows({str(name): over[name].data for name in over.data_vars}, "a dataset")
    if isinstance(over, Mapping):
        return Rows({str(k): _array(v) for k, v in over.items()})
    if all(hasattr(over, name) for name in ("q", "qd", "qdd")):
        return Rows({k: _array(getattr(over, k)) for k in ("q", "qd", "qdd")}, _source(over))
    raise SweepError(f"over: expected {LIKE}, got {shown(over)}")


def _source(motion: Any) -> str:
    """The file that a motion was read from."""
    source = getattr(motion, "source", "")
    return Path(source).name if source else "a motion"


def _array(value: Any) -> Any:
    """An array that knows its shape; those of xarray have one of another library inside."""
    if hasattr(value, "dims") and hasattr(value, "data"):
        value = value.data
    if hasattr(value, "shape") and hasattr(value, "__getitem__") and not np.ma.is_masked(value):
        return value
    try:
        return np.asarray("" if np.ma.is_masked(value) else value, dtype=float)
    except (TypeError, ValueError):
        raise SweepError(f"expected an array of numbers, got {shown(value)}") from None


def _file(robot: Robot, path: Path) -> Over:
    kind = path.suffix.lower()
    if kind == ".csv":
        motion = trajectory_from_csv(path, robot.model)
        warn_of_unused(motion.source, motion.unused)
        return read_over(robot, motion)
    if not os.path.exists(path):  # also if no file can have such a name
        raise SweepError(f"there is no file {path}")
    if kind == ".parquet":
        return Rows(ParquetRows.arguments(path), path.name)
    if kind == ".zarr":
        check_installed("zarr", "sweep", "reading a Zarr store")
        import zarr  # noqa: PLC0415 (an extra)

        try:
            group = zarr.open_group(path, mode="r")
        except Exception as reason:  # each part of it has its own
            raise SweepError(f"{path}: this is no Zarr store that can be read: {reason}") from None
        known = ("q", "qd", "qdd", "tau", "payload", "gravity")
        arrays: dict[str, Any] = {name: group[name] for name in known if name in group}
        return Rows(arrays, path.name)
    raise SweepError(
        f"{path}: states are read from .csv, .parquet and .zarr, not from {kind or 'this'}"
    )
