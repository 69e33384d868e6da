"""Outputs of a graph as plain data, to be kept in a file and written into another graph."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.expr.graph import Graph, Node
from armdyn.expr.operations import OPERATIONS, slopes
from armdyn.expr.visit import reachable

Leaf = tuple[str, str | int | float]
"""("input" | "parameter", its name) or ("number", its value)."""
HALF_BIT = float(np.finfo(float).eps) / 2
"""Largest rounding of an operation, relative to its result."""


@dataclass(frozen=True, slots=True)
class Template:
    """Operations in order. Values are numbered: the leaves first, then each operation."""

    leaves: tuple[Leaf, ...]
    operations: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[int, ...]

    @staticmethod
    def of(outputs: Sequence[Node]) -> "Template":
        """The template of nodes of one graph."""
        nodes = sorted(reachable(outputs), key=lambda node: (bool(node.args), node.index))
        place = {node.index: k for k, node in enumerate(nodes)}
        leaves = [n for n in nodes if not n.args]
        return Template(
            tuple((n.op, n.value if n.op == "number" else n.name) for n in leaves),
            tuple((n.op, tuple(place[a.index] for a in n.args)) for n in nodes[len(leaves) :]),
            tuple(place[node.index] for node in outputs),
        )

    def nodes(self, graph: Graph, symbol: Callable[[str, str], Any]) -> list[Node]:
        """The outputs in a graph; `symbol` gives a value for the kind and the name of a leaf."""
        values: list[Node] = []
        for kind, name in self.leaves:
            given: Any = name if kind == "number" else symbol(kind, str(name))
            values.append(given if isinstance(given, Node) else graph.number(given))
        for op, args in self.operations:
            values.append(graph.apply(op, [values[k] for k in args]))
        return [values[k] for k in self.outputs]

    def values(self, symbol: Callable[[str, str], Any]) -> list[Any]:
        """The outputs as numbers or arrays, from those of the leaves."""
        known = ((kind, str(name)) for kind, name in self.leaves)
        values = [float(n) if kind == "number" else symbol(kind, n) for kind, n in known]
        for op, args in self.operations:
            values.append(OPERATIONS[op].value(*(values[k] for k in args)))
        return [values[k] for k in self.outputs]

    def rounded(self, symbol: Callable[[str, str], Any]) -> list[tuple[Any, Any]]:
        """The outputs, each with the standard deviation of its rounding.

        Operations are taken to round independently, by half a bit each; leaves are exact. It is a
        smooth function of the leaves, which the rounding itself is not.
        """
        known = ((kind, str(name)) for kind, name in self.leaves)
        pairs = [(float(n) if kind == "number" else symbol(kind, n), 0.0) for kind, n in known]
        for op, args in self.operations:
            operands, errors = zip(*(pairs[k] for k in args), strict=True)
            value = OPERATIONS[op].value(*operands)
            error = HALF_BIT * np.abs(value) if OPERATIONS[op].cost else 0.0
            for slope, before in zip(slopes(op, value, operands), errors, strict=True):
                error = np.hypot(error, slope * before)
            pairs.append((value, error))
        return [pairs[k] for k in self.outputs]

    def data(self) -> list[Any]:
        """The template as lists, strings and numbers."""
        operations = [[_SHORT[op], *args] for op, args in self.operations]
        return [[list(leaf) for leaf in self.leaves], operations, list(self.outputs)]

    @staticmethod
    def from_data(data: Any) -> "Template":
        """The template that `data` gave; a ValueError if it is none."""
        try:
            leaves, operations, outputs = data
            template = Template(
                tuple((str(kind), name) for kind, name in leaves),
                tuple((_LONG[op], tuple(map(int, args))) for op, *args in operations),
                tuple(map(int, outputs)),
            )
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise ValueError("this is no template of a program") from error
        template._check()
        return template

    def _check(self) -> None:
        """A ValueError if a leaf is none, or an operation has other operands than it should."""
        kinds = {"input": str, "parameter": str, "number": int | float}
        if not all(isinstance(name, kinds.get(kind, ())) for kind, name in self.leaves):
            raise ValueError("a leaf of this template is neither a name nor a number")
        start = len(self.leaves)
        sound = all(
            len(args) == OPERATIONS[op].arity and all(0 <= k < place for k in args)
            for place, (op, args) in enumerate(self.operations, start)
        )
        size = start + len(self.operations)
        if not (sound and all(0 <= k < size for k in self.outputs)):
            raise ValueError("an operation of this template has operands that are not there")


_SHORT = {op: {"add": "+", "sub": "-", "mul": "*", "div": "/"}.get(op, op) for op in OPERATIONS}
_LONG = {short: op for op, short in _SHORT.items()}
