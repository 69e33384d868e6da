"""The passes, in the order in which they run.

A pass takes outputs and returns the same values computed with fewer operations; its name and the
first line of its documentation say what it does. What they make together is verified at the end.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from armdyn.compiler.angles import angles
from armdyn.compiler.count import Operations, count
from armdyn.compiler.factor import factor
from armdyn.compiler.hoist import hoist
from armdyn.compiler.network import Network
from armdyn.compiler.verify import verify, verify_pass
from armdyn.errors import GraphError
from armdyn.expr.graph import Graph, Node
from armdyn.expr.visit import transcribe

Pass = Callable[[list[Node]], list[Node]]


Stage = tuple[list[Node], list[Node], str]
"""Outputs before and after a pass, and its name."""


def fold(outputs: Iterable[Node]) -> list[Node]:
    """Build everything anew, so that zeros, ones and signs are folded."""
    return transcribe(outputs, Graph())


def share(outputs: Iterable[Node]) -> list[Node]:
    """Compute what has the same value once, however it is written."""
    outputs = list(outputs)
    return Network(outputs).nodes() if outputs else []


def dead(outputs: Iterable[Node]) -> list[Node]:
    """Leave out what no output needs."""
    return transcribe(outputs, Graph())


PASSES: tuple[Pass, ...] = (fold, share, angles, hoist, factor, share, dead)


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass did."""

    name: str
    before: Operations
    after: Operations


@dataclass(frozen=True, slots=True)
class Reduction:
    """Outputs after the passes, and what each of them did."""

    outputs: list[Node]
    report: tuple[PassReport, ...]


def reduce(outputs: Iterable[Node], passes: Sequence[Pass] = PASSES) -> Reduction:
    """The outputs after all passes, verified.

    A pass that would make this graph dearer is passed over, so the count never rises.
    """
    outputs = list(outputs)
    verify(outputs)
    stages: list[Stage] = []
    report, now = [], count(outputs)
    for run in passes:
        stage = outputs, run(outputs), run.__name__
        then, now = now, count(stage[1])
        if now.total > then.total or len(stage[1]) != len(outputs):
            verify_pass(*stage)
            now = then
        else:
            stages.append(stage)
            outputs = stage[1]
        report.append(PassReport(run.__name__, then, now))
    _verify_stages(stages)
    return Reduction(outputs, tuple(report))


def _verify_stages(stages: list[Stage]) -> None:
    """Raise a GraphError that names the pass if one of them changed a value.

    All passes are right if the first and the last graph are the same functions.
    """
    try:
        if stages:
            verify_pass(stages[0][0], stages[-1][1], "the passes")
    except GraphError:
        for stage in stages:
            verify_pass(*stage)
        raise
