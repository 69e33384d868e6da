"""The table of operations: everything the house knows of each, but how a language spells it.

A new operation is one entry here, and one spelling in each printer and backend.
"""

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, record

FAR_ANGLE = 32.0
"""Sums of angles beyond this are computed without whole turns [rad]: the last bit of a sum, which
is rounded, is worth at most 4e-15 rad then."""


@record
class Op:
    """One operation on nodes, numbers and residues."""

    name: str
    arity: int
    value: Callable[..., Any]
    """Its value for numbers and arrays."""
    partials: Callable[..., tuple[Any, ...]] | None
    """The derivative by each operand, from the graph, the result and the operands as its nodes."""
    cost: str = ""
    """The field of `Operations` that counts it; empty: it is free."""
    residue: Callable[..., int] | None = None
    """Its exact value for residues, modulo the prime that follows them; functions of angles have it
    from the cosine and sine of the angle. None: a pseudo-random one that depends on the operands.
    """
    commutative: bool = False
    scalar: Callable[[float], float] | None = None
    """A function's value for one number; NumPy's is rounded differently on some processors."""
    parity: int = 0
    """-1 if f(-x) = -f(x), 1 if f(-x) = f(x)."""


def exact(operation: Callable[[Any, Any], Fraction], a: Any, b: Any) -> int | float | None:
    """The result for two nodes that are numbers, if an integer or float is exactly equal to it."""
    if not (a.op == "number" == b.op):
        return None
    result = operation(Fraction(a.value), Fraction(b.value))
    if result.denominator == 1:
        return result.numerator
    rounded = float(result) if abs(result) <= sys.float_info.max else math.inf
    return rounded if rounded == result else None


def angle_sum(a: Any, b: Any) -> Any:
    """a + b, or an angle that differs from it by whole turns where it is far from zero."""
    total = a + b
    far = np.abs(total) > FAR_ANGLE
    if not np.any(far):
        return total
    return np.where(far, _without_turns(a) + _without_turns(b), total)


def _without_turns(angle: Any) -> Any:
    return np.arctan2(np.sin(angle), np.cos(angle))


def guard(pivot: Any, scale: Any) -> Any:
    """The pivot where it is more than rounding of its scale, NaN elsewhere."""
    return np.where(np.abs(pivot) > RELATIVE_PIVOT * np.abs(scale), pivot, np.nan)


def signed_power(x: Any, exponent: Any) -> Any:
    """sgn(x) |x|^exponent, and 0 where x is 0, for negative exponents, too."""
    size = np.where(x == 0, 1.0, np.abs(x))
    return np.sign(x) * size**exponent


def _power_slope(g: Any, y: Any, x: Any, exponent: Any) -> tuple[Any, Any]:
    """a |x|^(a-1), and 0 where x is 0 unless a is 1; the exponent is a number."""
    lower = g.signed_power(x, g.number(getattr(exponent, "value", exponent) - 1))
    return g.mul(exponent, g.mul(lower, g.function("sign", x))), g.number(0)


def _quotient(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    inverse = g.div(g.number(1), b)
    return inverse, g.neg(g.mul(y, inverse))  # ∂(a/b) = 1/b, -(a/b)/b


def _ones(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return g.number(1), g.number(1)


def _difference(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return g.number(1), g.number(-1)


def _product(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return b, a


def _cosine(g: Any, y: Any, a: Any) -> tuple[Any]:
    return (g.function("cos", a),)


def _sine(g: Any, y: Any, a: Any) -> tuple[Any]:
    return (g.neg(g.function("sin", a)),)


def _tanh_slope(g: Any, y: Any, a: Any) -> tuple[Any]:
    return (g.sub(g.number(1), g.mul(y, y)),)


def _sign(x: float) -> float:
    return float(np.sign(x))


_ENTRIES = (
    # name, arity, value, partial derivatives, cost
    Op("add", 2, np.add, _ones, "add", residue=lambda a, b, p: (a + b) % p, commutative=True),
    Op("sub", 2, np.subtract, _difference, "add", residue=lambda a, b, p: (a - b) % p),
    Op("mul", 2, np.multiply, _product, "mul", residue=lambda a, b, p: a * b % p, commutative=True),
    Op("div", 2, np.divide, _quotient, "div", residue=lambda a, b, p: a * pow(b, -1, p) % p),
    Op("neg", 1, np.negative, lambda g, y, a: (g.number(-1),), residue=lambda a, p: -a % p),
    Op("sin", 1, np.sin, _cosine, "trig", residue=lambda c, s, p: s, scalar=math.sin, parity=-1),
    Op("cos", 1, np.cos, _sine, "trig", residue=lambda c, s, p: c, scalar=math.cos, parity=1),
    Op("sqrt", 1, np.sqrt, lambda g, y, a: (g.div(g.number(0.5), y),), "sqrt", scalar=math.sqrt),
    # the angle of a pair whose squares add up to 1
    Op("angle", 2, np.arctan2, lambda g, y, s, c: (c, g.neg(s)), "other"),
    Op("exp", 1, np.exp, lambda g, y, a: (y,), "other", scalar=math.exp),
    Op("tanh", 1, np.tanh, _tanh_slope, "other", scalar=math.tanh, parity=-1),
    # the jump is no derivative
    Op("sign", 1, np.sign, lambda g, y, a: (g.number(0),), "other", scalar=_sign, parity=-1),
    Op("signed_power", 2, signed_power, _power_slope, "other"),
    # which programs have in place of an addition
    Op("angle_sum", 2, angle_sum, _ones, "add", commutative=True),
    Op("guard", 2, guard, lambda g, y, a, b: (g.number(1), g.number(0)), "other"),
)

OPERATIONS = {op.name: op for op in _ENTRIES}
FUNCTIONS = {op.name: op.scalar for op in _ENTRIES if op.scalar is not None}
"""Functions of one argument, with what they do to a number."""
TRIG = tuple(op.name for op in _ENTRIES if op.cost == "trig")
"""Functions of angles; those of one angle are computed together."""
COMMUTATIVE = frozenset(op.name for op in _ENTRIES if op.commutative)


class _Arrays:
    """Stands in for a graph where derivatives are wanted as numbers or arrays."""

    mul, div, sub, neg = np.multiply, np.divide, np.subtract, np.negative
    signed_power = staticmethod(signed_power)

    @staticmethod
    def number(value: float) -> float:
        return value

    @staticmethod
    def function(name: str, x: Any) -> Any:
        return OPERATIONS[name].value(x)


def slopes(op: str, result: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The derivatives of an operation by its operands, all numbers or arrays."""
    partials = OPERATIONS[op].partials
    assert partials is not None
    return partials(_Arrays, result, *operands)
