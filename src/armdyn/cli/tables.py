"""Tables that fit a terminal.

A table that is too wide is printed in parts, one below the other, each with the labels of its rows;
long texts wrap inside their column. So nothing is cut, and no line is broken by the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

LONGEST_UNBROKEN, NARROWEST = 40, 28
"""Characters beyond which texts may wrap, and the least width of their column."""


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


def body(rows: Table, *, empty: bool) -> Table:
    """The table without its title and, unless `empty`, without columns that have no entry."""
    columns = [c for c in rows.columns if empty or any(str(cell).strip() for cell in c.cells)]
    return _part(rows, columns or rows.columns)


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
    changed = copy(column)
    changed.no_wrap = column.no_wrap or longest <= LONGEST_UNBROKEN
    changed.min_width = longest if changed.no_wrap else NARROWEST
    return changed


def _part(rows: Table, columns: Iterable[Column]) -> Table:
    """The same rows with some of the columns."""
    part = table()
    part.columns.extend(map(copy, columns))
    for place, column in enumerate(part.columns):
        column._index = place
    part.rows.extend(rows.rows)
    return part
