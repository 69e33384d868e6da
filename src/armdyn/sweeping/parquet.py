"""Parquet files of states and results: columns q1, q2, ... in one file or in a folder of parts."""

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import MissingExtraError, SweepError
from armdyn.io.atomic import replacing

_NUMBERED = re.compile(r"(q|qd|qdd|tau|payload|gravity)([1-9][0-9]*)")


def check_pyarrow(purpose: str) -> None:
    """An error unless pyarrow is installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "sweep", purpose)


def write_parquet(path: Path, columns: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write columns of numbers to a file, whole or not at all."""
    import pyarrow  # noqa: PLC0415 (an extra)
    import pyarrow.parquet  # noqa: PLC0415 (an extra)

    table = pyarrow.table(
        {k: np.ascontiguousarray(v) for k, v in columns.items()}, metadata=metadata
    )
    with replacing(path) as stream:
        pyarrow.parquet.write_table(table, stream, compression="zstd")


@dataclass(frozen=True)
class ParquetRows:
    """Some columns of a Parquet file, or of all files of a folder, as an array (m, columns)."""

    path: Path
    columns: tuple[str, ...]

    @staticmethod
    def arguments(path: Path) -> dict[str, "ParquetRows"]:
        """The columns that belong to arguments, by these."""
        check_pyarrow("reading Parquet")
        groups: dict[str, list[tuple[int, str]]] = {}
        for name in _pieces(path)[0][1]:
            if found := _NUMBERED.fullmatch(name):
                groups.setdefault(found[1], []).append((int(found[2]), name))
        return {
            name: ParquetRows(path, tuple(column for _, column in sorted(columns)))
            for name, columns in groups.items()
        }

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return sum(rows for _, _, _, rows in _pieces(self.path)), len(self.columns)

    def __getitem__(self, rows: slice) -> Array:
        """The rows of a slice without a step."""
        import pyarrow.parquet  # noqa: PLC0415 (an extra)

        first, last, _ = rows.indices(self.shape[0])
        done, parts = 0, []
        for file, _, group, count in _pieces(self.path):
            if done < last and first < done + count:
                with pyarrow.parquet.ParquetFile(file) as opened:
                    table = opened.read_row_group(group, columns=list(self.columns))
                found = np.column_stack([table[name].to_numpy() for name in self.columns])
                parts.append(found[max(0, first - done) : last - done])
            done += count
        return np.concatenate(parts) if parts else np.empty((0, len(self.columns)))


@lru_cache(maxsize=8)
def _pieces(path: Path) -> list[tuple[Path, tuple[str, ...], int, int]]:
    """File, names of columns, number and rows of every row group, in order."""
    import pyarrow  # noqa: PLC0415 (an extra)
    import pyarrow.parquet  # noqa: PLC0415 (an extra)

    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    result: list[Any] = []
    for file in files:
        try:
            data = pyarrow.parquet.read_metadata(file)
        except (OSError, pyarrow.ArrowException) as reason:
            raise SweepError(
                f"{file}: this is no Parquet file that can be read: {reason}"
            ) from None
        names = tuple(data.schema.names)
        result += [(file, names, k, data.row_group(k).num_rows) for k in range(data.num_row_groups)]
    if not result:
        raise SweepError(f"{path}: there are no rows in it")
    return result
