"""Which sums are nothing but angles, so that whole turns may be left out of them."""

from collections.abc import Iterable

from armdyn.graph.nodes import Node
from armdyn.graph.operations import TRIG
from armdyn.graph.visit import reachable

_SUMS = ("add", "sub", "neg")


def angle_sums(outputs: Iterable[Node]) -> set[int]:
    """Indices of the sums of positions and constants that are nothing but angles."""
    outputs = list(outputs)
    nodes = reachable(outputs)
    summed = {n.index for n in nodes if n.constant or _is_position(n)}
    for node in nodes:
        if node.op in _SUMS and all(a.index in summed for a in node.args):
            summed.add(node.index)
    alone = summed & _only_angles(nodes, outputs)
    return {n.index for n in nodes if n.op in _SUMS and n.index in alone}


def _only_angles(nodes: list[Node], outputs: list[Node]) -> set[int]:
    """Indices of the nodes that only sines, cosines and sums for these use."""
    angles: set[int] = set()
    other = {node.index for node in outputs}
    for node in reversed(nodes):  # what a node is used for comes before it
        part = node.op in _SUMS and node.index in angles and node.index not in other
        (angles if part or node.op in TRIG else other).update(a.index for a in node.args)
    return angles - other


def _is_position(node: Node) -> bool:
    """Whether a node is an input, or one times a constant as for a joint that follows another."""
    scaled = node.op == "mul" and any(a.constant for a in node.args)
    return node.op == "input" or (scaled and any(a.op == "input" for a in node.args))
