"""Differentiation on the graph, forward and reverse, without recursion.

Both directions use the partial derivatives of the table of operations. The derivatives are nodes of
the same graph, so they share what they have in common with the expressions and with each other.
Forward mode follows one direction in the space of the symbols through the graph (J t), reverse mode
one weighting of the outputs back to the symbols (wᵀ J); a Jacobian is n of the former or m of the
latter.

Reference: A. Griewank and A. Walther, Evaluating Derivatives, chapter 3.
"""

import operator
from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import GraphError, TraceError, shown
from armdyn.graph.nodes import Node, is_number
from armdyn.graph.operations import OPERATIONS
from armdyn.graph.visit import reachable


def jvp(
    outputs: Iterable[Node], symbols: Sequence[Node], direction: Sequence[Node | float]
) -> list[Node]:
    """The derivative of each output along a direction t of the symbols, J t, by forward mode."""
    outputs = list(outputs)
    _check(outputs, symbols)
    given = _nodes("direction", symbols, direction)
    tangents = {s.index: t for s, t in zip(symbols, given, strict=True) if not is_number(t, 0)}
    for node in reachable(outputs):
        if any(a.index in tangents for a in node.args):
            pairs = zip(node.args, _partials(node), strict=True)
            terms = [d * tangents[a.index] for a, d in pairs if a.index in tangents]
            tangents[node.index] = reduce(operator.add, terms)
    return [tangents[y.index] if y.index in tangents else y.graph.number(0) for y in outputs]


def vjp(
    outputs: Iterable[Node], symbols: Sequence[Node], weights: Sequence[Node | float]
) -> list[Node]:
    """The derivative of a sum of outputs with weights w by each symbol, wᵀ J, by reverse mode."""
    outputs = list(outputs)
    _check(outputs, symbols)
    order = reachable(outputs)
    active = {s.index for s in symbols}
    for node in order:
        if any(a.index in active for a in node.args):
            active.add(node.index)
    adjoints: dict[int, Node] = {}
    for output, weight in zip(outputs, _nodes("weights", outputs, weights), strict=True):
        if not is_number(weight, 0):
            _accumulate(adjoints, output, weight)
    for node in reversed(order):
        if node.args and node.index in adjoints and node.index in active:
            for a, d in zip(node.args, _partials(node), strict=True):
                if a.index in active:
                    _accumulate(adjoints, a, d * adjoints[node.index])
    return [adjoints[s.index] if s.index in adjoints else s.graph.number(0) for s in symbols]


def gradient(output: Node, symbols: Sequence[Node]) -> list[Node]:
    """The derivatives of one output by every symbol, by reverse mode."""
    return vjp([output], symbols, [1])


def jacobian(outputs: Iterable[Node], symbols: Sequence[Node]) -> Array:
    """The derivatives of outputs (m of them) by symbols (n), column by column: (m, n) of nodes."""
    outputs = list(outputs)
    columns = [jvp(outputs, [symbol], [1]) for symbol in symbols]
    return np.array(columns, dtype=object).reshape(len(symbols), len(outputs)).T


def _accumulate(sums: dict[int, Node], node: Node, term: Node) -> None:
    known = sums.get(node.index)
    sums[node.index] = term if known is None else known + term


def _partials(node: Node) -> tuple[Node, ...]:
    partials = OPERATIONS[node.op].partials
    if partials is None:
        raise GraphError(
            f"the operation {node.op!r} of %{node.index} has no derivative; those that have one: "
            f"{', '.join(op.name for op in OPERATIONS.values() if op.partials is not None)}. Add "
            "its partial derivatives to the table of operations"
        )
    return partials(node.graph, node, *node.args)


def _check(outputs: Sequence[Node], symbols: Sequence[Node]) -> None:
    """Outputs and symbols must be of one graph, the symbols leaves and different."""
    for symbol in symbols:
        if symbol.op not in ("input", "parameter"):
            raise TraceError(
                f"expressions are differentiated by inputs and parameters, not by {symbol!r}; "
                "make it an input of the graph"
            )
    names = [symbol.name for symbol in symbols]
    if len(set(names)) < len(names):
        raise TraceError(f"a symbol to differentiate by was given twice: {', '.join(names)}")
    for node in (*outputs, *symbols):
        (*outputs, *symbols)[0].graph.node(node)  # raises for a node of another graph


def _nodes(what: str, places: Sequence[Node], values: Sequence[Node | float]) -> list[Node]:
    """A node for each place, from nodes and numbers."""
    if len(values) != len(places):
        raise TraceError(f"{what}: expected {len(places)} nodes or numbers, got {len(values)}")
    nodes = []
    for place, value in zip(places, values, strict=True):
        node = place.graph.node(value)
        if node is None:
            raise TraceError(f"{what}: expected a node or a number, got {shown(value)}")
        nodes.append(node)
    return nodes
