"""Tables of numbers written as CSV, a block of rows at a time."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.io.atomic import replacing

ROWS_AT_ONCE = 4096
"""Rows formatted at once: enough to be quick, few enough to show progress and to interrupt."""


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
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        for rows, text in csv_from_columns(columns):
            file.write(text)
            if progress is not None:
                progress(rows)
