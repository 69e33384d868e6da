"""Stores: results on disk that grow block by block, and can be gone on with.

Beside a store lies a file of the same name with `.sweep` behind it: what the sweep is of, which
blocks are there, and what reductions have kept so far. It is replaced whole. Parquet files have
columns q1, q2, ..., in one file or in a folder of parts.
"""

import io
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SweepError, WriteError, check_installed
from armdyn.io.atomic import replacing, writing
from armdyn.io.csv.table import numbered_columns, write_parquet
from armdyn.io.regular import check_path, read_regular
from armdyn.sweeping.columns import Subject
from armdyn.sweeping.reductions import Part
from armdyn.sweeping.space import Block, BlockPlan

_NUMBERED = re.compile(r"(q|qd|qdd|tau|payload|gravity)([1-9][0-9]*)")


@dataclass(frozen=True)
class ParquetRows:
    """Some columns of a Parquet file, or of all files of a folder, as an array (m, columns)."""

    path: Path
    columns: tuple[str, ...]

    @staticmethod
    def arguments(path: Path) -> dict[str, "ParquetRows"]:
        """The columns that belong to arguments, by these."""
        check_installed("pyarrow", "sweep", "reading Parquet")
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


FORMATS = (".zarr", ".parquet")
FORMAT = 2
"""Changes with the layout of stores."""
LARGEST_PROGRESS = 2**31
"""Bytes of a file of progress."""


@dataclass(frozen=True)
class RowStore:
    """States and results, one block after the other; any process can write to it."""

    path: Path
    name: str
    """Of the quantity."""
    shape: tuple[int, ...]
    """Of a result."""
    identity: str
    """What the store is of, as JSON."""

    @property
    def is_zarr(self) -> bool:
        """Whether it is a Zarr store, and not a folder of Parquet files."""
        return self.path.suffix.lower() == ".zarr"

    def create(self, what: Subject, plan: BlockPlan) -> None:
        """An empty store."""
        with writing(repr(str(self.path))):
            if not self.is_zarr:
                os.makedirs(self.path, exist_ok=True)
                return
            shapes = {name: (size,) for name, size in what.columns.sizes.items()}
            with labelled_group(self.path, what, {"armdyn": self.identity}) as group:
                for name, shape in (shapes | {self.name: self.shape}).items():
                    group.create_array(
                        name,
                        shape=(plan.count, *shape),
                        chunks=(plan.size, *shape),
                        dtype="float64",
                        fill_value=np.nan,
                        dimension_names=("state", *what.axes[name]),
                        attributes=what.attributes(name),
                    )

    def write(self, block: Block, states: Mapping[str, Array], values: Array) -> None:
        """The states and results of a block."""
        advice = ". What is in the store is kept; make room, and run the same sweep again to go on"
        with writing(f"block {block.number} of {str(self.path)!r}", advice):
            (self._chunks if self.is_zarr else self._file)(block, states, values)

    def _chunks(self, block: Block, states: Mapping[str, Array], values: Array) -> None:
        import zarr  # noqa: PLC0415 (an extra)

        if not self.path.is_dir():
            raise OSError(
                f"a worker does not see it; give a folder that all machines share, got {self.path}"
            )
        group = zarr.open_group(self.path, mode="r+")
        rows = slice(block.first, block.last)
        for name, array in (*states.items(), (self.name, values.reshape(-1, *self.shape))):
            group[name][rows] = array  # type: ignore[index]

    def _file(self, block: Block, states: Mapping[str, Array], values: Array) -> None:
        columns = numbered_columns(states)
        columns |= {name: values[:, k] for k, name in enumerate(entry_names(self.name, self.shape))}
        path = self.path / f"part-{block.number:08d}.parquet"
        write_parquet(path, columns, {"armdyn": self.identity})


@contextmanager
def labelled_group(path: Path, what: Subject, more: Mapping[str, str]) -> Iterator[Any]:
    """A new Zarr group, in the block to be filled, that xarray opens with labels and units."""
    import zarr  # noqa: PLC0415 (an extra)

    about = {"robot": what.robot.name, "quantity": what.quantity.name, **more}
    group = zarr.create_group(path, zarr_format=3, overwrite=True, attributes=about)
    for axis, labels in what.coordinates.items():
        array = group.create_array(axis, shape=len(labels), dtype=str, dimension_names=(axis,))
        array[:] = np.array(labels, dtype=object)
    yield group
    with warnings.catch_warnings():  # it is no part of the format yet, and xarray asks for it
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(path)


def entry_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """A name for each number of a result: inverse_dynamics_1, mass_matrix_1_2."""
    return ["_".join([name, *(str(k + 1) for k in at)]) for at in np.ndindex(shape)]


def check_out(out: str | Path) -> Path:
    """The path of a store; an error if nothing can be written there in this format."""
    path = check_path(out)
    if path.suffix.lower() not in FORMATS:
        raise WriteError(f"{path}: the ending of a store must be one of {', '.join(FORMATS)}")
    parquet = path.suffix.lower() == ".parquet"
    package, kind = ("pyarrow", "Parquet") if parquet else ("zarr", "Zarr")
    check_installed(package, "sweep", f"a {kind} store")
    if not path.resolve().parent.is_dir():
        raise WriteError(f"cannot write {str(path)!r}: there is no folder {path.parent}")
    return path


@dataclass(frozen=True)
class Progress:
    """What of a sweep is done, beside its store."""

    store: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.store.with_name(self.store.name + ".sweep")

    def load(
        self, identity: Mapping[str, Any], names: list[str]
    ) -> tuple[Array, list[Part]] | None:
        """Which blocks are done, and what reductions have kept; None if there is no store yet."""
        if not self.path.exists():
            if self.store.exists():
                raise SweepError(
                    f"{self.store} exists and is no sweep to go on with: {self.path.name} "
                    "is not beside it. Remove it, or give another name"
                )
            return None
        data = read_regular(
            self.path, lambda text: SweepError(f"{self.path}: {text}"), LARGEST_PROGRESS
        )
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            found = json.loads(str(arrays["identity"]))
            done = arrays["done"].astype(bool)
        except Exception:
            raise SweepError(
                f"{self.path} is damaged; remove it and {self.store} and start again"
            ) from None
        check_identity(self.store, found, identity)
        parts: dict[str, Part] = {name: {} for name in names}
        for key, values in arrays.items():
            name, sign, inner = key.partition("/")
            if sign:
                parts[name][inner] = values
        return done, list(parts.values())

    def save(self, identity: Mapping[str, Any], done: Array, named: Mapping[str, Part]) -> None:
        """Write it all anew."""
        arrays = {f"{name}/{key}": v for name, part in named.items() for key, v in part.items()}
        with replacing(self.path) as stream:
            np.savez(stream, identity=np.array(json.dumps(identity)), done=done, **arrays)  # type: ignore[arg-type]


def check_identity(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """An error that says what is different, unless a store is of this very sweep."""
    wanted = json.loads(json.dumps(wanted))
    if found == wanted:
        return
    deepest = max(_differences(found.get("model"), wanted["model"]), key=len)
    words = {
        "format": "another version of armdyn",
        "version": f"armdyn {found.get('version')}, this is {wanted['version']}",
        "robot": f"another robot, {found.get('robot')!r} and not {wanted['robot']!r}",
        "digest": f"another {wanted['robot']!r}, with a difference in {' > '.join(deepest)}",
        "quantity": f"another quantity, {found.get('quantity')}",
        "options": "other options",
        "over": "other states",
        "reduce": "other reductions",
    }
    other = next(
        (words[key] for key in words if found.get(key) != wanted.get(key)), "another sweep"
    )
    raise SweepError(
        f"the store {path} is of {other}: nothing was changed. Give another name, or remove it and "
        f"{path.name}.sweep"
    )


def _differences(one: Any, other: Any) -> list[tuple[str, ...]]:
    """Where plain data differ, by keys and by the names of records in lists."""
    if isinstance(one, list) and isinstance(other, list):
        one, other = (
            {x["name"]: x for x in y if isinstance(x, dict) and "name" in x} for y in (one, other)
        )
    if not isinstance(one, dict) or not isinstance(other, dict):
        return [()]
    keys = [key for key in one | other if one.get(key) != other.get(key)]
    return [(k, *rest) for k in keys for rest in _differences(one.get(k), other.get(k))] or [()]
