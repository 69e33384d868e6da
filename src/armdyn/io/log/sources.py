"""Files and arrays as tables of numbers that are read in blocks of rows, never whole."""

import csv
import importlib.util
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LogError, MissingExtraError, counted
from armdyn.forks import cached_property
from armdyn.io.csv.table import similar_files
from armdyn.io.regular import check_path, check_regular

MAX_LOG_BYTES = 2**40
"""Largest log that is read [bytes]; blocks of it are in memory, never all of it."""
ROWS_AT_ONCE = 2**16
BYTES_AT_ONCE = 2**24
"""Text that is turned into numbers at once [bytes]."""
_SEPARATORS = ",;\t"


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


class ParquetSource:
    """A Parquet file; columns of lists count as numbered columns."""

    listed: tuple[str, ...] = ()

    def __init__(self, path: Path):
        if importlib.util.find_spec("pyarrow") is None:
            raise MissingExtraError("pyarrow", "parquet", "reading Parquet")
        import pyarrow as pa  # noqa: PLC0415 (an extra)
        import pyarrow.parquet as pq  # noqa: PLC0415

        self.where = str(path)
        try:
            self._file = pq.ParquetFile(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise LogError(f"{path}: this is no Parquet file: {error!s:.100}") from None
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
                raise LogError(
                    f"{self.where}: a column of {', '.join(names)!s:.80} has no numbers"
                ) from None

    def _batches(self, names: list[str]) -> Iterator[Any]:
        """Batches of rows, group by group: a reader of all groups keeps what it has read."""
        for group in range(self._file.metadata.num_row_groups):
            yield from self._file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=names)


class NpzSource:
    """An NPZ file with arrays (m,), or (m, n) whose columns count as numbered from 1."""

    listed: tuple[str, ...] = ()

    def __init__(self, path: Path):
        self.where, self.path = str(path), path
        self.names: list[str] = []
        self._parts: list[tuple[str, int]] = []
        self._shapes: dict[str, tuple[tuple[int, ...], bool, np.dtype[Any]]] = {}
        try:
            with zipfile.ZipFile(path) as file:
                for member in file.namelist():
                    with file.open(member) as stream:
                        self._shapes[member] = _npy_header(stream)
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise LogError(f"{path}: this is no NPZ file: {error!s:.100}") from None
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
            raise LogError(f"{self.where}: arrays of different lengths {sorted(lengths)}")
        with zipfile.ZipFile(self.path) as file:
            streams = {member: file.open(member) for member in members}
            for stream in streams.values():
                _npy_header(stream)
            done, (length,) = 0, lengths
            if any(self._shapes[m][1] and len(self._shapes[m][0]) == 2 for m in members):
                arrays = {m: np.load(BytesIO(file.read(m)), allow_pickle=False) for m in members}
                yield np.column_stack(
                    [
                        arrays[m].reshape(length, -1)[:, k]
                        for m, k in map(self._parts.__getitem__, columns)
                    ]
                ).astype(float)
                return
            while done < length:
                count = min(ROWS_AT_ONCE, length - done)
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
    shape, _, dtype = header
    width = shape[1] if len(shape) == 2 else 1
    data = stream.read(count * width * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(count, width).astype(float)


class CsvSource:
    """A CSV file with a header; cells that are empty are missing numbers."""

    def __init__(self, path: Path):
        self.where, self.path = str(path), path
        with open(path, "rb") as file:
            header, second = file.readline(2**20), file.readline(2**20)
        try:
            text = header.decode("utf-8-sig").strip().lstrip("%# ")
        except UnicodeDecodeError:
            raise LogError(f"{path}:1: this is not UTF-8 text; save the log as CSV") from None
        if not text:
            raise LogError(f"{path}: the file is empty; expected a header as t,q1,...,tau1,...")
        self._separator = max(_SEPARATORS, key=text.count)
        self.names = [name.strip().strip('"').strip() for name in text.split(self._separator)]
        if all(_is_number(name) for name in self.names):
            raise LogError(
                f"{path}:1: the first line has numbers; expected the names of the columns, as "
                "t,q1,...,tau1,..."
            )
        self._skip = len(header)
        self.listed = self._joints_listed(second.decode("utf-8", "replace"))

    def _joints_listed(self, line: str) -> tuple[str, ...]:
        """The joints that a first line of a ROS export names in field.name0, field.name1, ..."""
        cells = next(csv.reader([line], delimiter=self._separator), [])
        pairs = zip(self.names, cells, strict=False)
        return tuple(cell.strip() for name, cell in pairs if re.fullmatch(r".*name_?\d+", name))

    @cached_property
    def rows(self) -> int:
        """How many lines follow the header."""
        count, last = 0, b"\n"
        with open(self.path, "rb") as file:
            file.seek(self._skip)
            while block := file.read(BYTES_AT_ONCE):
                count += block.count(b"\n")
                last = block[-1:]
        return count + (last != b"\n")

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block."""
        line, rest = 2, b""
        with open(self.path, "rb") as file:
            file.seek(self._skip)
            while True:
                text = file.read(BYTES_AT_ONCE)
                block, newline, tail = (rest + text).rpartition(b"\n")
                if not text:
                    block, tail = rest, b""
                elif not newline:
                    rest = tail
                    continue
                rest = tail
                if block.strip():
                    yield self._numbers(block, columns, line)
                    line += block.count(b"\n") + 1
                if not text:
                    return

    def _numbers(self, block: bytes, columns: Sequence[int], line: int) -> Array:
        options: dict[str, Any] = {
            "delimiter": self._separator, "ndmin": 2, "comments": None, "usecols": list(columns),
            "quotechar": '"', "encoding": "utf-8",
        }  # fmt: skip
        with suppress(ValueError):
            return np.loadtxt(BytesIO(block), **options)
        comma = re.escape(self._separator.encode())
        hole = rb"(?m)(?<=" + comma + rb")[ \t]*(?=" + comma + rb"|\r?$)|^(?=" + comma + rb")"
        with suppress(ValueError):
            return np.loadtxt(BytesIO(re.sub(hole, b"nan", block)), **options)
        self._find_fault(block, columns, line)
        raise LogError(f"{self.where}: the lines from {line} on are no table of numbers")

    def _find_fault(self, block: bytes, columns: Sequence[int], line: int) -> None:
        for place, text in enumerate(block.decode("utf-8", "replace").splitlines()):
            cells = next(csv.reader([text], delimiter=self._separator), [])
            if not cells:
                continue
            if len(cells) <= max(columns):
                raise LogError(
                    f"{self.where}:{line + place}: {counted(len(cells), 'cell')}, but the "
                    "header names "
                    f"{counted(len(self.names), 'column')}"
                )
            for column in columns:
                if cells[column].strip() and not _is_number(cells[column]):
                    raise LogError(
                        f"{self.where}:{line + place}: {cells[column].strip()!r:.60} in column "
                        f"{self.names[column]}; expected a number"
                    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
