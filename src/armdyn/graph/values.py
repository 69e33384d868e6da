"""Numbers known by their residue alone, which tell how many operations a formulation needs.

A node of a graph is one way to write a value; here all ways to write a value are one object, found
by its residue modulo the prime, and a value and its opposite are one cell. Each operation leaves
the definition of its cell, by the cells it is made of, among the definitions under way. Definitions
that were left before serve again wherever the same values are at hand, whatever those were made of:
so a small change of a formulation is counted without tracing the rest anew.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.field import (
    PRIME,
    CirclePoint,
    FiniteField,
    mirrored,
    number_residue,
    sum_of_angles,
)

Definition = tuple[int, tuple[int, ...]]
"""What a cell adds to the count, 0 or 1, and the cells it is made of."""
Definitions = dict[int, Definition]
Made = tuple[Any, Definition | None]
"""The result of an operation, and the definition of its cell unless it has none."""
NOTHING: dict[Any, Made] = {}
"""Stands for an empty table of results; never written to."""


class FieldValue:
    """A value with its sign; made by its table only, one object for each residue."""

    __slots__ = ("cell", "constant", "opposite", "products", "residue", "sums", "table")

    def __init__(self, table: "ValueTable", residue: int, cell: int, constant: bool):
        self.table = table
        self.residue = residue
        self.cell = cell
        self.constant = constant
        self.opposite = self
        self.sums = self.products = NOTHING
        """What was found before, by the other operand."""

    def __neg__(self) -> "FieldValue":
        return self.opposite

    def __add__(self, other: Any) -> Any:
        if other.__class__ is not FieldValue:
            if not isinstance(other, int | float):
                return NotImplemented
            if not other:
                return self
            other = self.table.number(other)
        made = self.sums.get(other)
        if made is None:
            made = self.table.summed(self, other)
            self.sums = self.sums or {}
            self.sums[other] = made
        result, definition = made
        if definition is not None:
            self.table.definitions.setdefault(result.cell, definition)
        return result

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is not FieldValue:
            if not isinstance(other, int | float):
                return NotImplemented
            if not other:
                return 0.0
            if other in (1, -1):
                return self if other == 1 else self.opposite
            other = self.table.number(other)
        made = self.products.get(other)
        if made is None:
            made = self.table.multiplied(self, other)
            self.products = self.products or {}
            self.products[other] = made
        result, definition = made
        if definition is not None:
            self.table.definitions.setdefault(result.cell, definition)
        return result

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return self.opposite + other

    def __truediv__(self, other: Any) -> Any:
        if other.__class__ is FieldValue:
            return self * self.table.inverse(other)
        return self * (1.0 / other) if other in (1, -1) else self * (1 / self.table.number(other))

    def __rtruediv__(self, other: Any) -> Any:
        return self.table.inverse(self) * other

    def __pow__(self, exponent: int) -> Any:
        return reduce(mul, [self] * exponent)

    def cos(self) -> Any:
        """The cosine of the value as an angle."""
        return self.table.function(self, 0)

    def sin(self) -> Any:
        """The sine of the value as an angle."""
        return self.table.function(self, 1)


class ValueTable:
    """All values met while formulations are counted."""

    def __init__(self) -> None:
        self.definitions: Definitions = {}
        """The definitions under way."""
        self._field = FiniteField()
        self._known: dict[int, FieldValue] = {}
        self._points: dict[FieldValue, CirclePoint] = {}
        self._terms: dict[FieldValue, tuple[FieldValue, FieldValue]] = {}
        """The sum that a value was first met as."""
        self._cells = 0

    def input(self, name: str) -> FieldValue:
        """The input of that name."""
        return self._symbol(name, constant=False)

    def inputs(self, name: str, count: int) -> Array:
        """An object array of inputs name1, name2, ..., shape (count,)."""
        return np.array([self.input(f"{name}{i + 1}") for i in range(count)], dtype=object)

    def parameter(self, name: str, value: float | None = None) -> Any:
        """The parameter of that name; 0 and ±1 as values are plain numbers."""
        return value if value in (0.0, 1.0, -1.0) else self._symbol(name, constant=True)

    def number(self, value: int | float) -> FieldValue:
        """A number as a value."""
        return self._of(number_residue(value), True)

    def summed(self, a: FieldValue, b: FieldValue) -> Made:
        """a + b."""
        residue = (a.residue + b.residue) % PRIME
        new = residue not in self._known
        made = self._made(a, b, residue)
        if new and residue > 1:
            self._terms[made[0]] = a, b
        return made

    def multiplied(self, a: FieldValue, b: FieldValue) -> Made:
        """a b."""
        return self._made(a, b, a.residue * b.residue % PRIME)

    def inverse(self, a: FieldValue) -> FieldValue:
        """1/a; a division is not counted."""
        return self._uncounted(a, pow(a.residue, -1, PRIME))

    def function(self, angle: FieldValue, which: int) -> FieldValue:
        """The cosine (0) or sine (1) of an angle, which are not counted."""
        return self._uncounted(angle, self._point(angle)[which])

    def count(self, outputs: Iterable[Any], traces: Sequence[Definitions]) -> int:
        """The operations that the outputs need; of two definitions the one of the first trace."""
        known: Definitions = {}
        for trace in reversed(traces):
            known.update(trace)
        cells = [v.cell for v in outputs if v.__class__ is FieldValue]
        total, counted = 0, (0, ())
        for cell in cells:
            cost, operands = known.pop(cell, counted)
            total += cost
            cells += operands
        return total

    def _made(self, a: FieldValue, b: FieldValue, residue: int) -> Made:
        if residue in (0, 1, PRIME - 1):
            return (0.0, 1.0, -1.0)[min(residue, 2)], None
        constant = a.constant and b.constant
        result = self._of(residue, constant)
        if not result.cell:
            return result, None
        return result, (0 if constant else 1, tuple(v.cell for v in (a, b) if v.cell))

    def _uncounted(self, a: FieldValue, residue: int) -> FieldValue:
        result = self._of(residue, a.constant)
        if result.cell:
            self.definitions.setdefault(result.cell, (0, (a.cell,) if a.cell else ()))
        return result

    def _symbol(self, name: str, constant: bool) -> FieldValue:
        residue = self._field.draw(f"value {name}")
        value = self._known.get(residue) or self._enter(residue, 0, constant)
        self._points.setdefault(value, self._field.point(name))
        return value

    def _of(self, residue: int, constant: bool) -> FieldValue:
        """The value of a residue; a new one that is not constant gets a cell."""
        value = self._known.get(residue)
        if value is None:
            self._cells += not constant
            value = self._enter(residue, 0 if constant else self._cells, constant)
        return value

    def _enter(self, residue: int, cell: int, constant: bool) -> FieldValue:
        value = self._known[residue] = FieldValue(self, residue, cell, constant)
        other = self._known[PRIME - residue] = FieldValue(self, PRIME - residue, cell, constant)
        value.opposite = other
        other.opposite = value
        return value

    def _point(self, angle: FieldValue) -> CirclePoint:
        """cos and sin of an angle: a symbol, a sum of angles, or whatever else."""
        if angle not in self._points:
            if angle in self._terms:
                a, b = self._terms[angle]
                point = sum_of_angles(self._point(a), self._point(b))
            elif angle.opposite in self._terms or angle.opposite in self._points:
                point = mirrored(self._point(angle.opposite))
            else:
                point = self._field.point(f"value {angle.residue}")
            self._points[angle] = point
        return self._points[angle]
