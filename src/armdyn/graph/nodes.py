"""Nodes, which are interned, so that equal expressions are one object, and the graph of them.

Every identity below is applied when a node is built, so no pass has to look for it again. Signs are
kept outside: a product or sum never has a negated operand, and of a - b and b - a only one exists.
Two numbers become one only where that is exact; otherwise their sum or product stays a constant
node, which costs nothing, so that a graph can be rearranged without rounding.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import TraceError
from armdyn.graph.operations import COMMUTATIVE, FUNCTIONS, OPERATIONS, TRIG, exact, signed_power

Scalar = int | float
_NUMBERS = int, float, np.integer, np.floating
AngleSum = dict[int, int]
"""Whole multiples of angles, by the indices of their nodes."""


def _operators(op: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods of an operation with the node on the left and with the node on the right."""

    def method(node: "Node", other: Any, order: int = 1) -> Any:
        pair = node, node.graph.node(other)
        return NotImplemented if pair[1] is None else getattr(node.graph, op)(*pair[::order])

    return method, lambda node, other: method(node, other, -1)


def _function(name: str) -> Callable[["Node"], "Node"]:
    """The method of a function of one argument."""
    return lambda node: node.graph.function(name, node)


@dataclass(eq=False, slots=True)
class Node:
    """One operation in a graph; made by its graph only, never changed.

    Arithmetic on nodes builds new nodes in the same graph, folded as they are built, and NumPy's
    object arrays of nodes work with `@`, `np.sin` and the rest. A node has no value, so it cannot
    decide a branch.
    """

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
        if not self.args:
            return repr(self.value) if self.op == "number" else self.name
        return f"{self.op}({', '.join(f'%{a.index}' if a.args else repr(a) for a in self.args)})"

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("sub")
    __mul__, __rmul__ = _operators("mul")
    __truediv__, __rtruediv__ = _operators("div")

    def __neg__(self) -> "Node":
        return self.graph.neg(self)

    def __pow__(self, exponent: Any) -> "Node":
        if not isinstance(exponent, int | np.integer) or exponent < 1:
            raise TraceError(f"a node can be raised to a positive integer power, not {exponent!r}")
        return reduce(operator.mul, [self] * int(exponent))

    # what np.sin(node) and the others call
    sin, cos, sqrt = _function("sin"), _function("cos"), _function("sqrt")
    exp, tanh, sign = _function("exp"), _function("tanh"), _function("sign")

    def signed_power(self, exponent: "Node | float") -> "Node":
        """sgn(x) |x|^exponent."""
        power = exponent if isinstance(exponent, Node) else self.graph.number(exponent)
        return self.graph.signed_power(self, power)

    def conjugate(self) -> "Node":
        """The node itself: everything is real."""
        return self

    __pos__ = conjugate

    def _no_value(self, *_: Any) -> NoReturn:
        raise TraceError(
            f"the expression {self!r} has no value while a formulation is traced, so it cannot be "
            "compared, converted to a number or decide a branch; choose the branch by the model"
        )

    __bool__ = __float__ = __int__ = __complex__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value


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
        self._turned = KnownAngles(self)

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
        if value.__class__ is not int:
            value = float(value) if isinstance(value, float | np.floating) else int(value)
        if isinstance(value, float) and not math.isfinite(value):
            raise TraceError(f"an expression cannot hold the number {value}; give finite numbers")
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        return self.make("number", (), value=value)

    def add(self, a: Node, b: Node) -> Node:
        """a + b."""
        if is_number(a, 0):
            return b  # 0 + b = b
        if is_number(b, 0):
            return a  # a + 0 = a
        if (folded := exact(operator.add, a, b)) is not None:
            return self.number(folded)
        if self._turned.in_one_of(a, b):
            return self._turned.summed(a, b, 1)
        if a.op == b.op == "neg":
            return self.neg(self.add(a.args[0], b.args[0]))  # (-a) + (-b) = -(a + b)
        if b.op == "neg":
            return self.sub(a, b.args[0])  # a + (-b) = a - b
        if a.op == "neg":
            return self.sub(b, a.args[0])  # (-a) + b = b - a
        return self.make("add", (a, b))

    def sub(self, a: Node, b: Node) -> Node:
        """a - b."""
        if a is b:
            return self.number(0)  # a - a = 0
        if is_number(b, 0):
            return a  # a - 0 = a
        if is_number(a, 0):
            return self.neg(b)  # 0 - b = -b
        if (folded := exact(operator.sub, a, b)) is not None:
            return self.number(folded)
        if self._turned.in_one_of(a, b):
            return self._turned.summed(a, b, -1)
        if b.op == "neg":
            return self.add(a, b.args[0])  # a - (-b) = a + b
        if a.op == "neg":
            return self.neg(self.add(a.args[0], b))  # (-a) - b = -(a + b)
        if a.index > b.index:
            return self.neg(self.make("sub", (b, a)))  # a - b = -(b - a)
        return self.make("sub", (a, b))

    def neg(self, a: Node) -> Node:
        """-a."""
        if a.op == "neg":
            return a.args[0]  # -(-a) = a
        if a.op == "number":
            return self.number(-a.value)
        if self._turned.in_one_of(a):
            return self._turned.summed(self.number(0), a, -1)
        return self.make("neg", (a,))

    def mul(self, a: Node, b: Node) -> Node:
        """a b."""
        for x, y in ((a, b), (b, a)):
            if x.op == "neg":
                return self.neg(self.mul(x.args[0], y))  # (-a) b = -(a b)
            if x.op != "number":
                continue
            if x.value == 0:
                return x  # 0 b = 0
            if x.value == 1:
                return y  # 1 b = b
            if x.value < 0:
                return self.neg(self.mul(self.number(-x.value), y))
        if (folded := exact(operator.mul, a, b)) is not None:
            return self.number(folded)
        return self.make("mul", (a, b))

    def div(self, a: Node, b: Node) -> Node:
        """a / b."""
        if is_number(b, 0):
            raise ZeroDivisionError(f"{a!r} is divided by zero")
        if is_number(a, 0):
            return a  # 0 / b = 0
        if is_number(b, 1):
            return a  # a / 1 = a
        if a is b:
            return self.number(1)  # a / a = 1
        if a.op == "neg":
            return self.neg(self.div(a.args[0], b))  # (-a) / b = -(a / b)
        if b.op == "neg":
            return self.neg(self.div(a, b.args[0]))  # a / (-b) = -(a / b)
        if b.constant and not a.constant:
            return self.mul(a, self.div(self.number(1), b))  # a / c = a (1/c), 1/c beforehand
        if (folded := exact(operator.truediv, a, b)) is not None:
            return self.number(folded)
        return self.make("div", (a, b))

    def guard(self, a: Node, b: Node) -> Node:
        """The pivot a where |a| > 1e-13 |b|; not a number elsewhere, where an inertia vanishes."""
        return a if a.value else self.make("guard", (a, b))  # others than numbers have the value 0

    def signed_power(self, a: Node, b: Node) -> Node:
        """sgn(a) |a|^b for a number b, and 0 where a is 0."""
        if is_number(b, 1):
            return a  # sgn(a) |a| = a
        if a.op == "number":
            return self.number(float(signed_power(a.value, b.value)))
        if a.op == "neg":
            return self.neg(self.signed_power(a.args[0], b))
        return self.make("signed_power", (a, b))

    def function(self, name: str, a: Node) -> Node:
        """A function of one argument, by name."""
        if a.op == "number":
            return self.number(FUNCTIONS[name](a.value))
        if name in TRIG and self._turned.in_one_of(a):
            return self._turned.pair(a)[name == "sin"]
        if a.op == "neg" and (parity := OPERATIONS[name].parity):
            positive = self.function(name, a.args[0])  # sin(-a) = -sin a, cos(-a) = cos a
            return positive if parity > 0 else self.neg(positive)
        return self.make(name, (a,))

    def angle(self, sine: Node, cosine: Node) -> Node:
        """The angle with this sine and cosine, the sum of whose squares is 1.

        Sines and cosines of it, and of its sums with other angles, are made of these two.
        """
        return self._turned.enter(self.make("angle", (sine, cosine)))

    def node(self, value: Any) -> Node | None:
        """The value as a node of this graph; None if it is no number."""
        if isinstance(value, Node):
            if value.graph is not self:
                raise TraceError(
                    f"the expression {value!r} belongs to another graph; trace everything that "
                    "is combined in one graph"
                )
            return value
        number = isinstance(value, _NUMBERS) and not isinstance(value, bool)
        return self.number(value) if number else None

    def apply(self, op: str, args: Sequence[Node]) -> Node:
        """An operation of the table by name, folded."""
        return self.function(op, args[0]) if op in FUNCTIONS else getattr(self, op)(*args)

    def _symbol(self, op: str, name: str) -> Node:
        other = "input" if op == "parameter" else "parameter"
        if (other, name) in self._table:
            raise TraceError(f"the name {name!r} is used for an {other} already")
        return self.make(op, (), name=name)

    def make(self, op: str, args: tuple[Node, ...], name: str = "", value: Scalar = 0) -> Node:
        """The node of an operation or a leaf as it is given, without folding."""
        if op in COMMUTATIVE and args[0].index > args[1].index:
            args = args[::-1]
        key: tuple[str, Any] = (op, args)  # nodes are themselves alone
        if not args:
            leaf = value if isinstance(value, int) else value.hex()
            key = (op, leaf if op == "number" else name)
        node = self._table.get(key)
        if node is None:
            constant = op != "input" and all([a.constant for a in args])
            node = self._table[key] = Node(self, op, args, name, value, len(self.nodes), constant)
            self.nodes.append(node)
        return node


def is_number(node: Node, value: int) -> bool:
    """Whether a node is this number."""
    return node.op == "number" and node.value == value


class KnownAngles:
    """The sums of angles in a graph in which there is one known by its sine and cosine.

    Such are those of joints that loops move. Sines and cosines of sums with such an angle are
    products of what is known, so no function is called for them, and what is added to an angle and
    taken away again is gone.
    """

    def __init__(self, graph: Graph):
        self._graph = graph
        self._sums: dict[int, AngleSum] = {}

    def enter(self, angle: Node) -> Node:
        """The node of a known angle itself, which is one from now on."""
        self._sums.setdefault(angle.index, {angle.index: 1})
        return angle

    def in_one_of(self, *nodes: Node) -> bool:
        """Whether a node is a sum with a known angle in it."""
        return bool(self._sums) and any(node.index in self._sums for node in nodes)

    def summed(self, a: Node, b: Node, sign: int) -> Node:
        """a + b or a - b."""
        terms = dict(self._sums.get(a.index, {a.index: 1}))
        for k, times in self._sums.get(b.index, {b.index: 1}).items():
            terms[k] = terms.get(k, 0) + sign * times
        terms = {k: times for k, times in sorted(terms.items()) if times}
        total, known = self._rest(terms), self._each(terms, known=True)
        for angle, positive in known:  # not folded
            if is_number(total, 0):
                total = angle if positive else self._graph.make("neg", (angle,))
            else:
                total = self._graph.make("add" if positive else "sub", (total, angle))
        if known:
            self._sums[total.index] = terms
        return total

    def pair(self, node: Node) -> tuple[Node, Node]:
        """Cosine and sine of a sum with a known angle in it."""
        terms = self._sums[node.index]
        rest = self._rest(terms)
        x, y = rest.cos(), rest.sin()
        for angle, positive in self._each(terms, known=True):
            s, c = angle.args
            s = s if positive else -s
            x, y = x * c - y * s, y * c + x * s
        return x, y

    def _rest(self, terms: AngleSum) -> Node:
        """The sum of the angles that are not known."""
        total = self._graph.number(0)
        for angle, positive in self._each(terms, known=False):
            total = total + angle if positive else total - angle
        return total

    def _each(self, terms: AngleSum, *, known: bool) -> list[tuple[Node, bool]]:
        """The angles of a sum that are known, or the others, each as often as it is there."""
        nodes = [(self._graph.nodes[k], times) for k, times in terms.items()]
        own = [(node, times) for node, times in nodes if (node.op == "angle") == known]
        return [(node, times > 0) for node, times in own for _ in range(abs(times))]


def trace(graph: Graph, function: Callable[..., Any], *vectors: Sequence[Node] | Array) -> Array:
    """The result of a function of vectors, fed nodes instead of numbers, every entry a node."""
    result = np.asarray(function(*(np.array(v, dtype=object) for v in vectors)), dtype=object)
    nodes = np.empty(result.shape, dtype=object)
    for place in np.ndindex(result.shape):
        nodes[place] = graph.node(result[place])
    return nodes


def node_array(nodes: Sequence[Node], shape: tuple[int, ...]) -> Array:
    """Nodes as an array of a shape."""
    result = np.empty(len(nodes), dtype=object)
    result[:] = nodes
    return result.reshape(shape)
