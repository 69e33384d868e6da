"""Walking a graph without recursion, operands first."""

from collections import Counter
from collections.abc import Callable, Iterable

from armdyn.graph.nodes import Graph, Node
from armdyn.graph.operations import TRIG


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """Every node the outputs need, operands before what is made of them."""
    nodes: dict[int, Node] = {}
    ahead = list(outputs)
    for node in ahead:
        if node.index not in nodes:
            nodes[node.index] = node
            ahead += node.args
    return [nodes[index] for index in sorted(nodes)]


def uses(outputs: Iterable[Node]) -> Counter[int]:
    """How often each node is an operand or an output, by index."""
    outputs = list(outputs)
    found = Counter(node.index for node in outputs)
    for node in reachable(outputs):
        found.update(a.index for a in node.args)
    return found


def inside_angles(outputs: Iterable[Node]) -> set[int]:
    """Indices of the nodes that arguments of sines and cosines are made of."""
    turned = [node.args[0] for node in reachable(outputs) if node.op in TRIG]
    return {node.index for node in reachable(turned)}


def transcribe(
    outputs: Iterable[Node], graph: Graph, leaf: Callable[[Node], Node | None] | None = None
) -> list[Node]:
    """The outputs rebuilt in another (or the same) graph, folded on the way.

    `leaf` gives a replacement for a node, or None to rebuild it from its operands.
    """
    outputs = list(outputs)
    made: dict[int, Node] = {}
    for node in reachable(outputs):
        new = leaf(node) if leaf is not None else None
        made[node.index] = rebuilt(node, graph, made) if new is None else new
    return [made[node.index] for node in outputs]


def unguarded(outputs: Iterable[Node]) -> list[Node]:
    """The outputs with every pivot in place of its guard, which has the same value or none."""
    outputs = list(outputs)
    made: dict[int, Node] = {}
    for node in reachable(outputs):
        guarded = node.op == "guard"
        made[node.index] = made[node.args[0].index] if guarded else rebuilt(node, node.graph, made)
    return [made[node.index] for node in outputs]


def rebuilt(node: Node, graph: Graph, made: dict[int, Node]) -> Node:
    """A node in another graph, its operands being made there."""
    match node.op:
        case "input":
            return graph.input(node.name)
        case "parameter":
            # not folded where its value is 1: proofs take a parameter as unknown
            graph.values |= {k: v for k, v in node.graph.values.items() if k == node.name}
            return graph.parameter(node.name)
        case "number":
            return graph.number(node.value)
    return graph.apply(node.op, [made[a.index] for a in node.args])
