"""Shortening: the passes and resubstitution."""

from collections.abc import Iterable

from armdyn.graph.count import count
from armdyn.graph.nodes import Node
from armdyn.shorten.passes import reduce
from armdyn.shorten.resubstitute import resubstitute
from armdyn.shorten.search import Progress


def shorten(
    outputs: Iterable[Node], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with as few multiplications and additions as are found.

    A deep search takes minutes instead of tenths of a second. The result depends on the outputs and
    on that alone, and is proved equal to the outputs.
    """
    return shortest_of([list(outputs)], deep, progress)


def shortest_of(
    ways: Iterable[list[Node]], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The shortest of several ways to compute the same values, all of them shortened.

    Annealing goes on with the shortest alone.
    """
    short = []
    for outputs in ways:
        short.append(resubstitute(reduce(outputs)))
        if deep:
            short.append(resubstitute(outputs))
    best = min(short, key=lambda outputs: count(outputs).total)
    return resubstitute(best, deep=True, progress=progress) if deep else best
