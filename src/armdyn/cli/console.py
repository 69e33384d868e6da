"""Printing for the verbs: tables, JSON and progress.

Everything that reaches a terminal goes through this file. Names and titles come from files of
others: their control characters are shown as escapes, and nothing in them is taken for markup.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

from armdyn.io.atomic import STANDARD_OUTPUT

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from armdyn.sections import Section

PROGRESS_ROWS = 20_000
"""A file with at least so many rows gets a progress bar."""
PIPE_WIDTH = 140
"""Columns of the text where there is no terminal to ask."""
_PASSED = "\n\t\u00a0"
"""Characters that are printed though Python does not call them printable."""


def visible(text: str) -> str:
    r"""Text in which characters that could steer a terminal are escapes such as \x1b."""
    return "".join(c if c.isprintable() or c in _PASSED else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def screen(*, stderr: bool = False, width: int | None = None) -> Console:
    """Where results, or with `stderr` progress, are printed by rich."""
    from rich.console import Console

    class Screen(Console):
        """A console that makes every string visible before it is measured or printed."""

        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(visible(text), **options)

    if width is None and not (stderr or sys.stdout.isatty() or "COLUMNS" in os.environ):
        width = PIPE_WIDTH
    return Screen(width=width, stderr=stderr, markup=False, emoji=False, highlight=False)


def table(*columns: str, left: Sequence[str] = (), title: str | None = None) -> Table:
    """An empty table of numbers; the columns in `left` hold text."""
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
    return result


def print_table(rows: Table) -> None:
    """A table in full: on a narrow terminal its lines wrap, but no number is cut."""
    here = screen()
    needed = screen(width=10_000).measure(rows).maximum
    if needed > here.width:
        here = screen(width=needed)
    here.print()
    here.print(rows)
    here.print()


def print_line(text: str = "", *, stderr: bool = False, end: str = "\n") -> None:
    """A line as it is, however long."""
    print(visible(text), file=sys.stderr if stderr else sys.stdout, end=end)


def print_styled(*parts: str | tuple[str, str]) -> None:
    """A line of texts, some with a style, as ("Events", "bold"), however long."""
    screen().print(styled(*parts), soft_wrap=True)


def styled(*parts: str | tuple[str, str]) -> Text:
    """The same for a cell of a table."""
    from rich.text import Text

    pairs = ((part, "") if isinstance(part, str) else part for part in parts)
    return Text.assemble(*((visible(text), style) for text, style in pairs))


def print_result(
    data: dict[str, Any], show: Callable[[], None], files: Iterable[Path | None], json: bool
) -> None:
    """A result, as JSON for programs or by `show` for people, and the files that were written.

    It goes to standard error if standard output is one of the files.
    """
    named = [str(path) for path in files if path is not None]
    written = [path for path in named if path != STANDARD_OUTPUT]
    with redirect_stdout(sys.stdout if written == named else sys.stderr):
        if json:
            print_json(data | {"files": written})
            return
        show()
        for path in written:
            print_line(f"wrote {path}")


def print_json(result: Any) -> None:
    """A result for programs; numbers that are not finite are null."""
    from armdyn.sections import json_text

    print_line(json_text(result))


def print_sections(sections: Iterable[Section], colour: str = "") -> None:
    """The sections of a report that have a title, the first title in a colour."""
    for place, section in enumerate(part for part in sections if part.title):
        if place:
            print_line()
        print_styled((section.title, "bold" if place else f"bold {colour}"))
        for line in section.lines:
            print_line(f"  {line}")
        if section.rows:
            rows = table(*section.columns, left=section.columns[: section.texts])
            for row in section.rows:
                rows.add_row(*row)
            print_table(rows)


@contextmanager
def status(first: str) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is being done; the function changes it."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    here = screen(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=here, transient=True, disable=not here.is_terminal) as bar:
        task = bar.add_task(visible(first))
        yield lambda what: bar.update(task, description=visible(what))


@contextmanager
def progress(what: str, rows: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on the terminal while a long file is worked on."""
    if rows < PROGRESS_ROWS or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(console=screen(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(what), total=rows)
        yield lambda count: bar.advance(task, count)
