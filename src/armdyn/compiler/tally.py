"""Counting what a formulation does as it is written, products with zero included.

Numbers known beforehand may combine among themselves for free; as soon as an input takes part, each
addition, product, division and sine is one operation, whatever its value.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler.count import Operations


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
    """The operations that a function of vectors of the given sizes performs as it is written."""
    kinds: Counter[str] = Counter()
    vectors: list[Array] = []
    for size in sizes:
        vector = np.empty(size, dtype=object)
        vector[:] = [Tally(kinds) for _ in range(size)]
        vectors.append(vector)
    function(*vectors)
    return Operations(kinds["mul"], kinds["add"], kinds["div"], kinds["trig"])
