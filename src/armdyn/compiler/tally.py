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


class Tally:
    """A number that only knows that it depends on the inputs, and counts what is done with it."""

    __slots__ = ("kinds",)

    def __init__(self, kinds: Counter[str]):
        self.kinds = kinds

    def _count(self, kind: str) -> Callable[[Any], Any]:
        def operation(other: Any = None) -> Any:
            if isinstance(other, np.ndarray):
                return NotImplemented
            self.kinds[kind] += 1
            return self

        return operation

    def __add__(self, other: Any) -> Any:
        return self._count("add")(other)

    def __mul__(self, other: Any) -> Any:
        return self._count("mul")(other)

    def __truediv__(self, other: Any) -> Any:
        return self._count("div")(other)

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__
    __rtruediv__ = __truediv__

    def __neg__(self) -> "Tally":
        return self

    def sin(self) -> "Tally":
        """The sine; a sine and a cosine of one angle are one call."""
        self.kinds["trig"] += 1
        return self

    def cos(self) -> "Tally":
        """The cosine, which comes with the sine."""
        return self


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
