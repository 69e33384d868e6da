"""Expression nodes: interned, so that equal expressions are one object."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from armdyn.errors import TraceError

if TYPE_CHECKING:
    from armdyn.expr.graph import Graph

Scalar = int | float


class Node:
    """One operation in a graph; made by its graph only, never changed.

    Arithmetic on nodes builds new nodes in the same graph, folded as they are built, and NumPy's
    object arrays of nodes work with `@`, `np.sin` and the rest. A node has no value, so it cannot
    decide a branch.
    """

    __slots__ = ("args", "constant", "graph", "index", "name", "op", "value")

    graph: "Graph"
    op: str
    """"input", "parameter", "number", an operation of `Graph` or a function's name."""
    args: tuple["Node", ...]
    name: str
    """Name of an input or a parameter."""
    value: Scalar
    """Value of a number."""
    index: int
    """Order of creation in the graph: operands come before what is made of them."""
    constant: bool
    """Whether it depends on numbers and parameters alone, and so costs nothing at run time."""

    def __repr__(self) -> str:
        if self.op in ("input", "parameter"):
            return self.name
        if self.op == "number":
            return repr(self.value)
        return f"{self.op}({', '.join(f'%{a.index}' if a.args else repr(a) for a in self.args)})"

    def __add__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.add, self, other)

    def __radd__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.add, other, self)

    def __sub__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.sub, self, other)

    def __rsub__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.sub, other, self)

    def __mul__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.mul, self, other)

    def __rmul__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.mul, other, self)

    def __truediv__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.div, self, other)

    def __rtruediv__(self, other: Any) -> "Node":
        return self.graph.combine(self.graph.div, other, self)

    def __neg__(self) -> "Node":
        return self.graph.neg(self)

    def __pos__(self) -> "Node":
        return self

    def __pow__(self, exponent: Any) -> "Node":
        if not isinstance(exponent, int | np.integer) or exponent < 1:
            raise TraceError(f"a node can be raised to a positive integer power, not {exponent!r}")
        result = self
        for _ in range(int(exponent) - 1):
            result = result * self
        return result

    def sin(self) -> "Node":
        """The sine; what `np.sin` calls."""
        return self.graph.function("sin", self)

    def cos(self) -> "Node":
        """The cosine; what `np.cos` calls."""
        return self.graph.function("cos", self)

    def sqrt(self) -> "Node":
        """The square root; what `np.sqrt` calls."""
        return self.graph.function("sqrt", self)

    def exp(self) -> "Node":
        """The exponential; what `np.exp` calls."""
        return self.graph.function("exp", self)

    def tanh(self) -> "Node":
        """The hyperbolic tangent; what `np.tanh` calls."""
        return self.graph.function("tanh", self)

    def sign(self) -> "Node":
        """The sign: -1, 0 or 1."""
        return self.graph.function("sign", self)

    def conjugate(self) -> "Node":
        """The node itself: everything is real."""
        return self

    def _no_value(self, *_: Any) -> NoReturn:
        raise TraceError(
            f"the expression {self!r} has no value while a formulation is traced, so it cannot be "
            "compared, converted to a number or decide a branch; choose the branch by the model"
        )

    __bool__ = __float__ = __int__ = __complex__ = _no_value
    __lt__ = __le__ = __gt__ = __ge__ = _no_value


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "tanh": math.tanh,
    "sign": lambda x: float(np.sign(x)),
}
"""Functions of one argument, with what they do to numbers."""
ODD = ("sin", "tanh", "sign")
"""Those with f(-x) = -f(x)."""
