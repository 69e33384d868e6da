"""Tables of numbers: CSV files, with a header of names and a line for each instant, and others.

Files and arrays are read in blocks of rows, never whole.
"""

import csv
import difflib
import os
import re
import sys
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.npyio import NpzFile

from armdyn.arrays import Array
from armdyn.errors import ArmdynError, LogError, check_installed, counted
from armdyn.forks import cached_property
from armdyn.io.atomic import replacing
from armdyn.io.regular import check_path, check_regular

ROWS_AT_ONCE = 4096
"""Rows formatted at once: enough to be quick, few enough to show progress and to interrupt."""
STANDARD_INPUT = "-"
"""The path of standard input."""
MAX_HEADER_BYTES = 1_000_000
"""Longest line of names [bytes]."""
MAX_TABLE_BYTES = 2**30
"""Largest table that is read whole [bytes]; the numbers of a day of seven joints at 100 Hz."""
BYTES_AT_ONCE = 2**24
"""Text that is turned into numbers at once [bytes]."""
SEPARATORS = ",;\t"
EMPTY = "an empty cell"
EMPTY_LINE = re.compile(rb"(?m)^[ \t\r]*$")


class TableSource(ABC):
    """A table of numbers that is read in blocks of rows; its faults are errors of one class."""

    listed: tuple[str, ...] = ()
    """The joints in the order of numbered columns, if the table says it."""
    rows: int
    """How many rows there are."""

    def __init__(self, where: str, error: type[ArmdynError]):
        self.where, self.error = where, error
        self.header = where
        """Where the names of the columns are."""
        self.names: list[str] = []

    @abstractmethod
    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block, each (m, columns); NaN is an empty cell."""

    def whole(self, columns: Sequence[int]) -> Array:
        """All rows in these columns, at least one; every number must be finite."""
        blocks = list(self.blocks(columns))
        if not blocks:
            raise self.error(f"{self.where}: there is a header but no line of numbers after it")
        table = np.concatenate(blocks)
        for row, k in np.argwhere(~np.isfinite(table))[:1]:
            place, cell = self.cell(int(row), columns[k])
            wanted = "a number" if cell == EMPTY else "a finite number"
            raise self.error(
                f"{place}: {cell} in column {self.names[columns[k]]}; expected {wanted}"
            )
        return table

    def cell(self, row: int, column: int) -> tuple[str, str]:
        """Where a number stands, and what is there that is no finite number, in words."""
        return f"{self.where}: row {row + 1}", "an infinite number or NaN"


class CsvTable(TableSource):
    """A CSV file, or with - standard input: a header, then a line for each row.

    Cells are separated by commas, semicolons or tabs; beside the latter two, decimals may have a
    comma.
    """

    def __init__(self, path: Path, error: type[ArmdynError], expected: str):
        super().__init__(str(path), error)
        self._path, self._data = path, b""
        if self.where == STANDARD_INPUT:
            self.where, self._data = "standard input", sys.stdin.buffer.read(MAX_TABLE_BYTES)
        with self._open() as file:
            header, second = (file.readline(MAX_HEADER_BYTES + 1) for _ in range(2))
        self.header, self._skip = f"{self.where}:1", len(header)
        if len(header) > MAX_HEADER_BYTES:
            raise error(f"{self.header}: a header has at most {MAX_HEADER_BYTES:,} bytes")
        try:
            text = header.decode("utf-8-sig").strip().lstrip("%# ")
        except UnicodeDecodeError as fault:
            raise error(
                f"{self.header}: byte {fault.start + 1} is not UTF-8 text; save the table as CSV "
                "in UTF-8"
            ) from None
        if not text:
            what = (
                "the first line" if header else "it" if path.name == STANDARD_INPUT else "the file"
            )
            raise error(f"{self.where}: {what} is empty; expected a header {expected}")
        self._separator = max(SEPARATORS, key=text.count)
        self.names = [name.strip().strip('"').strip() for name in text.split(self._separator)]
        if all(not name or _is_number(name) for name in self.names):
            raise error(
                f"{self.header}: the first line must name the columns, {expected}; it is "
                f"{text!r:.80}"
            )
        self.listed = self._joints_listed(second.decode("utf-8", "replace"))

    def _joints_listed(self, line: str) -> tuple[str, ...]:
        """The joints that a first line of a ROS export names in field.name0, field.name1, ..."""
        places = [i for i, name in enumerate(self.names) if re.fullmatch(r".*name_?\d+", name)]
        cells = next(csv.reader([line], delimiter=self._separator), []) if places else []
        return tuple(cells[i].strip() for i in places if i < len(cells))

    def _open(self) -> IO[bytes]:
        return BytesIO(self._data) if self.where == "standard input" else open(self._path, "rb")

    @cached_property
    def rows(self) -> int:
        """How many lines follow the header."""
        return sum(text.count(b"\n") + 1 for _, text in self._texts())

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block."""
        for line, text in self._texts():
            if text.strip():
                yield self._numbers(text, columns, line)

    def cell(self, row: int, column: int) -> tuple[str, str]:
        """Where a number stands, and what is there that is no finite number, in words."""
        every = (line for first, text in self._texts() for line in self._lines(text, first))
        number, cells = next(islice(every, row, None))
        return f"{self.where}:{number}", cells[column].strip() or EMPTY

    def _texts(self) -> Iterator[tuple[int, bytes]]:
        """The number of the first line and the text of each block of whole lines."""
        line, rest = 2, b""
        with self._open() as file:
            file.seek(self._skip)
            while text := file.read(BYTES_AT_ONCE):
                block, newline, tail = (rest + text).rpartition(b"\n")
                rest = tail
                if newline:
                    yield line, block
                    line += block.count(b"\n") + 1
        if rest:
            yield line, rest

    def _numbers(self, text: bytes, columns: Sequence[int], line: int) -> Array:
        comma = self._separator.encode()
        if comma != b",":
            text = text.replace(b",", b".")
        lines, each = text.count(b"\n") + 1, len(self.names) - 1
        surplus = lines * each - text.count(comma)
        if surplus and surplus != each * len(EMPTY_LINE.findall(text)):
            self._find_fault(text, columns, line)
        options: dict[str, Any] = {
            "delimiter": self._separator, "ndmin": 2, "comments": None, "usecols": list(columns),
            "quotechar": '"', "encoding": "utf-8",
        }  # fmt: skip
        with suppress(ValueError):
            return np.loadtxt(BytesIO(text), **options)
        comma = re.escape(comma)
        hole = rb"(?m)(?<=" + comma + rb")[ \t]*(?=" + comma + rb"|\r?$)|^(?=" + comma + rb")"
        with suppress(ValueError):
            return np.loadtxt(BytesIO(re.sub(hole, b"nan", text)), **options)
        self._find_fault(text, columns, line)
        raise self.error(f"{self.where}: the lines from {line} on are no table of numbers")

    def _find_fault(self, text: bytes, columns: Sequence[int], line: int) -> None:
        for number, cells in self._lines(text, line):
            short = len(cells) < len(self.names)
            if short or any(cell.strip() for cell in cells[len(self.names) :]):
                raise self.error(
                    f"{self.where}:{number}: {counted(len(cells), 'cell')}, but the header names "
                    f"{counted(len(self.names), 'column')}"
                )
            for column in columns:
                cell = cells[column].strip()
                if cell and not _is_number(cell):
                    what = f"the text {cell!r:.60}"
                    what = "bytes that are not UTF-8 text" if "\ufffd" in cell else what
                    raise self.error(
                        f"{self.where}:{number}: {what} in column {self.names[column]}; expected a "
                        "number"
                    )

    def _lines(self, text: bytes, line: int) -> Iterator[tuple[int, list[str]]]:
        """Number and cells of each line that is not empty."""
        reader = csv.reader(
            TextIOWrapper(BytesIO(text), "utf-8", "replace", newline=""), delimiter=self._separator
        )
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells) or len(cells) > 1:
                    yield reader.line_num + line - 1, cells
        except csv.Error as error:
            raise self.error(f"{self.where}:{reader.line_num + line - 1}: {error}") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def numbered_columns(groups: Mapping[str, Array]) -> dict[str, Array]:
    """The columns of arrays (m, n) by the name of each and a number from 1 on, as q1."""
    return {
        f"{name}{k}": column
        for name, values in groups.items()
        for k, column in enumerate(values.T, start=1)
    }


def csv_from_columns(columns: Mapping[str, Array]) -> Iterator[tuple[int, str]]:
    """The number of rows and the text of each block of a CSV table; the header comes first."""
    yield 0, ",".join(columns) + "\n"
    values = list(columns.values())
    row = ",".join(["%.12g"] * len(values)) + "\n"
    for start in range(0, len(values[0]), ROWS_AT_ONCE):
        block = np.column_stack([column[start : start + ROWS_AT_ONCE] for column in values])
        yield len(block), row * len(block) % tuple(block.ravel().tolist())


def write_csv(
    path: str | Path, columns: Mapping[str, Array], progress: Callable[[int], None] | None = None
) -> None:
    """Write columns (m,) to a CSV file, whole or not at all; `progress` counts the rows."""
    with replacing(path) as file:
        for rows, text in csv_from_columns(columns):
            file.write(text.encode("utf-8"))
            if progress is not None:
                progress(rows)


def write_parquet(path: str | Path, columns: Mapping[str, Array], about: Mapping[str, str]) -> None:
    """Write columns (m,) to a Parquet file, whole or not at all; its metadata say what it is."""
    import pyarrow  # noqa: PLC0415 (an extra)
    import pyarrow.parquet  # noqa: PLC0415 (an extra)

    table = pyarrow.table(
        {name: np.ascontiguousarray(column) for name, column in columns.items()}, metadata=about
    )
    with replacing(path) as stream:
        pyarrow.parquet.write_table(table, stream, compression="zstd")


def similar_files(path: Path) -> str:
    """A sentence naming the files beside a missing one that look like it, or nothing."""
    folder = path.parent
    if not folder.is_dir():
        return f" There is no folder {folder}."
    names = [entry.name for entry in folder.iterdir() if entry.is_file()]
    close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(repr(str(folder / n)) for n in close)}?" if close else ""


MAX_LOG_BYTES = 2**40
"""Largest log that is read [bytes]; blocks of it are in memory, never all of it."""
ROWS_A_BLOCK = 2**16


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

    What is masked is missing. Arrays that are not read may have other lengths.
    """

    def __init__(self, where: str, given: Mapping[str, Any], error: type[ArmdynError] = LogError):
        super().__init__(where, error)
        self._columns: list[Array] = []
        for name, value in given.items():
            array = np.asanyarray(value)
            if array.dtype.kind not in "fiu" or array.ndim not in (1, 2):
                continue
            for k, column in enumerate(np.atleast_2d(array.T)):
                self.names.append(name if array.ndim == 1 else f"{name}{k + 1}")
                self._columns.append(np.ma.filled(column.astype(float), np.nan))
        self.rows = max(map(len, self._columns), default=0)

    def blocks(self, columns: Sequence[int]) -> Iterator[Array]:
        """The rows in these columns, block by block."""
        chosen = [self._columns[i] for i in columns]
        if len({*map(len, chosen)}) != 1:
            pairs = zip((self.names[i] for i in columns), chosen, strict=True)
            lengths = ", ".join(f"{name} {len(column)}" for name, column in pairs)
            raise self.error(f"{self.where}: expected arrays of one length, got {lengths}")
        for start in range(0, len(chosen[0]), ROWS_A_BLOCK):
            yield np.column_stack([column[start : start + ROWS_A_BLOCK] for column in chosen])


class ParquetSource(TableSource):
    """A Parquet file; columns of lists count as numbered columns."""

    def __init__(self, path: Path, error: type[ArmdynError], expected: str):
        super().__init__(str(path), error)
        check_installed("pyarrow", "parquet", "reading Parquet")
        import pyarrow as pa  # noqa: PLC0415 (an extra)
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            self._file = pq.ParquetFile(path)
        except (pa.ArrowInvalid, OSError) as fault:
            raise error(f"{path}: this is no Parquet file: {fault!s:.100}") from None
        self.names = list(self._file.schema_arrow.names)
        self.rows = int(self._file.metadata.num_rows)

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
            yield from self._file.iter_batches(ROWS_A_BLOCK, row_groups=[group], columns=names)


class NpzSource(ArraySource):
    """An NPZ file, whose arrays were in memory when it was written."""

    def __init__(self, path: Path, error: type[ArmdynError], expected: str):
        try:
            with path.open("rb") as stream, NpzFile(stream) as file:
                arrays = {name: _numbers(file, name) for name in file.files}
        except (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError) as fault:
            raise error(f"{path}: this is no NPZ file: {fault!s:.100}") from None
        super().__init__(str(path), arrays, error)


def _numbers(file: Any, name: str) -> Any:
    """An array of a file; text for objects, which are not read."""
    try:
        return file[name]
    except ValueError:
        return ""
