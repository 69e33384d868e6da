"""Printing for the verbs: tables, JSON and progress.

Everything that reaches a terminal goes through this file. Names and titles come from files of
others: their control characters are shown as escapes, and nothing in them is taken for markup.
A table that is too wide is printed in parts, one below the other, each with the labels of its rows;
long texts wrap inside their column. So nothing is cut, and no line is broken by the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

from armdyn.io.atomic import STANDARD_OUTPUT

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Column, Table

    from armdyn.report.result import Section


PROGRESS_ROWS = 20_000
"""A file with at least so many rows gets a progress bar."""
PIPE_WIDTH = 140
"""Columns of the text where there is no terminal to ask."""
_WIDE: ContextVar[bool] = ContextVar("wide", default=False)
"""Whether tables are printed as wide as they are."""
_JSON: ContextVar[bool] = ContextVar("json", default=False)
"""Whether results are printed for programs."""
_PASSED = "\n\t\u00a0"
"""Characters that are printed though Python does not call them printable."""
LONGEST_UNBROKEN, NARROWEST = 40, 28
"""Characters beyond which texts may wrap, and the least width of their column."""


def visible(text: str) -> str:
    r"""Text in which characters that could steer a terminal are escapes such as \x1b."""
    return "".join(
        c if c.isprintable() or c in _PASSED else c.encode("unicode_escape").decode() for c in text
    )


def screen(*, stderr: bool = False, width: int | None = None) -> Console:
    """Where results, or with `stderr` progress, are printed by rich."""
    from rich.console import Console

    class Screen(Console):
        """A console that makes every string visible before it is measured or printed."""

        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(visible(text), **options)

    if width is None and not (stderr or has_width()):
        width = PIPE_WIDTH
    return Screen(width=width, stderr=stderr, markup=False, emoji=False, highlight=False)


def print_table(rows: Table) -> None:
    """A table in full: on a terminal that is too narrow in parts, one below the other.

    Columns without an entry are left out, unless tables are wanted as wide as they are.
    """
    here, endless = screen(), screen(width=10_000)
    title, wide = str(rows.title or ""), _WIDE.get()
    entered = [c for c in rows.columns if wide or any(str(cell).strip() for cell in c.cells)]
    rows = _part(rows, entered or rows.columns)
    needed = endless.measure(rows).maximum
    narrow = needed > here.width
    if narrow and (wide or not has_width()):
        if not wide:  # a row stays in one piece, its long texts wrap
            rows = _part(rows, [_measured(column, endless) for column in rows.columns])
            needed = max(here.width, endless.measure(rows).minimum)
        here, narrow = screen(width=needed), False
    here.print()
    if title:
        print_styled((title, "bold"))
    for place, part in enumerate(fitting(rows, here.width, endless) if narrow else (rows,)):
        if place:
            here.print()
        here.print(part)
    here.print()


@contextmanager
def printing(*, wide: bool = False, json: bool = False) -> Iterator[None]:
    """Print tables as wide as they are, whatever the terminal, or results as JSON."""
    before = _WIDE.set(wide), _JSON.set(json)
    try:
        yield
    finally:
        _WIDE.reset(before[0])
        _JSON.reset(before[1])


def has_width() -> bool:
    """Whether there is a terminal, or a COLUMNS in the environment, that limits lines."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def print_text(text: str, indent: str = "") -> None:
    """A paragraph: on a terminal its lines break between words, and all but the first are moved."""
    if _WIDE.get() or not has_width():
        print_line(indent + text)
        return
    later = indent + "  "
    print_line(fill(visible(text), screen().width, initial_indent=indent, subsequent_indent=later))


def print_line(text: str = "", *, stderr: bool = False, end: str = "\n") -> None:
    """A line as it is, however long."""
    print(visible(text), file=sys.stderr if stderr else sys.stdout, end=end)


def print_styled(*parts: str | tuple[str, str]) -> None:
    """A line of texts, some with a style, as ("Events", "bold"); a terminal gets it as a paragraph.

    There all its lines but the first are moved, as those of `print_text` are.
    """
    from rich.text import Text

    pairs = ((part, "") if isinstance(part, str) else part for part in parts)
    here, text = screen(), Text.assemble(*((visible(text), style) for text, style in pairs))
    endless = _WIDE.get() or not has_width()
    for place, line in enumerate([text] if endless else text.wrap(here, here.width - 2)):
        line.rstrip()
        here.print("  " * (place > 0), line, sep="", soft_wrap=True)


def print_result(
    data: Callable[[], dict[str, Any]], show: Callable[[], None], files: Iterable[Path | None]
) -> None:
    """A result, as JSON for programs or by `show` for people, and the files that were written.

    It goes to standard error if standard output is one of the files.
    """
    named = [str(path) for path in files if path is not None]
    written = [path for path in named if path != STANDARD_OUTPUT]
    with redirect_stdout(sys.stdout if written == named else sys.stderr):
        if not printed_as_json(lambda: data() | {"files": written}):
            show()
            for path in written:
                print_line(f"wrote {path}")


def deliver(result: Any, *written: Path | None, colour: str = "", **files: Path | None) -> None:
    """Write a result to those of its files that are asked for, and print its sections or data.

    Files are named after the methods that write them; others were `written` before. The title of
    the first section has a colour.
    """
    for method, path in files.items():
        if path is not None:
            getattr(result, method)(path)
    show = partial(print_sections, result.sections(), colour)
    print_result(result.data, show, (*written, *files.values()))


def printed_as_json(data: Callable[[], Any]) -> bool:
    """Whether a result is wanted for programs, which is then printed."""
    if _JSON.get():
        print_json(data())
    return _JSON.get()


def print_json(result: Any) -> None:
    """A result for programs; numbers that are not finite are null."""
    from armdyn.report.result import json_text

    print_line(json_text(result))


def print_sections(sections: Iterable[Section], colour: str = "") -> None:
    """The sections of a report that have a title, the first title in a colour."""
    for place, section in enumerate(part for part in sections if part.title):
        if place:
            print_line()
        print_styled((section.title, "bold" if place else f"bold {colour}"))
        for line in section.lines:
            print_text(line, "  ")
        if section.rows:
            texts = section.columns[: section.texts]
            print_table(table(*section.columns, left=texts, rows=section.rows))


@contextmanager
def status(
    first: str, unit: str = "", form: str = ",", *, rate: bool = False
) -> Iterator[Callable[..., None]]:
    """A line on the terminal that says what is being done, with a unit also how much of it.

    The function changes it, told what is done and, where that is known, how many of how many, which
    are printed in such a form; with `rate` also how many a second.
    """
    from rich import progress as parts

    here = screen(stderr=True)
    text = parts.TextColumn("{task.description} {task.fields[count]}", markup=False)
    counted = (parts.BarColumn(), parts.TimeRemainingColumn()) if unit else ()
    columns = parts.SpinnerColumn(), text, *counted, parts.TimeElapsedColumn()
    off = not here.is_terminal
    with parts.Progress(*columns, console=here, transient=True, disable=off) as bar:
        task = bar.add_task(visible(first), total=None, count="")

        def tell(what: str, done: float = 0, total: float = 0) -> None:
            count = f"{done:{form}} of {total:{form}} {unit}" if total else ""
            if rate and (speed := bar.tasks[0].speed):
                count += f", {speed:.3g} {unit}/s"
            size = total or None
            bar.update(task, description=visible(what), count=count, completed=done, total=size)

        yield tell


@contextmanager
def progress(what: str, rows: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on the terminal while a long file is worked on; told of each part that is done."""
    if rows < PROGRESS_ROWS or not sys.stderr.isatty():
        yield None
        return
    with status(what, "rows") as tell:
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            tell(what, done, rows)

        yield advance


def table(
    *columns: str,
    left: Sequence[str] = (),
    title: str | None = None,
    rows: Iterable[Iterable[Any]] = (),
) -> Table:
    """A table of numbers with these rows; the columns in `left` hold text."""
    from rich import box
    from rich.table import Table

    result = Table(
        box=box.SIMPLE_HEAD,
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name in columns:
        text = name in left
        result.add_column(name, justify="left" if text else "right", no_wrap=not text)
    for row in rows:
        result.add_row(*row)
    return result


def fitting(rows: Table, width: int, endless: Console) -> Iterator[Table]:
    """The table in parts that are not wider than so many characters; measured on a wide console."""
    columns = [_measured(column, endless) for column in rows.columns]
    labels, others = columns[: _labels(columns)], columns[_labels(columns) :]
    chosen: list[Column] = []
    for column in others:
        wider = _part(rows, [*labels, *chosen, column])
        if chosen and endless.measure(wider).minimum > width:
            yield _part(rows, [*labels, *chosen])
            chosen = []
        chosen.append(column)
    yield _part(rows, [*labels, *chosen])


def _labels(columns: Sequence[Column]) -> int:
    """How many columns from the left say what a row is: as many as tell the rows apart.

    A column without a name does so together with the one beside it.
    """
    unnamed = len(columns) > 2 and not (columns[0].header and columns[1].header)
    least = 2 if unnamed and columns[1].justify == "left" else 1
    texts = [column.justify == "left" for column in columns[:-1]]
    most = (*texts, False).index(False)
    cells = [[str(cell) for cell in column.cells] for column in columns]
    for count in range(least, most + 1):
        rows = [*zip(*cells[:count], strict=True)]
        if len({*rows}) == len(rows):
            return count
    return least


def _measured(column: Column, endless: Console) -> Column:
    """The column, which wraps only if its texts are long."""
    longest = max(endless.measure(cell).maximum for cell in (column.header, *column.cells))
    short = longest <= LONGEST_UNBROKEN
    return replace(column, no_wrap=short, min_width=longest if short else NARROWEST)


def _part(rows: Table, columns: Iterable[Column]) -> Table:
    """The same rows with some of the columns, and without a title."""
    part = copy(rows)
    part.columns = [replace(column, _index=place) for place, column in enumerate(columns)]
    part.title = None
    return part
