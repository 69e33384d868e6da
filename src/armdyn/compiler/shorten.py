"""Shortening: the passes and resubstitution, at a given effort."""

from collections.abc import Iterable
from typing import Literal

from armdyn.compiler.count import count
from armdyn.compiler.passes import reduce
from armdyn.compiler.resubstitute import resubstitute
from armdyn.compiler.search import Progress
from armdyn.expr.graph import Node

Effort = Literal["quick", "search", "deep"]
"""How hard to look: tenths of a second, about a second, or minutes by annealing."""


def shorten(
    outputs: Iterable[Node], effort: Effort = "quick", progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with as few multiplications and additions as are found.

    The result depends on the outputs and the effort alone, and is proved equal to the outputs.
    """
    return shortest_of([list(outputs)], effort, progress)


def shortest_of(
    ways: Iterable[list[Node]], effort: Effort = "quick", progress: Progress | None = None
) -> list[Node]:
    """The shortest of several ways to compute the same values, all of them shortened.

    Annealing goes on with the shortest alone.
    """
    short = []
    for outputs in ways:
        short.append(resubstitute(reduce(outputs).outputs))
        if effort != "quick":
            short.append(resubstitute(outputs))
    best = min(short, key=lambda outputs: count(outputs).total)
    return resubstitute(best, deep=True, progress=progress) if effort == "deep" else best
