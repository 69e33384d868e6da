"""Files and arrays as tables of numbers that are read in blocks of rows, never whole."""

import importlib.util
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynError, LogError, MissingExtraError
from armdyn.io.csv.table import STANDARD_INPUT, CsvTable, TableSource, similar_files
from armdyn.io.regular import check_path, check_regular

MAX_LOG_BYTES = 2**40
"""Largest log that is read [bytes]; blocks of it are in memory, never all of it."""
ROWS_AT_ONCE = 2**16


def open_source(
    path: str | Path,
    error: type[ArmdynError] = LogError,
    expected: str = "t,q1,...,tau1,...",
    most: int = MAX_LOG_BYTES,
) -> TableSource:
    """The table in a file, by its ending; one of motions without any is a CSV file.

    Args:
        path: The file; "-" is standard input.
        error: The class of errors.
        expected: What a header looks like, for messages.
        most: Largest file that is read [bytes].
    """
    path = check_path(path)
    if str(path) != STANDARD_INPUT:
        if not os.path.lexists(path):
            raise error(f"there is no file {path}.{similar_files(path)}")
        check_regular(path, lambda text: error(f"{path}: {text}"), most)
    kinds: dict[str, type] = {
        ".parquet": ParquetSource,
        ".npz": NpzSource,
        ".csv": CsvTable,
        ".txt": CsvTable,
    }
    kind = kinds.get(path.suffix.lower(), None if error is LogError else CsvTable)
    if kind is None:
        raise error(f"{path}: the ending must be one of {', '.join(kinds)}")
    try:
        return kind(path, error, expected)
    except OSError as fault:
        raise error(f"{path}: cannot be read: {fault.strerror or fault}") from None


class ArraySource(TableSource):
    """Arrays in memory by name, each (m,) or (m, n); columns of the latter count from 1.

    What is masked is missing.
    """

    def __init__(self, where: str, given: Mapping[str, Any]):
        super().__init__(where, LogError)
        columns = []
        for name, value in given.items():
            array = np.asanyarray(value)
            if array.dtype.kind not in "fiu" or array.ndim not in (1, 2):
                continue
            for k, column in enumerate(np.atleast_2d(array.T)):
                self.names.append(name if array.ndim == 1 else f"{name}{k + 1}")
                columns.append(np.ma.filled(column.astype(float), np.nan))
        if len({len(column) for column in columns}) != 1:
            pairs = zip(self.names, columns, strict=True)
            lengths = ", ".join(f"{name} {len(column)}" for name, column in pairs)
            raise LogError(f"{where}: expected arrays of one length, got {lengths or 'none'}")
        self._table = np.column_stack(columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._table)

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block."""
        for start in range(0, len(self._table), ROWS_AT_ONCE):
            yield self._table[start : start + ROWS_AT_ONCE, list(columns)]


class ParquetSource(TableSource):
    """A Parquet file; columns of lists count as numbered columns."""

    def __init__(self, path: Path, error: type[ArmdynError], expected: str):
        super().__init__(str(path), error)
        if importlib.util.find_spec("pyarrow") is None:
            raise MissingExtraError("pyarrow", "parquet", "reading Parquet")
        import pyarrow as pa  # noqa: PLC0415 (an extra)
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            self._file = pq.ParquetFile(path)
        except (pa.ArrowInvalid, OSError) as fault:
            raise error(f"{path}: this is no Parquet file: {fault!s:.100}") from None
        self.names = list(self._file.schema_arrow.names)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._file.metadata.num_rows)

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block."""
        names = [self.names[i] for i in columns]
        for batch in self._batches(list(dict.fromkeys(names))):
            try:
                yield np.column_stack(
                    [np.asarray(batch.column(name).to_numpy(False), float) for name in names]
                )
            except (TypeError, ValueError):
                raise self.error(
                    f"{self.where}: a column of {', '.join(names)!s:.80} has no numbers"
                ) from None

    def _batches(self, names: list[str]) -> Iterator[Any]:
        """Batches of rows, group by group: a reader of all groups keeps what it has read."""
        for group in range(self._file.metadata.num_row_groups):
            yield from self._file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=names)


class NpzSource(TableSource):
    """An NPZ file with arrays (m,), or (m, n) whose columns count as numbered from 1."""

    def __init__(self, path: Path, error: type[ArmdynError], expected: str):
        super().__init__(str(path), error)
        self._parts: list[tuple[str, int]] = []
        self._shapes: dict[str, tuple[tuple[int, ...], bool, np.dtype[Any]]] = {}
        try:
            with zipfile.ZipFile(path) as file:
                for member in file.namelist():
                    with file.open(member) as stream:
                        self._shapes[member] = _npy_header(stream)
        except (zipfile.BadZipFile, ValueError, OSError) as fault:
            raise error(f"{path}: this is no NPZ file: {fault!s:.100}") from None
        for member, (shape, _, dtype) in self._shapes.items():
            if dtype.kind not in "fiu" or len(shape) not in (1, 2):
                continue
            for k in range(shape[1] if len(shape) == 2 else 1):
                name = member.removesuffix(".npy")
                self.names.append(f"{name}{k + 1}" if len(shape) == 2 else name)
                self._parts.append((member, k))

    @property
    def rows(self) -> int:
        """How many rows the first array has that is used."""
        return max((self._shapes[member][0][0] for member, _ in self._parts), default=0)

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block."""
        members = list(dict.fromkeys(self._parts[i][0] for i in columns))
        lengths = {self._shapes[member][0][0] for member in members}
        if len(lengths) > 1:
            raise self.error(f"{self.where}: arrays of different lengths {sorted(lengths)}")
        with zipfile.ZipFile(self.where) as file:
            streams = {member: file.open(member) for member in members}
            for stream in streams.values():
                _npy_header(stream)
            done, (length,) = 0, lengths
            by_columns = any(self._shapes[m][1] for m in members)  # no row is whole before the end
            while done < length:
                count = length if by_columns else min(ROWS_AT_ONCE, length - done)
                rows = {m: _npy_rows(streams[m], self._shapes[m], count) for m in members}
                yield np.column_stack([rows[m][:, k] for m, k in (self._parts[i] for i in columns)])
                done += count


def _npy_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"version {version} of the NPY format")
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype


def _npy_rows(
    stream: Any, header: tuple[tuple[int, ...], bool, np.dtype[Any]], count: int
) -> Array:
    shape, by_columns, dtype = header
    width = shape[1] if len(shape) == 2 else 1
    data = stream.read(count * width * dtype.itemsize)
    order: Literal["C", "F"] = "F" if by_columns else "C"
    return np.frombuffer(data, dtype).reshape((count, width), order=order).astype(float)
