"""Typed access to the tables of a robot file; every error names the file, the table and the key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from armdyn.arrays import Array, check_constant
from armdyn.errors import ModelError, TomlError, UnknownNameError, shown
from armdyn.io.shapes import placement_from_keys


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
        """Refuse keys that nobody would read, naming the nearest ones, and what is not finite."""
        names = tuple(allowed)
        for key, value in self.data.items():
            if key not in names:
                raise self.error(str(UnknownNameError("key", key, names)))
            entries = value if isinstance(value, list) else [value]
            if any(isinstance(entry, float) and not isfinite(entry) for entry in entries):
                advice = "; leave a limit out where there is none" if "limit" in key else ""
                raise self.error(f"{key}: expected a finite number, got {shown(value)}{advice}")

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        return str(self._get(key, default, "a string", str))

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean, true or false."""
        return bool(self._get(key, default, "true or false", bool))

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number, or the default, which need not be finite."""
        if default is not None and key not in self.data:
            return default
        return float(self.array(key, ()))

    def array(self, key: str, shape: tuple[int, ...], default: Any = None) -> Array:
        """Finite numbers of the given shape."""
        value = self._get(key, default, f"numbers of shape {shape}" if shape else "a number")
        try:
            return check_constant(key, value, shape)
        except ModelError as fault:
            raise self.error(str(fault)) from fault

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

    def placement(self) -> Array:
        """The 4x4 transform under `position` [m] and `rpy` [rad] or `rotation`."""
        return placement_from_keys(self.where, self.data)

    def _get(self, key: str, default: Any, expected: str, kind: type = object) -> Any:
        value = self.data.get(key, default)
        if value is None:
            raise self.error(f"the key {key!r} is missing; expected {expected}")
        if not isinstance(value, kind):
            raise self.error(f"{key}: expected {expected}, got {shown(value)}")
        return value
