"""Printing for the verbs: tables, JSON and progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

PROGRESS_ROWS = 20_000
"""A file with at least so many rows gets a progress bar."""
PIPE_WIDTH = 140
"""Columns of the text where there is no terminal to ask."""


def console() -> Console:
    """Where results are printed."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(width=width, highlight=False)


def table(*columns: str, left: Sequence[str] = (), title: str | None = None) -> Table:
    """An empty table of numbers; the columns in `left` hold text."""
    from rich import box
    from rich.table import Table

    result = Table(
        box=box.SIMPLE_HEAD,
        title=None if title is None else escape(title),
        title_justify="left",
        title_style="bold",
        header_style="bold",
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name in columns:
        text = name in left
        result.add_column(escape(name), justify="left" if text else "right", no_wrap=not text)
    return result


def print_table(rows: Table) -> None:
    """A table in full: on a narrow terminal its lines wrap, but no number is cut."""
    from rich.console import Console

    screen = console()
    needed = Console(width=10_000).measure(rows).maximum
    if needed > screen.width:
        screen = Console(width=needed, highlight=False)
    screen.print()
    screen.print(rows)
    screen.print()


def print_line(text: str) -> None:
    """A line as it is, however long."""
    console().print(text, markup=False, soft_wrap=True)


def print_markup(text: str) -> None:
    """A line with rich's markup, however long."""
    console().print(text, soft_wrap=True)


def escape(text: str) -> str:
    """Text whose brackets are not markup."""
    from rich.markup import escape as escaped

    return escaped(text)


def print_result(
    data: dict[str, Any], show: Callable[[], None], files: Iterable[Path | None], json: bool
) -> None:
    """A result, as JSON for programs or by `show` for people, and the files that were written."""
    written = [str(path) for path in files if path is not None]
    if json:
        print_json(data | {"files": written})
        return
    show()
    for path in written:
        print_line(f"wrote {path}")


def print_json(result: Any) -> None:
    """A result for programs."""
    print(json.dumps(result, indent=2, allow_nan=False))


@contextmanager
def status(first: str) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is being done; the function changes it."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    screen = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(first)
        yield lambda what: bar.update(task, description=what)


@contextmanager
def progress(what: str, rows: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on the terminal while a long file is worked on."""
    if rows < PROGRESS_ROWS or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=rows)
        yield lambda count: bar.advance(task, count)
