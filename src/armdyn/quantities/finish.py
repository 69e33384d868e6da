"""From nodes of a quantity to its program: friction is put in, and counted apart."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler.count import Operations, count
from armdyn.compiler.program import Program
from armdyn.expr.evaluate import settle
from armdyn.expr.graph import Graph, Node
from armdyn.expr.visit import transcribe


def finished_program(
    outputs: Array, inputs: Mapping[str, int], friction: Mapping[str, Node], rotors: Sequence[str]
) -> Program:
    """The program of nodes, with the length of each argument.

    In the nodes symbols stand for the terms of friction, which are given by the names of these;
    `rotors` are the names of the inertias of rotors.
    """
    nodes = list(outputs.flat)
    settled = node_array(settle(filled(nodes, friction)), outputs.shape)

    def split() -> tuple[Operations, Operations]:
        smooth = _without(nodes, {*friction})
        try:
            return _without(nodes, {*friction, *rotors}), smooth
        except ZeroDivisionError:  # links that are singular have no count without rotors
            return smooth, smooth

    return replace(Program.from_outputs(settled, inputs), split=split)


def filled(outputs: Sequence[Node], friction: Mapping[str, Node]) -> list[Node]:
    """The outputs with terms of friction in place of the symbols that stand for them.

    In the terms of a later step of an integrator there are symbols of earlier ones.
    """
    if not friction:
        return list(outputs)
    graph, nodes = Graph(), dict[str, Node]()
    for name, term in friction.items():
        (nodes[name],) = transcribe([term], graph, lambda node: nodes.get(node.name))
    return transcribe(outputs, graph, lambda node: nodes.get(node.name))


def _without(outputs: Sequence[Node], names: set[str]) -> Operations:
    """What the outputs take where these symbols are zero."""
    graph = Graph()
    zero = graph.number(0)
    return count(settle(transcribe(outputs, graph, lambda n: zero if n.name in names else None)))


def node_array(nodes: Sequence[Node], shape: tuple[int, ...]) -> Array:
    """Nodes as an array of a shape."""
    result = np.empty(len(nodes), dtype=object)
    result[:] = nodes
    return result.reshape(shape)
