"""Tracing: a formulation fed with nodes instead of numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.nodes import Graph, Node


def trace(graph: Graph, function: Callable[..., Any], *vectors: Sequence[Node] | Array) -> Array:
    """The result of a function of vectors of nodes, every entry a node."""
    result = np.asarray(function(*(np.array(v, dtype=object) for v in vectors)), dtype=object)
    nodes = np.empty(result.shape, dtype=object)
    for place in np.ndindex(result.shape):
        nodes[place] = graph.node(result[place])
    return nodes
