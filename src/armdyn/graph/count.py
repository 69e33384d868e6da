"""Counting operations: the graph, not its text.

A sum or difference is an addition, those inside the argument of a sine included. Signs are free,
what depends on parameters alone is computed beforehand and free, sines and cosines are counted
apart, as calls that give both for one angle.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.graph.nodes import Node
from armdyn.graph.operations import OPERATIONS
from armdyn.graph.visit import reachable


@dataclass(frozen=True, slots=True)
class Operations:
    """How many operations of each kind one evaluation takes."""

    mul: int
    add: int
    div: int = 0
    trig: int = 0
    """Calls that give sine and cosine of one angle."""
    sqrt: int = 0
    other: int = 0
    """Exponentials, hyperbolic tangents, powers, signs and guarded pivots."""

    @property
    def total(self) -> int:
        """Multiplications and additions, as the literature counts."""
        return self.mul + self.add

    def __add__(self, other: "Operations") -> "Operations":
        return Operations(*(getattr(self, k) + getattr(other, k) for k in self.__slots__))

    def __sub__(self, other: "Operations") -> "Operations":
        return Operations(*(getattr(self, k) - getattr(other, k) for k in self.__slots__))

    def __str__(self) -> str:
        return f"{self.mul} + {self.add} = {self.total}"


NO_OPERATIONS = Operations(0, 0)


def count(outputs: Iterable[Node]) -> Operations:
    """The operations that computing all outputs together takes."""
    return count_nodes(reachable(outputs))


def count_nodes(nodes: Iterable[Node]) -> Operations:
    """The operations that these nodes stand for, each node once."""
    return counted((n.op, n.args[0].index) for n in nodes if n.args and not n.constant)


def counted(steps: Iterable[tuple[str, int]]) -> Operations:
    """The operations of steps, each given by its name and the place of its first operand."""
    kinds: Counter[str] = Counter()
    angles = set()
    for op, first in steps:
        cost = OPERATIONS[op].cost
        if cost == "trig":
            angles.add(first)
        else:
            kinds[cost] += 1
    kinds["trig"] = len(angles)
    return Operations(*(kinds[field] for field in Operations.__slots__))


def _counted(kind: str) -> Callable[..., Any]:
    """A method that counts one operation."""

    def operation(tally: "Tally", other: Any = None) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        tally.kinds[kind] += 1
        return tally

    return operation


class Tally:
    """A number that only knows that it depends on the inputs, and counts what is done with it."""

    __slots__ = ("kinds",)

    def __init__(self, kinds: Counter[str]):
        self.kinds = kinds

    def __neg__(self) -> "Tally":
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = _counted("add")
    __mul__ = __rmul__ = _counted("mul")
    __truediv__ = __rtruediv__ = _counted("div")
    sin, cos = _counted("trig"), __neg__  # both functions of one angle are one call


def tally(function: Callable[..., Any], *sizes: int) -> Operations:
    """The operations that a function of vectors of the given sizes performs as it is written.

    Products with zero are included. Numbers known beforehand combine among themselves for free; as
    soon as an input takes part, each addition, product, division and sine is one operation.
    """
    kinds: Counter[str] = Counter()
    function(*(np.array([Tally(kinds) for _ in range(size)], dtype=object) for size in sizes))
    return Operations(kinds["mul"], kinds["add"], kinds["div"], kinds["trig"])
