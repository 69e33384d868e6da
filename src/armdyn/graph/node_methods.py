"""The methods of a node that build other nodes, by the names of operations of its graph."""

from collections.abc import Callable
from typing import Any

Operator = Callable[[Any, Any], Any]


def operators(op: str) -> tuple[Operator, Operator]:
    """The methods of an operation with the node on the left and with the node on the right."""

    def method(node: Any, other: Any, order: int = 1) -> Any:
        pair = node, node.graph.node(other)
        return NotImplemented if pair[1] is None else getattr(node.graph, op)(*pair[::order])

    return method, lambda node, other: method(node, other, -1)


def function(name: str) -> Callable[[Any], Any]:
    """The method of a function of one argument."""
    return lambda node: node.graph.function(name, node)
