"""From nodes of a quantity to its program: friction is put in, and counted apart."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.count import Operations, count
from armdyn.graph.evaluate import settle
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.program import Program
from armdyn.graph.visit import transcribe


def finished_program(
    outputs: Array,
    inputs: Mapping[str, int],
    aside: Mapping[str, Node],
    *,
    friction: Set[str],
    rotors: Set[str],
) -> Program:
    """The program of nodes, with the length of each argument.

    In the nodes symbols stand for terms that are put aside, which are given by the names of these;
    `friction` are the names of symbols that stand for friction, `rotors` of the inertias of rotors.
    """
    nodes = list(outputs.flat)
    settled = node_array(settle(filled(nodes, aside)), outputs.shape)

    def split() -> tuple[Operations, Operations]:
        smooth = _without(nodes, aside, friction)
        try:
            return _without(nodes, aside, friction | rotors), smooth
        except ZeroDivisionError:  # links that are singular have no count without rotors
            return smooth, smooth

    return replace(Program.from_outputs(settled, inputs), split=split)


def filled(
    outputs: Sequence[Node], aside: Mapping[str, Node], zeros: Set[str] = frozenset()
) -> list[Node]:
    """The outputs with the terms that are put aside in place of the symbols that stand for them.

    In the terms of a later step of an integrator there are symbols of earlier ones. Symbols that
    are named as zeros are that.
    """
    if not aside and not zeros:
        return list(outputs)
    graph = Graph()
    nodes = dict.fromkeys(zeros, graph.number(0))
    for name, term in aside.items():
        if name not in nodes:
            (nodes[name],) = transcribe([term], graph, lambda node: nodes.get(node.name))
    return transcribe(outputs, graph, lambda node: nodes.get(node.name))


def _without(outputs: Sequence[Node], aside: Mapping[str, Node], names: Set[str]) -> Operations:
    """What the outputs take where these symbols are zero."""
    return count(settle(filled(outputs, aside, names)))


def node_array(nodes: Sequence[Node], shape: tuple[int, ...]) -> Array:
    """Nodes as an array of a shape."""
    result = np.empty(len(nodes), dtype=object)
    result[:] = nodes
    return result.reshape(shape)
