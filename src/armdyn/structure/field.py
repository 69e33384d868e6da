"""Values and slopes of a graph at many points at once: exactly over the finite field, or in floats.

The tangents of forward differentiation are carried along with the values, so that D(q) and all its
partial derivatives come out of one walk through the graph. Sines and cosines are taken of symbols
alone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler import residues
from armdyn.errors import TraceError
from armdyn.expr.differentiate import tangent
from armdyn.expr.evaluate import FiniteField
from armdyn.expr.graph import Node
from armdyn.expr.operations import TRIG, number_residue
from armdyn.expr.visit import reachable, uses

ANOTHER = 1000
"""Added to a seed where a symbol is drawn again."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Sums and products of arrays, and a number as such an array."""

    add: Callable[[Any, Any], Any]
    sub: Callable[[Any, Any], Any]
    mul: Callable[[Any, Any], Any]
    number: Callable[[int | float], Any]


EXACT = Arithmetic(residues.add, residues.sub, residues.mul, lambda x: np.uint64(number_residue(x)))
FLOATS = Arithmetic(np.add, np.subtract, np.multiply, np.float64)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the finite field, by names."""

    seed: int
    again: frozenset[str] = frozenset()
    """Symbols that are drawn anew, all others being those of the seed."""
    zero: frozenset[str] = frozenset()
    """Symbols that are zero."""


@dataclass(slots=True)
class Drawn:
    """What symbols, and sines and cosines of symbols, are at points of the field."""

    points: Sequence[Point]
    _known: dict[tuple[int, int], int] = field(default_factory=dict)

    def __call__(self, leaf: Node) -> Array:
        """The residues of a leaf, one a point."""
        name = symbol(leaf)
        return residues.residues(
            [
                0 if name in p.zero else self._draw(leaf, p.seed + ANOTHER * (name in p.again))
                for p in self.points
            ]
        )

    def _draw(self, leaf: Node, seed: int) -> int:
        key = (leaf.index, seed)
        if key not in self._known:
            self._known[key] = FiniteField(seed).values([leaf])[0]
        return self._known[key]


def symbol(leaf: Node) -> str:
    """The name of a symbol, or of the one a sine or cosine is taken of."""
    inner = leaf.args[0] if leaf.args else leaf
    if inner.op not in ("input", "parameter"):
        raise TraceError(f"{leaf!r} is no sine or cosine of a symbol")
    return inner.name


def values(
    outputs: Iterable[Node], leaf: Callable[[Node], Array], points: int, by: Arithmetic = EXACT
) -> Array:
    """The outputs at every point, shape (outputs, points)."""
    return values_and_slopes(outputs, leaf, points, (), by)[0]


def values_and_slopes(
    outputs: Iterable[Node],
    leaf: Callable[[Node], Array],
    points: int,
    names: Sequence[str],
    by: Arithmetic = EXACT,
) -> tuple[Array, Array]:
    """The outputs (outputs, points) and their slopes by named inputs (outputs, names, points).

    `leaf` gives the values of a symbol, or of its sine or cosine, at the points.
    """
    outputs = list(outputs)
    left, kind = uses(outputs), np.asarray(by.number(0)).dtype
    value: dict[int, Any] = {}
    slope: dict[int, Any] = {}

    def times(partial: Node, slopes: Any) -> Any:
        if partial.op == "neg":
            return by.sub(by.number(0), times(partial.args[0], slopes))
        if partial.op == "number" and partial.value in (1, -1):
            return slopes if partial.value == 1 else by.sub(by.number(0), slopes)
        known = partial.index in value
        return by.mul(value[partial.index] if known else leaf(partial), slopes)

    for node in reachable(outputs):
        value[node.index] = _value(node, value, leaf, by)
        if node.name in names:
            slope[node.index] = np.zeros((len(names), points), dtype=kind)
            slope[node.index][names.index(node.name)] = by.number(1)
        elif (found := tangent(node, slope, times, by.add)) is not None:
            slope[node.index] = found
        for used in node.args:
            left[used.index] -= 1
            if not left[used.index]:
                del value[used.index]
                slope.pop(used.index, None)
    result = np.zeros((len(outputs), points), dtype=kind)
    slopes = np.zeros((len(outputs), len(names), points), dtype=kind)
    for k, node in enumerate(outputs):
        result[k], slopes[k] = value[node.index], slope.get(node.index, 0)
    return result, slopes


def _value(node: Node, value: dict[int, Any], leaf: Callable[[Node], Array], by: Arithmetic) -> Any:
    """The value of a node from those of its operands."""
    match node.op:
        case "number":
            return by.number(node.value)
        case "add" | "sub" | "mul":
            return getattr(by, node.op)(*(value[a.index] for a in node.args))
        case "neg":
            return by.sub(by.number(0), value[node.args[0].index])
        case _ if node.op in TRIG or not node.args:
            return leaf(node)
    raise TraceError(f"{node!r} is neither a sum nor a product")
