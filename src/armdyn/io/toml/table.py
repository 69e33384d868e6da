"""Typed access to the tables of a robot file; every error names the file, the table and the key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TomlError, UnknownNameError, shown
from armdyn.model.transform import check_transform, rotation_from_rpy, transform

PLACEMENT = ("position", "rpy", "rotation")


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a TOML file: its keys and values, and where it stands."""

    data: Mapping[str, Any]
    where: str
    """Such as "joint 2 'elbow'"; empty for the top of the file."""
    file: Path

    def error(self, message: str) -> TomlError:
        """An error at this table, to be raised by the caller."""
        return TomlError(f"{self.where}: {message}" if self.where else message, file=self.file)

    def check_keys(self, allowed: Iterable[str]) -> None:
        """Refuse keys that nobody would read, naming the nearest ones that exist."""
        names = tuple(allowed)
        for key in self.data:
            if key not in names:
                raise self.error(str(UnknownNameError("key", key, names)))

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        return str(self._get(key, default, "a string", str))

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean, true or false."""
        return bool(self._get(key, default, "true or false", bool))

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        value = self._get(key, default, "a number")
        return float(self._checked(key, value, ()) if key in self.data else value)

    def array(self, key: str, shape: tuple[int, ...], default: Any = None) -> Array:
        """Finite numbers of the given shape."""
        value = self._get(key, default, f"numbers of shape {shape}")
        return self._checked(key, value, shape) if key in self.data else np.asarray(value, float)

    def numbers(self, key: str) -> list[float]:
        """Finite numbers in brackets, at least one."""
        value = self._get(key, None, "numbers in brackets", list)
        return [float(x) for x in self._checked(key, value, (len(value),))]

    def number_or_array(self, key: str, shape: tuple[int, ...]) -> float | list[float]:
        """A finite number, or finite numbers of the given shape."""
        if isinstance(self.data[key], list):
            return list(self.array(key, shape))
        return self.number(key)

    def tensor(self, key: str) -> Array:
        """A 3x3 tensor, given in full or by its diagonal; zero where it is absent."""
        value = self.data.get(key, [0.0, 0.0, 0.0])
        if _shape(value) == (3,):
            return np.diag(self.array(key, (3,), [0.0, 0.0, 0.0]))
        return self.array(key, (3, 3))

    def table(self, key: str) -> "Table | None":
        """The table under a key, or None where it is absent."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(f"{key}: expected a table, got {shown(value)}")
        return Table(value, f"{self.where}: {key}" if self.where else key, self.file)

    def tables(self, key: str) -> "list[Table]":
        """The tables of an array [[key]], numbered from 1 and called by their names."""
        rows = self.data.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.error(f"{key}: expected tables, each headed by [[{key}]], got {shown(rows)}")
        before = f"{self.where}: " if self.where else ""
        names = [f" {shown(row['name'])}" if "name" in row else "" for row in rows]
        return [
            Table(row, f"{before}{key} {i}{name}", self.file)
            for i, (row, name) in enumerate(zip(rows, names, strict=True), start=1)
        ]

    def rotation(self, prefix: str = "") -> Array:
        """The rotation under `rpy` (angles about the fixed x, y, z axes) or `rotation` (3x3)."""
        rpy, rotation = f"{prefix}rpy", f"{prefix}rotation"
        if rpy in self.data and rotation in self.data:
            raise self.error(f"give {rpy} or {rotation}, not both")
        if rotation not in self.data:
            return rotation_from_rpy(self.array(rpy, (3,), (0.0, 0.0, 0.0)))
        R = self.array(rotation, (3, 3))
        return check_transform(f"{self.where}: {rotation}", transform(R))[:3, :3]

    def placement(self) -> Array:
        """The 4x4 transform under `position` [m] and `rpy` [rad] or `rotation`."""
        return transform(self.rotation(), self.array("position", (3,), (0.0, 0.0, 0.0)))

    def _get(self, key: str, default: Any, expected: str, kind: type = object) -> Any:
        value = self.data.get(key, default)
        if value is None:
            raise self.error(f"the key {key!r} is missing; expected {expected}")
        if not isinstance(value, kind):
            raise self.error(f"{key}: expected {expected}, got {shown(value)}")
        return value

    def _checked(self, key: str, value: Any, shape: tuple[int, ...]) -> Array:
        expected = "a finite number" if shape == () else f"finite numbers of shape {shape}"
        if _shape(value) != shape:
            raise self.error(f"{key}: expected {expected}, got {shown(value)}")
        try:
            array = np.asarray(value, dtype=float)
        except OverflowError:
            array = np.full(shape, np.inf)
        if not np.all(np.isfinite(array)):
            advice = "; leave a limit out where there is none" if "limit" in key else ""
            raise self.error(f"{key}: expected {expected}, got {shown(value)}{advice}")
        return array


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers; None for anything else, text and booleans included."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return ()
    if not isinstance(value, list) or not value:
        return None
    shapes = {_shape(entry) for entry in value}
    only = shapes.pop()
    return None if shapes or only is None else (len(value), *only)
