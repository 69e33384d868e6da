"""Tables of numbers as CSV: a header with the names, then a line for each instant."""

import csv
import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TrajectoryError, counted
from armdyn.io.atomic import replacing
from armdyn.io.regular import read_regular

ROWS_AT_ONCE = 4096
"""Rows formatted at once: enough to be quick, few enough to show progress and to interrupt."""
STANDARD_INPUT = "-"
"""The path of standard input."""
MAX_HEADER_BYTES = 1_000_000
"""Longest line of names [bytes]."""
MAX_TABLE_BYTES = 2**30
"""Largest table that is read [bytes]; the numbers of a day of seven joints at 100 Hz."""


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table as it stands in its file."""

    path: Path
    names: list[str]
    """The names of the columns."""
    body: bytes
    """The lines after the header."""

    def numbers(self, time: int | None = None) -> Array:
        """The numbers below the header, (m, columns), with increasing times in the column t.

        The place of that column is given where it is called otherwise.
        """
        table = self._finite_numbers()
        t = table[:, self.names.index("t") if time is None else time]
        late = np.flatnonzero(np.diff(t) <= 0)
        if late.size:
            row = int(late[0]) + 1
            line, _ = next(islice(self._lines(), row, None))
            raise TrajectoryError(
                f"{self.path}:{line}: time must increase from line to line, but "
                f"t = {t[row]:g} follows t = {t[row - 1]:g}"
            )
        return table

    def _finite_numbers(self) -> Array:
        if next(self._lines(), None) is None:
            raise TrajectoryError(f"{self.path}: there is a header but no line of numbers after it")
        columns = len(self.names)
        try:
            options: dict[str, Any] = {"comments": None, "quotechar": '"', "encoding": "utf-8"}
            table: Array = np.loadtxt(BytesIO(self.body), delimiter=",", ndmin=2, **options)
            if table.shape[1] == columns and np.isfinite(table).all():
                return table
            found = counted(table.shape[1], "column")
        except ValueError as error:
            found = str(error)
        # the quick reader does not count empty lines: the slow one finds the place
        self._find_fault()
        raise TrajectoryError(
            f"{self.path}: expected {counted(columns, 'column')} of numbers, found {found}"
        )

    def _find_fault(self) -> None:
        for line, cells in self._lines():
            if len(cells) != len(self.names):
                raise TrajectoryError(
                    f"{self.path}:{line}: {counted(len(cells), 'cell')}, but the header names "
                    f"{counted(len(self.names), 'column')}"
                )
            for name, cell in zip(self.names, cells, strict=True):
                try:
                    finite = np.isfinite(float(cell))
                except ValueError:
                    raise TrajectoryError(
                        f"{self.path}:{line}: {_what(cell)} in column {name}; expected a number"
                    ) from None
                if not finite:
                    raise TrajectoryError(
                        f"{self.path}:{line}: {cell.strip()} in column {name}; expected a finite "
                        "number"
                    )

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Number and cells of each line of numbers."""
        reader = csv.reader(TextIOWrapper(BytesIO(self.body), "utf-8", "replace", newline=""))
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells) or len(cells) > 1:
                    yield reader.line_num + 1, cells
        except csv.Error as error:
            raise TrajectoryError(f"{self.path}:{reader.line_num + 1}: {error}") from None


def read_table(path: Path, expected: str) -> CsvTable:
    """The table in a file, or with - that of standard input.

    Messages show what a header is `expected` to look like.
    """
    if str(path) == STANDARD_INPUT:
        path, data = Path("standard input"), sys.stdin.buffer.read(MAX_TABLE_BYTES)
    elif not os.path.lexists(path):
        raise TrajectoryError(f"there is no file {path}.{similar_files(path)}")
    else:
        data = read_regular(path, lambda text: TrajectoryError(f"{path}: {text}"), MAX_TABLE_BYTES)
    line, _, body = data.partition(b"\n")
    if len(line) > MAX_HEADER_BYTES:
        raise TrajectoryError(f"{path}:1: a header has at most {MAX_HEADER_BYTES:,} bytes")
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise TrajectoryError(
            f"{path}:1: byte {error.start + 1} is not UTF-8 text; save the table as CSV in UTF-8"
        ) from None
    if not text:
        what = "the first line" if data else "the file" if path.name != "standard input" else "it"
        raise TrajectoryError(f"{path}: {what} is empty; expected a header {expected}")
    if "," not in text and re.search(r"[;\t]", text):
        raise TrajectoryError(
            f"{path}:1: the columns are separated by {'semicolons' if ';' in text else 'tabs'}; "
            "use commas, with a point in the decimals"
        )
    return CsvTable(path, [name.strip().strip('"').strip() for name in text.split(",")], body)


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


def similar_files(path: Path) -> str:
    """A sentence naming the files beside a missing one that look like it, or nothing."""
    folder = path.parent
    if not folder.is_dir():
        return f" There is no folder {folder}."
    names = [entry.name for entry in folder.iterdir() if entry.is_file()]
    close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(repr(str(folder / n)) for n in close)}?" if close else ""


def _what(cell: str) -> str:
    if "\ufffd" in cell:
        return "bytes that are not UTF-8 text"
    return f"the text {cell.strip()!r:.60}" if cell.strip() else "an empty cell"
