"""Logs as CSV, read block by block."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LogError, counted
from armdyn.forks import cached_property

BYTES_AT_ONCE = 2**24
"""Text that is turned into numbers at once [bytes]."""
_SEPARATORS = ",;\t"


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
