"""Linear systems by orthogonal columns: no pivot is chosen, so it is straight-line code.

A = Q R by modified Gram-Schmidt, whose solutions are as accurate as those of Householder's method
if Q is applied column by column. It works for more rows than columns, where systems that have a
solution are solved and the smallest forces are found.

Reference: Å. Björck, C. Paige, Loss and recapture of orthogonality in the modified Gram-Schmidt
algorithm, 1992.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.nodes import Node
from armdyn.graph.operations import guard
from armdyn.loops.values import Values, inner, minus


class Orthogonal:
    """A matrix of m rows and p ≤ m columns as Q R."""

    def __init__(
        self,
        columns: Sequence[Values],
        usual: Sequence[float] | None = None,
        refused: Any = 0.0,
    ):
        """Factor a matrix of these columns, whose squares are usually so large.

        Solutions are not numbers where a column vanishes or depends on those before, or `refused`
        is large.
        """
        self.Q: list[Values] = []
        self.R: list[Values] = []
        """What of each column is along those before."""
        self.inverse: Values = []
        """1 / r of the diagonal."""
        self.shares: Values = []
        """Squares of what is left of each column after those before, and of the whole column with
        what is usual."""
        for column, more in zip(columns, usual or [0.0] * len(columns), strict=True):
            whole, above = inner(column, column) + more, []
            rest = column
            for q in self.Q:
                above.append(inner(q, rest))
                rest = minus(rest, above[-1], q)
            left = inner(rest, rest)
            self.inverse.append(1.0 / np.sqrt(_checked(left, whole + whole * refused)))
            self.shares.append((left, whole))
            self.Q.append([self.inverse[-1] * x for x in rest])
            self.R.append(above)

    def solve(self, b: Values) -> Values:
        """The x with A x = b."""
        y, rest = [], b
        for q in self.Q:
            y.append(inner(q, rest))
            rest = minus(rest, y[-1], q)
        x: Values = [0.0] * len(y)
        for k in reversed(range(len(y))):
            total = y[k]
            for j in range(k + 1, len(y)):
                total = total - self.R[j][k] * x[j]
            x[k] = total * self.inverse[k]
        return x

    def solve_transposed(self, b: Values) -> Values:
        """The smallest x with Aᵀ x = b."""
        y: Values = []
        for k, above in enumerate(self.R):
            total = b[k]
            for j in range(k):
                total = total - above[j] * y[j]
            y.append(total * self.inverse[k])
        x: Values = [0.0] * len(self.Q[0])
        for k in reversed(range(len(y))):
            x = minus(x, inner(self.Q[k], x) - y[k], self.Q[k])
        return x


def determinant(P: Array, columns: Sequence[Values]) -> Any:
    """The determinant of P A.

    P is the inverse of A somewhere, so pivots need not be chosen: they are 1 there, and vanish for
    no reason but that of the determinant, or by chance.
    """
    rows = [[inner(row, column) for column in columns] for row in P.tolist()]
    product: Any = 1.0
    for k, row in enumerate(rows):
        product = product * row[k]
        over = 1.0 / row[k]
        for below in rows[k + 1 :]:
            factor = below[k] * over
            below[k + 1 :] = minus(below[k + 1 :], factor, row[k + 1 :])
    return product


def _checked(square: Any, scale: Any) -> Any:
    """The square of a pivot where it is more than rounding of its scale, not a number elsewhere."""
    if isinstance(square, Node):
        return square.graph.guard(square, scale + square.graph.number(0))
    return guard(square, scale)
