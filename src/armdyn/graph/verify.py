"""The verifier: what must hold of every graph, and of what a pass makes of it."""

from collections.abc import Sequence

from armdyn.errors import GraphError
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.operations import OPERATIONS

LEAVES = ("input", "parameter", "number")
OPERANDS = {op.name: op.arity for op in OPERATIONS.values()} | dict.fromkeys(LEAVES, 0)
"""Number of operands of each operation."""


def verify(outputs: Sequence[Node], name: str = "a graph") -> None:
    """Raise a GraphError, naming the pass and the node, if the outputs do not form a sound graph.

    One graph, every operation known and with its number of operands, operands made before what uses
    them (so nothing depends on itself), every node at its own place in its graph, no node twice.
    """
    if not outputs:
        return
    graph = outputs[0].graph
    seen: set[int] = set()
    made: dict[tuple[object, ...], Node] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        _check(node, graph, name)
        if node.index in seen:
            continue
        seen.add(node.index)
        key = (node.op, node.name, repr(node.value), tuple(a.index for a in node.args))
        twin = made.setdefault(key, node)
        if twin is not node:
            raise _error(name, node, f"is there twice, also as node {twin.index}")
        stack.extend(node.args)


def verify_pass(before: Sequence[Node], after: Sequence[Node], name: str) -> None:
    """Raise a GraphError if a pass left an unsound graph or other values than it was given."""
    if len(before) != len(after):
        raise GraphError(f"{name}: made {len(after)} outputs of {len(before)}")
    verify(after, name)
    if proved_equal(before, after):
        return
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        if not proved_equal([old], [new]):
            raise _error(name, new, f"does not have the value of output {place}, {old!r}")


def _check(node: Node, graph: Graph, name: str) -> None:
    if node.graph is not graph:
        raise _error(name, node, "belongs to another graph than the first output")
    if not (node.index < len(graph.nodes) and graph.nodes[node.index] is node):
        raise _error(name, node, "is not the node its graph has at that place")
    if OPERANDS.get(node.op) != len(node.args):
        raise _error(name, node, f"has the operation {node.op!r} on {len(node.args)} operands")
    for a in node.args:
        if a.index >= node.index:
            raise _error(name, node, f"comes before its operand, node {a.index}")


def _error(name: str, node: Node, what: str) -> GraphError:
    return GraphError(f"{name}: node {node.index}, {node!r}, {what}")
