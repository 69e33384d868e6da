"""Values and slopes of a graph at many points of the finite field at once.

The tangents of forward differentiation are carried along with the values, so that D(q) and all its
partial derivatives come out of one walk through the graph. Sines and cosines are taken of symbols
alone.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TraceError
from armdyn.graph import field
from armdyn.graph.evaluate import Table, run_for, steps_of
from armdyn.graph.nodes import Node
from armdyn.graph.operations import TRIG
from armdyn.graph.visit import reachable

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
    _known: dict[tuple[int, int], int] = dataclasses.field(default_factory=dict)

    def __call__(self, leaf: Node) -> Array:
        """The residues of a leaf, one a point."""
        inner = leaf.args[0] if leaf.args else leaf
        if inner.op not in ("input", "parameter"):
            raise TraceError(f"{leaf!r} is no sine or cosine of a symbol")
        found = []
        for point in self.points:
            key = leaf.index, point.seed + ANOTHER * (inner.name in point.again)
            if key not in self._known:
                self._known[key] = field.FiniteField(key[1]).values([leaf])[0]
            found.append(0 if inner.name in point.zero else self._known[key])
        return np.array(found, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class _Dual:
    """Residues at all points (points,), and their slopes (names, points); None: no slope."""

    value: Array
    slope: Array | None = None


def _dual_sum(sign: Callable[[Array, Array], Array]) -> Callable[[_Dual, _Dual], _Dual]:
    def total(a: _Dual, b: _Dual) -> _Dual:
        if a.slope is None and b.slope is None:
            return _Dual(sign(a.value, b.value))
        slopes = (field.ZERO if x.slope is None else x.slope for x in (a, b))
        return _Dual(sign(a.value, b.value), sign(*slopes))

    return total


def _dual_product(a: _Dual, b: _Dual) -> _Dual:
    terms = [field.mul(x.value, y.slope) for x, y in ((a, b), (b, a)) if y.slope is not None]
    return _Dual(field.mul(a.value, b.value), reduce(field.add, terms) if terms else None)


_minus = _dual_sum(field.sub)
_DUALS: Table = {
    "add": _dual_sum(field.add),
    "sub": _minus,
    "mul": _dual_product,
    "neg": lambda a: _minus(_Dual(field.ZERO), a),
}


def values_and_slopes(
    outputs: Iterable[Node], drawn: Drawn, names: Sequence[str] = ()
) -> tuple[Array, Array]:
    """The outputs (outputs, points) and their slopes by named inputs (outputs, names, points)."""
    outputs, points = list(outputs), len(drawn.points)

    def leaf(node: Node) -> _Dual:
        if node.op == "number":
            return _Dual(np.array(field.number_residue(node.value), dtype=np.uint64))
        value, inner = drawn(node), node.args[0] if node.args else node
        if inner.name not in names:
            return _Dual(value)
        slope = np.zeros((len(names), points), dtype=np.uint64)
        slope[names.index(inner.name)] = 1
        if node.op == "sin":
            slope = field.mul(drawn(inner.cos()), slope)
        elif node.op == "cos":
            slope = field.mul(field.sub(field.ZERO, drawn(inner.sin())), slope)
        return _Dual(value, slope)

    nodes = reachable(outputs)
    leaves = {n.index: leaf(n) for n in nodes if n.op in TRIG or not n.args}
    steps = [step for step in steps_of(nodes) if step[0] not in leaves]
    if unknown := {op for _, op, _ in steps} - _DUALS.keys():
        raise TraceError(f"{min(unknown)} is neither a sum nor a product")
    found = run_for([node.index for node in outputs], steps, leaves, _DUALS)
    result = np.zeros((len(outputs), points), dtype=np.uint64)
    slopes = np.zeros((len(outputs), len(names), points), dtype=np.uint64)
    for k, dual in enumerate(found):
        result[k] = dual.value
        slopes[k] = 0 if dual.slope is None else dual.slope
    return result, slopes
