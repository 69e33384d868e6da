"""Results: a report in sections, the text for people and the data for programs side by side."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import WriteError
from armdyn.html import html_table, html_text
from armdyn.io.atomic import write_text
from armdyn.io.regular import check_path
from armdyn.report.figures import FORMATS, save_picture

ENDINGS = (".txt", ".json", *FORMATS)
"""What a result can be saved as."""
PRINTED_AS_ZERO = 1e-9
"""A value that is smaller, relative to its scale, is printed as zero."""
_ROUNDING = 1e-13
"""A value that is smaller, relative to its scale, is the rounding of zero."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report."""

    title: str
    """Empty: the section has data only and is not printed."""
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    texts: int = 1
    """How many columns, from the left, hold text."""
    data: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The section in plain text."""
        cells = [self.columns, *self.rows] if self.rows else []
        aligned = []
        for k, column in enumerate(zip(*cells, strict=True)):
            align = str.ljust if k < self.texts else str.rjust
            width = max(map(len, column))
            aligned.append([align(cell, width) for cell in column])
        table = ("  ".join(row).rstrip() for row in zip(*aligned, strict=True))
        return "\n".join([self.title, *(f"  {line}" for line in (*self.lines, *table))])

    def html(self) -> str:
        """The section for notebooks, lines below the table."""
        columns = self.columns if self.rows else ()
        table = html_table(columns, self.rows, self.title, self.texts)
        return table + (html_text("\n".join(self.lines)) if self.lines else "")


class Result(ABC):
    """The answer to a question, told in sections."""

    __slots__ = ()

    @abstractmethod
    def sections(self) -> tuple[Section, ...]:
        """The parts of the report, those with data only included."""

    def report(self) -> str:
        """The result for people."""
        return "\n\n".join(part.text() for part in self.sections() if part.title) + "\n"

    def data(self) -> dict[str, Any]:
        """The result for programs, as plain data."""
        return {key: plain_data(x) for part in self.sections() for key, x in part.data.items()}

    def json(self) -> str:
        """The same as JSON."""
        return json_text(self.data())

    def save(self, path: str | Path) -> None:
        """Write the result, by the ending: .txt, .json, or a picture as .png, .pdf or .svg.

        Raises:
            WriteError: Another ending, or the file cannot be written.
        """
        ending = check_path(path).suffix.lower()
        plot = getattr(self, "plot", None)
        if ending in FORMATS and plot is not None:
            plot(path)
        elif ending in (".txt", ".json"):
            write_text(path, self.report() if ending == ".txt" else self.json() + "\n")
        else:
            known = ", ".join(ENDINGS if plot is not None else ENDINGS[:2])
            raise WriteError(
                f"cannot write a report to {str(path)!r}: the ending must be one of {known}"
            )

    def _repr_html_(self) -> str:
        told = (part.html() for part in self.sections() if part.title)
        return "".join(told) or html_text(self.report())


class DrawnResult(Result):
    """A result with a picture."""

    __slots__ = ()

    @abstractmethod
    def figure(self) -> Any:
        """The picture as a figure of matplotlib, in whatever style is set."""

    def plot(self, path: str | Path) -> None:
        """Draw the picture to a .png, .pdf or .svg file."""
        save_picture(path, self.figure)


def plain_data(value: Any) -> Any:
    """Plain data: records and mappings as dicts, arrays and other sequences as lists."""
    if is_dataclass(value):
        return {part.name: plain_data(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain_data(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(entry) for entry in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def parts_of(record: Any, *names: str) -> dict[str, Any]:
    """Fields and properties of a record by name."""
    return {name: getattr(record, name) for name in names}


def json_text(result: Any) -> str:
    """JSON; numbers that are not finite are null, as JSON has no word for them."""
    text = json.dumps(plain_data(result))
    finite = json.loads(text, parse_constant=lambda _: None)
    return json.dumps(finite, indent=2).replace("\x7f", "\\u007f")


def number(value: float | None, unit: str = "", digits: int = 4) -> str:
    """A number in a table, with "%" as percent; a dash for one that is not known or infinite."""
    if value is None or not math.isfinite(value):
        return "-"
    if isinstance(value, int):
        return str(value)
    return f"{100 * value if unit == '%' else value:z.{digits}g} {unit}".rstrip()


def zero(value: float, scale: float) -> str:
    """A value, or 0 if it is nothing beside its scale."""
    return "0" if abs(value) <= PRINTED_AS_ZERO * scale else f"{value:.4g}"


def unrounded(value: float, scale: float) -> float:
    """A value, or 0 if it is rounding beside its scale, or beside 1."""
    return 0.0 if abs(value) <= _ROUNDING * max(1.0, scale) else value
