"""Values and slopes of a graph at many points of the finite field at once.

The tangents of forward differentiation are carried along with the values, so that D(q) and all its
partial derivatives come out of one walk through the graph. Sines and cosines are taken of symbols
alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TraceError
from armdyn.graph import residue_arrays as residues
from armdyn.graph.differentiate import tangent
from armdyn.graph.evaluate import FiniteField
from armdyn.graph.nodes import Node
from armdyn.graph.operations import TRIG, number_residue
from armdyn.graph.visit import reachable, uses

ZERO = np.zeros((), dtype=np.uint64)
ANOTHER = 1000
"""Added to a seed where a symbol is drawn again."""


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
        inner = leaf.args[0] if leaf.args else leaf
        if inner.op not in ("input", "parameter"):
            raise TraceError(f"{leaf!r} is no sine or cosine of a symbol")
        found = []
        for point in self.points:
            key = leaf.index, point.seed + ANOTHER * (inner.name in point.again)
            if key not in self._known:
                self._known[key] = FiniteField(key[1]).values([leaf])[0]
            found.append(0 if inner.name in point.zero else self._known[key])
        return residues.residues(found)


def values_and_slopes(
    outputs: Iterable[Node], drawn: Drawn, names: Sequence[str] = ()
) -> tuple[Array, Array]:
    """The outputs (outputs, points) and their slopes by named inputs (outputs, names, points)."""
    outputs, points = list(outputs), len(drawn.points)
    left = uses(outputs)
    value: dict[int, Any] = {}
    slope: dict[int, Any] = {}

    def times(partial: Node, slopes: Any) -> Any:
        if partial.op == "neg":
            return residues.sub(ZERO, times(partial.args[0], slopes))
        if partial.op == "number" and partial.value in (1, -1):
            return slopes if partial.value == 1 else residues.sub(ZERO, slopes)
        known = partial.index in value
        return residues.mul(value[partial.index] if known else drawn(partial), slopes)

    for node in reachable(outputs):
        value[node.index] = _value(node, value, drawn)
        if node.name in names:
            slope[node.index] = np.zeros((len(names), points), dtype=np.uint64)
            slope[node.index][names.index(node.name)] = 1
        elif (found := tangent(node, slope, times, residues.add)) is not None:
            slope[node.index] = found
        for used in node.args:
            left[used.index] -= 1
            if not left[used.index]:
                del value[used.index]
                slope.pop(used.index, None)
    result = np.zeros((len(outputs), points), dtype=np.uint64)
    slopes = np.zeros((len(outputs), len(names), points), dtype=np.uint64)
    for k, node in enumerate(outputs):
        result[k], slopes[k] = value[node.index], slope.get(node.index, 0)
    return result, slopes


def _value(node: Node, value: dict[int, Any], drawn: Drawn) -> Any:
    """The value of a node from those of its operands."""
    operands = [value[a.index] for a in node.args]
    match node.op:
        case "number":
            return np.uint64(number_residue(node.value))
        case "add" | "sub" | "mul":
            return getattr(residues, node.op)(*operands)
        case "neg":
            return residues.sub(ZERO, *operands)
        case _ if node.op in TRIG or not node.args:
            return drawn(node)
    raise TraceError(f"{node!r} is neither a sum nor a product")
