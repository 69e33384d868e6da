"""An order for the operations of a graph, in which few values wait to be used."""

from collections.abc import Iterable

from armdyn.expr.node import Node
from armdyn.expr.visit import reachable


def linearize(outputs: Iterable[Node]) -> list[Node]:
    """Every operation that changes with the inputs, operands first, one output after the other.

    Of two operands the one that needs more values at once is computed first, as Sethi and Ullman do
    for trees; sine and cosine of one angle follow each other.
    """
    outputs = list(outputs)
    nodes = reachable(outputs)
    need = _needs(nodes)
    partner = _partners(nodes)
    done: set[int] = set()
    order: list[Node] = []
    stack = outputs[::-1]
    while stack:
        node = stack[-1]
        waiting = [a for a in node.args if a.index not in done and is_run(a)]
        if node.index in done or not is_run(node):
            stack.pop()
        elif waiting:
            stack.append(max(waiting, key=lambda a: (need[a.index], -a.index)))
        else:
            stack.pop()
            for made in (node, partner.get(node.index)):
                if made is not None:
                    order.append(made)
                    done.add(made.index)
    return order


def is_run(node: Node) -> bool:
    """Whether a node is an operation at run time: neither a leaf nor a constant."""
    return bool(node.args) and not node.constant


def _needs(nodes: list[Node]) -> dict[int, int]:
    """Values that computing each node keeps at once, if nothing were shared."""
    need: dict[int, int] = {}
    for node in nodes:
        below = sorted((need[a.index] for a in node.args), reverse=True)
        need[node.index] = max((n + k for k, n in enumerate(below)), default=1)
    return need


def _partners(nodes: list[Node]) -> dict[int, Node]:
    """For each sine the cosine of the same angle, and the other way round, where both are there."""
    by_angle: dict[int, list[Node]] = {}
    for node in nodes:
        if node.op in ("sin", "cos"):
            by_angle.setdefault(node.args[0].index, []).append(node)
    pairs = [pair for pair in by_angle.values() if len(pair) == 2]
    return {a.index: b for pair in pairs for a, b in (pair, pair[::-1])}
