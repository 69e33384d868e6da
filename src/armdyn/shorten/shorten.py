"""Shortening: the passes, and resubstitution, which computes values from others that are there.

Whatever identity makes v = x ± y or v = x y true, exact residues at random points of a finite field
show it, so one search finds distributive factoring, squares, merged constants and relations that
no list of rules has. All work is bounded by counts, never by the clock.
"""

from collections.abc import Iterable, Sequence

from armdyn.arrays import Array
from armdyn.errors import GraphError
from armdyn.graph.count import count
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Node, node_array
from armdyn.shorten.anneal import annealed
from armdyn.shorten.descent import descend
from armdyn.shorten.network import Network
from armdyn.shorten.passes import reduce
from armdyn.shorten.search import Progress
from armdyn.thresholds import MOST_PASSED, MOST_SEARCHED_CELLS, MOST_SHORTENED


def shortest_of(
    ways: Iterable[list[Node]], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The shortest of several ways to compute the same values, all of them shortened.

    A deep search, which goes on with the shortest alone, takes minutes instead of tenths of a
    second. The result depends on the ways alone, and is proved equal to them.
    """
    short = []
    for outputs in ways:
        short.append(resubstitute(reduce(outputs)))
        if deep:
            short.append(resubstitute(outputs))
    best = min(short, key=lambda outputs: count(outputs).total)
    return resubstitute(best, deep=True, progress=progress) if deep else best


def shortened(ways: Sequence[Array], deep: bool = False) -> Array:
    """The shortest of several ways to write an array of nodes, by as much work as its size allows.

    By default a large array goes through the passes alone, and a larger one is the first way as it
    is written.
    """
    first = ways[0]
    size = count(first.flat).total
    if size > MOST_PASSED.value and not deep:
        return first
    try:
        if deep or size <= MOST_SHORTENED.value:
            short = shortest_of([list(way.flat) for way in ways], deep)
        else:
            short = reduce(first.flat)
    except ZeroDivisionError:  # what divides by zero at every state has no values to compare
        return first
    return node_array(short, first.shape)


def resubstitute(
    outputs: Iterable[Node], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with fewer multiplications and additions, or with as many.

    A deep search goes on by annealing, which takes a minute or two; it ends when `progress` returns
    True.
    """
    outputs = list(outputs)
    if all(node.constant for node in outputs):
        return outputs
    net = Network(outputs)
    if len(net.live()) <= MOST_SEARCHED_CELLS.value:
        descend(net)
    result = annealed(net.nodes(), progress) if deep else net.nodes()
    if not proved_equal(outputs, result):
        raise GraphError("resubstitution changed a value; this is a defect of armdyn, report it")
    return result
