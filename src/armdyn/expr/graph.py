"""The graph: where nodes are made, shared and folded.

Every identity below is applied when a node is built, so no pass has to look for it again. Signs are
kept outside: a product or sum never has a negated operand, and of a - b and b - a only one exists.
Two numbers become one only where that is exact; otherwise their sum or product stays a constant
node, which costs nothing, so that a graph can be rearranged without rounding.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TraceError
from armdyn.expr.node import FUNCTIONS, ODD, Node, Scalar


class Graph:
    """A set of expressions over named inputs and parameters.

    An input changes with every evaluation; a parameter belongs to the robot, so what depends on
    parameters alone is computed beforehand and costs nothing.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.values: dict[str, float] = {}
        """Values of the parameters that have one."""
        self._table: dict[tuple[Any, ...], Node] = {}

    # leaves

    def input(self, name: str) -> Node:
        """The input of that name."""
        return self._symbol("input", name)

    def inputs(self, name: str, count: int) -> Array:
        """An object array of inputs name1, name2, ..., shape (count,)."""
        return np.array([self.input(f"{name}{i + 1}") for i in range(count)], dtype=object)

    def parameter(self, name: str, value: float | None = None) -> Node:
        """The parameter of that name; 0 and ±1 as values are folded into numbers."""
        if value is not None and value in (0.0, 1.0, -1.0):
            return self.number(int(value))
        if value is not None:
            self.values[name] = float(value)
        return self._symbol("parameter", name)

    def number(self, value: Scalar | np.integer | np.floating) -> Node:
        """A number; one that is whole is kept as an integer, so that 2 and 2.0 are one node."""
        value = float(value) if isinstance(value, float | np.floating) else int(value)
        if isinstance(value, float) and not math.isfinite(value):
            raise TraceError(f"an expression cannot hold the number {value}; give finite numbers")
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        return self._make("number", (), value=value)

    # operations

    def add(self, a: Node, b: Node) -> Node:
        """a + b."""
        if _is(a, 0):
            return b  # 0 + b = b
        if _is(b, 0):
            return a  # a + 0 = a
        if a.op == "number" and b.op == "number":
            exact = _exact(Fraction(a.value) + Fraction(b.value))
            if exact is not None:
                return self.number(exact)
        if a.op == "neg" and b.op == "neg":
            return self.neg(self.add(a.args[0], b.args[0]))  # (-a) + (-b) = -(a + b)
        if b.op == "neg":
            return self.sub(a, b.args[0])  # a + (-b) = a - b
        if a.op == "neg":
            return self.sub(b, a.args[0])  # (-a) + b = b - a
        return self._make("add", _ordered(a, b))

    def sub(self, a: Node, b: Node) -> Node:
        """a - b."""
        if a is b:
            return self.number(0)  # a - a = 0
        if _is(b, 0):
            return a  # a - 0 = a
        if _is(a, 0):
            return self.neg(b)  # 0 - b = -b
        if a.op == "number" and b.op == "number":
            exact = _exact(Fraction(a.value) - Fraction(b.value))
            if exact is not None:
                return self.number(exact)
        if b.op == "neg":
            return self.add(a, b.args[0])  # a - (-b) = a + b
        if a.op == "neg":
            return self.neg(self.add(a.args[0], b))  # (-a) - b = -(a + b)
        if a.index > b.index:
            return self.neg(self._make("sub", (b, a)))  # a - b = -(b - a)
        return self._make("sub", (a, b))

    def neg(self, a: Node) -> Node:
        """-a."""
        if a.op == "neg":
            return a.args[0]  # -(-a) = a
        if a.op == "number":
            return self.number(-a.value)
        return self._make("neg", (a,))

    def mul(self, a: Node, b: Node) -> Node:
        """a b."""
        for x, y in ((a, b), (b, a)):
            if _is(x, 0):
                return x  # 0 b = 0
            if _is(x, 1):
                return y  # 1 b = b
            if _is(x, -1):
                return self.neg(y)  # (-1) b = -b
            if x.op == "neg":
                return self.neg(self.mul(x.args[0], y))  # (-a) b = -(a b)
            if x.op == "number" and x.value < 0:
                return self.neg(self.mul(self.number(-x.value), y))
        if a.op == "number" and b.op == "number":
            exact = _exact(Fraction(a.value) * Fraction(b.value))
            if exact is not None:
                return self.number(exact)
        return self._make("mul", _ordered(a, b))

    def div(self, a: Node, b: Node) -> Node:
        """a / b."""
        if _is(b, 0):
            raise ZeroDivisionError(f"{a!r} is divided by zero")
        if _is(a, 0):
            return a  # 0 / b = 0
        if _is(b, 1):
            return a  # a / 1 = a
        if a is b:
            return self.number(1)  # a / a = 1
        if a.op == "neg":
            return self.neg(self.div(a.args[0], b))  # (-a) / b = -(a / b)
        if b.op == "neg":
            return self.neg(self.div(a, b.args[0]))  # a / (-b) = -(a / b)
        if b.constant and not a.constant:
            return self.mul(a, self.div(self.number(1), b))  # a / c = a (1/c), 1/c beforehand
        if a.op == "number" and b.op == "number":
            exact = _exact(Fraction(a.value) / Fraction(b.value))
            if exact is not None:
                return self.number(exact)
        return self._make("div", (a, b))

    def guard(self, a: Node, b: Node) -> Node:
        """The pivot a where it is more than rounding of b, not a number elsewhere.

        That is |a| > 1e-13 |b|. A division by it marks the states where an inertia vanishes.
        """
        return a if a.op == "number" and a.value else self._make("guard", (a, b))

    def function(self, name: str, a: Node) -> Node:
        """A function of one argument, by name."""
        if a.op == "number":
            return self.number(FUNCTIONS[name](a.value))
        if a.op == "neg" and name in ODD:
            return self.neg(self.function(name, a.args[0]))  # sin(-a) = -sin a
        if a.op == "neg" and name == "cos":
            return self.function("cos", a.args[0])  # cos(-a) = cos a
        return self._make(name, (a,))

    def combine(self, operation: Callable[[Node, Node], Node], a: Any, b: Any) -> Any:
        """An operation on operands of which one may be a plain number."""
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return NotImplemented
        left, right = self.node(a), self.node(b)
        return NotImplemented if left is None or right is None else operation(left, right)

    def node(self, value: Any) -> Node | None:
        """The value as a node of this graph; None if it is no number."""
        if isinstance(value, Node):
            if value.graph is not self:
                raise TraceError(
                    f"the expression {value!r} belongs to another graph; trace everything that "
                    "is combined in one graph"
                )
            return value
        if isinstance(value, bool | np.bool_):
            return None
        if isinstance(value, int | float | np.integer | np.floating):
            return self.number(value)
        return None

    def rebuild(self, node: Node, args: Sequence[Node]) -> Node:
        """The operation of a node on other operands, folded anew."""
        if node.op in FUNCTIONS:
            return self.function(node.op, args[0])
        operation: Callable[..., Node] = getattr(self, node.op)
        return operation(*args)

    # making

    def _symbol(self, op: str, name: str) -> Node:
        other = "input" if op == "parameter" else "parameter"
        if (other, name) in self._table:
            raise TraceError(f"the name {name!r} is used for an {other} already")
        return self._make(op, (), name=name)

    def _make(self, op: str, args: tuple[Node, ...], name: str = "", value: Scalar = 0) -> Node:
        if args:
            key: tuple[Any, ...] = (op, *(a.index for a in args))
        elif op == "number":
            key = (op, value if isinstance(value, int) else value.hex())
        else:
            key = (op, name)
        found = self._table.get(key)
        if found is not None:
            return found
        node = Node()
        node.graph, node.op, node.args, node.name, node.value = self, op, args, name, value
        node.index = len(self.nodes)
        node.constant = op != "input" and all(a.constant for a in args)
        self.nodes.append(node)
        self._table[key] = node
        return node


def _is(node: Node, value: int) -> bool:
    return node.op == "number" and node.value == value


def _exact(result: Fraction) -> Scalar | None:
    """The result as an integer or float that is exactly equal, or None."""
    if result.denominator == 1:
        return result.numerator
    try:
        rounded = float(result)
    except OverflowError:
        return None
    return rounded if rounded == result else None


def _ordered(a: Node, b: Node) -> tuple[Node, Node]:
    return (a, b) if a.index <= b.index else (b, a)
