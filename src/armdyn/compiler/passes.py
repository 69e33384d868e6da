"""The passes, in the order in which they run.

A pass takes outputs and returns the same values computed with fewer operations; its name and the
first line of its documentation say what it does. Each is verified after it ran.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from armdyn.compiler.angles import angles
from armdyn.compiler.count import Operations, count
from armdyn.compiler.factor import factor
from armdyn.compiler.hoist import hoist
from armdyn.compiler.network import Network
from armdyn.compiler.verify import verify, verify_pass
from armdyn.expr.graph import Graph, Node
from armdyn.expr.visit import transcribe

Pass = Callable[[list[Node]], list[Node]]


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
    """The outputs after all passes, each verified.

    A pass that would make this graph dearer is passed over, so the count never rises.
    """
    outputs = list(outputs)
    verify(outputs)
    report = []
    for run in passes:
        before = count(outputs)
        result = run(outputs)
        verify_pass(outputs, result, run.__name__)
        if count(result).total <= before.total:
            outputs = result
        report.append(PassReport(run.__name__, before, count(outputs)))
    return Reduction(outputs, tuple(report))
