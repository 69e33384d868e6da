"""Shortening: the passes and resubstitution, at a given effort."""

from collections.abc import Iterable
from typing import Literal

from armdyn.compiler.count import count
from armdyn.compiler.passes import reduce
from armdyn.compiler.resubstitute import resubstitute
from armdyn.compiler.search import Progress
from armdyn.expr.graph import Node

Effort = Literal["quick", "search", "deep"]
"""How hard to look: tenths of a second, about a second, or minutes."""


def shorten(
    outputs: Iterable[Node], effort: Effort = "quick", progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with as few multiplications and additions as are found.

    The result depends on the outputs and the effort alone, and is proved equal to the outputs.
    """
    outputs = list(outputs)
    reduced = reduce(outputs).outputs
    deep = effort == "deep"
    ways = [resubstitute(reduced, deep, progress)]
    if effort != "quick":
        ways.append(resubstitute(outputs, deep, progress))
    return min(ways, key=lambda way: count(way).total)
