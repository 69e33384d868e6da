"""The passes, in the order in which they run.

A pass takes outputs and returns the same values computed with fewer operations; its name and the
first line of its documentation say what it does. What they make together is proved at the end.
"""

from collections.abc import Callable, Iterable, Sequence

from armdyn.errors import GraphError
from armdyn.graph.count import count
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.visit import transcribe
from armdyn.shorten.angles import angles
from armdyn.shorten.factor import factor
from armdyn.shorten.hoist import hoist
from armdyn.shorten.network import Network

Pass = Callable[[list[Node]], list[Node]]


Stage = tuple[list[Node], list[Node], str]
"""Outputs before and after a pass, and its name."""


def fold(outputs: Iterable[Node]) -> list[Node]:
    """Build what outputs need anew, so that zeros, ones and signs are folded."""
    return transcribe(outputs, Graph())


def share(outputs: Iterable[Node]) -> list[Node]:
    """Compute what has the same value once, however it is written."""
    outputs = list(outputs)
    return Network(outputs).nodes() if outputs else []


PASSES: tuple[Pass, ...] = (fold, share, angles, hoist, factor, share, fold)


def reduce(outputs: Iterable[Node], passes: Sequence[Pass] = PASSES) -> list[Node]:
    """The outputs after all passes, proved to have the same values.

    A pass that would make this graph dearer is passed over, so the count never rises.
    """
    outputs = list(outputs)
    stages: list[Stage] = []
    total = count(outputs).total
    for run in passes:
        stage = outputs, run(outputs), run.__name__
        after = count(stage[1]).total
        if after > total:
            _prove([stage])
        else:
            stages.append(stage)
            outputs, total = stage[1], after
    _prove(stages)
    return outputs


def _prove(stages: Sequence[Stage]) -> None:
    """Raise a GraphError that names the pass and the output if a value was changed.

    All passes are right if the first and the last graph are the same functions.
    """
    if not stages or proved_equal(stages[0][0], stages[-1][1]):
        return
    for before, after, name in stages:
        if len(before) != len(after):
            raise GraphError(f"{name}: made {len(after)} outputs of {len(before)}")
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            if not proved_equal([old], [new]):
                raise GraphError(
                    f"{name}: node {new.index}, {new!r}, does not have the value of output "
                    f"{place}, {old!r}"
                )
