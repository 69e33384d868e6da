"""Files and arrays as tables of numbers that are read in blocks of rows, never whole."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LogError
from armdyn.io.csv.table import similar_files
from armdyn.io.log.binary_sources import ROWS_AT_ONCE, NpzSource, ParquetSource
from armdyn.io.log.csv_source import CsvSource
from armdyn.io.regular import check_path, check_regular

MAX_LOG_BYTES = 2**40
"""Largest log that is read [bytes]; blocks of it are in memory, never all of it."""


class LogSource(Protocol):
    """A table of numbers."""

    names: list[str]
    where: str
    listed: tuple[str, ...]
    """The joints in the order of numbered columns, if the log says it."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block, each (m, columns)."""


@dataclass
class ArraySource:
    """Arrays in memory."""

    names: list[str]
    where: str
    table: Array
    listed: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.table)

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block."""
        for start in range(0, len(self.table), ROWS_AT_ONCE):
            yield self.table[start : start + ROWS_AT_ONCE, list(columns)]


def open_source(path: str | Path) -> LogSource:
    """The table in a file, by its ending."""
    path = check_path(path)
    if not path.exists():
        raise LogError(f"there is no file {path}.{similar_files(path)}")
    check_regular(path, lambda text: LogError(f"{path}: {text}"), MAX_LOG_BYTES)
    kinds: dict[str, type] = {
        ".parquet": ParquetSource,
        ".npz": NpzSource,
        ".csv": CsvSource,
        ".txt": CsvSource,
    }
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise LogError(f"{path}: the ending must be one of {', '.join(kinds)}")
    try:
        return kind(path)
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror or error}") from None


def source_from_arrays(where: str, given: Mapping[str, Any]) -> ArraySource:
    """Arrays by name, each (m,) or (m, n), as a table."""
    names, columns = [], []
    for name, value in given.items():
        array = np.asarray(value)
        if array.dtype.kind not in "fiu" or array.ndim not in (1, 2):
            continue
        for k, column in enumerate(np.atleast_2d(array.T)):
            names.append(name if array.ndim == 1 else f"{name}{k + 1}")
            columns.append(column.astype(float))
    if len({len(column) for column in columns}) != 1:
        lengths = ", ".join(f"{name} {len(c)}" for name, c in zip(names, columns, strict=True))
        raise LogError(f"{where}: expected arrays of one length, got {lengths or 'none'}")
    return ArraySource(names, where, np.column_stack(columns))
