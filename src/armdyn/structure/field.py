"""Values and slopes of a graph at many points at once: exactly over the finite field, or in floats.

Forward differentiation carried along with the values, so that D(q) and all its partial derivatives
come out of one walk through the graph. Sines and cosines are taken of symbols alone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler import residues
from armdyn.errors import TraceError
from armdyn.expr.evaluate import PRIME, FiniteField
from armdyn.expr.node import Node
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


def _residue(value: int | float) -> Any:
    numerator, denominator = value.as_integer_ratio()
    return np.uint64(numerator * pow(denominator, -1, PRIME) % PRIME)


EXACT = Arithmetic(residues.add, residues.sub, residues.mul, _residue)
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
    """The outputs at every point and their derivatives by the named inputs.

    Args:
        outputs: The nodes wanted.
        leaf: The value of a symbol, or of its sine or cosine, at each point, shape (points,).
        points: How many points there are.
        names: The inputs to differentiate by.
        by: The arithmetic of the values.

    Returns:
        Shapes (outputs, points) and (outputs, names, points).
    """
    outputs = list(outputs)
    left, column = uses(outputs), {name: k for k, name in enumerate(names)}
    value: dict[int, Any] = {}
    slope: dict[int, Any] = {}
    for node in reachable(outputs):
        value[node.index], slope[node.index] = _step(node, value, slope, leaf, column, by)
        for used in node.args:
            left[used.index] -= 1
            if not left[used.index]:
                del value[used.index], slope[used.index]
    kind = np.asarray(by.number(0)).dtype
    found = np.zeros((len(outputs), points), dtype=kind)
    slopes = np.zeros((len(outputs), len(names), points), dtype=kind)
    for k, node in enumerate(outputs):
        found[k] = value[node.index]
        if slope[node.index] is not None:
            slopes[k] = slope[node.index]
    return found, slopes


def _step(
    node: Node,
    value: dict[int, Any],
    slope: dict[int, Any],
    leaf: Callable[[Node], Array],
    column: dict[str, int],
    by: Arithmetic,
) -> tuple[Any, Any]:
    """Value and slopes of a node from those of its operands; None: all slopes are zero."""
    if node.op == "number":
        return by.number(node.value), None
    if not node.args or node.op in ("sin", "cos"):
        return leaf(node), _unit(node, leaf, column, by)
    a, da = value[node.args[0].index], slope[node.args[0].index]
    if node.op == "neg":
        zero = by.number(0)
        return by.sub(zero, a), None if da is None else by.sub(zero, da)
    b, db = value[node.args[1].index], slope[node.args[1].index]
    match node.op:
        case "add":
            return by.add(a, b), _sum(da, db, by)
        case "sub":
            minus = None if db is None else by.sub(by.number(0), db)
            return by.sub(a, b), _sum(da, minus, by)
        case "mul":
            parts = (None if da is None else by.mul(da, b), None if db is None else by.mul(a, db))
            return by.mul(a, b), _sum(*parts, by)
    raise TraceError(f"{node!r} is neither a sum nor a product")


def _sum(a: Any, b: Any, by: Arithmetic) -> Any:
    return b if a is None else a if b is None else by.add(a, b)


def _unit(node: Node, leaf: Callable[[Node], Array], column: dict[str, int], by: Arithmetic) -> Any:
    """The slopes of a symbol, or of its sine or cosine: one column."""
    place = column.get(symbol(node))
    if place is None:
        return None
    graph, own = node.graph, by.number(1)
    if node.op == "sin":
        own = leaf(graph.function("cos", node.args[0]))
    elif node.op == "cos":
        own = by.sub(by.number(0), leaf(graph.function("sin", node.args[0])))
    slopes = np.zeros((len(column), np.size(leaf(node))), dtype=np.asarray(own).dtype)
    slopes[place] = own
    return slopes
