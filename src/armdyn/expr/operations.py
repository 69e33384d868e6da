"""The table of operations: everything the house knows of each, but how a language spells it.

A new operation is one entry here, and one spelling in each printer and backend.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT

FAR_ANGLE = 32.0
"""Sums of angles beyond this are computed without whole turns [rad]: the last bit of a sum, which
is rounded, is worth at most 4e-15 rad then."""
PRIME = 2**61 - 1
"""The field in which two graphs are compared: if they differ, they agree at a random point with a
probability of about their degree divided by this."""
OTHER_PRIME = 2**61 - 2373
"""The field of a second comparison: in the first, 2⁶¹ is 1, so that a number which is rounding, as
2⁻⁶⁰, is taken for a plain one, 2; here the powers of 2 are as many as the field has numbers."""


@dataclass(frozen=True, slots=True)
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
    """Its exact value before it is taken modulo a prime, as the function `residue` does; functions
    of angles have it from the cosine and sine of the angle. None: a pseudo-random one that depends
    on the operands."""
    commutative: bool = False
    scalar: Callable[[float], float] | None = None
    """A function's value for one number; NumPy's is rounded differently on some processors."""
    parity: int = 0
    """-1 if f(-x) = -f(x), 1 if f(-x) = f(x)."""


def number_residue(value: int | float, prime: int = PRIME) -> int:
    """A number modulo a prime, exactly: a float is the binary fraction that it is."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * pow(denominator, -1, prime) % prime


def residue(op: str, operands: Sequence[int], prime: int = PRIME) -> int:
    """An operation modulo a prime, by the operands or the cosine and sine of an angle."""
    if op == "div":
        return operands[0] * pow(operands[1], -1, prime) % prime
    exact = OPERATIONS[op].residue
    assert exact is not None
    return exact(*operands) % prime


def square_root(value: int, prime: int = PRIME) -> int | None:
    """A root of a residue modulo a prime that is 3 modulo 4; None if it has none."""
    root = pow(value, (prime + 1) // 4, prime)
    return root if root * root % prime == value % prime else None


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
    lower = g.signed_power(x, g.number(exponent.value - 1))
    return g.mul(exponent, g.mul(lower, g.function("sign", x))), g.number(0)


def _quotient(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    inverse = g.div(g.number(1), b)
    return inverse, g.neg(g.mul(y, inverse))  # ∂(a/b) = 1/b, -(a/b)/b


_ENTRIES = (
    Op(
        *("add", 2, np.add, lambda g, y, a, b: (g.number(1), g.number(1)), "add"),
        residue=lambda a, b: a + b,
        commutative=True,
    ),
    Op(
        *("sub", 2, np.subtract, lambda g, y, a, b: (g.number(1), g.number(-1)), "add"),
        residue=lambda a, b: a - b,
    ),
    Op(
        *("mul", 2, np.multiply, lambda g, y, a, b: (b, a), "mul"),
        residue=lambda a, b: a * b,
        commutative=True,
    ),
    Op(
        *("div", 2, np.divide, _quotient, "div"),
        residue=lambda a, b: residue("div", (a, b)),
    ),
    Op("neg", 1, np.negative, lambda g, y, a: (g.number(-1),), residue=lambda a: -a),
    Op(
        *("sin", 1, np.sin, lambda g, y, a: (g.function("cos", a),), "trig"),
        residue=lambda cosine, sine: sine,
        scalar=math.sin,
        parity=-1,
    ),
    Op(
        *("cos", 1, np.cos, lambda g, y, a: (g.neg(g.function("sin", a)),), "trig"),
        residue=lambda cosine, sine: cosine,
        scalar=math.cos,
        parity=1,
    ),
    Op(
        *("sqrt", 1, np.sqrt, lambda g, y, a: (g.div(g.number(0.5), y),), "sqrt"),
        scalar=math.sqrt,
    ),
    Op(  # of a pair whose squares add up to 1
        *("angle", 2, np.arctan2, lambda g, y, s, c: (c, g.neg(s)), "other"),
    ),
    Op("exp", 1, np.exp, lambda g, y, a: (y,), "other", scalar=math.exp),
    Op(
        *("tanh", 1, np.tanh, lambda g, y, a: (g.sub(g.number(1), g.mul(y, y)),), "other"),
        scalar=math.tanh,
        parity=-1,
    ),
    Op(  # the jump is no derivative
        *("sign", 1, np.sign, lambda g, y, a: (g.number(0),), "other"),
        scalar=lambda x: float(np.sign(x)),
        parity=-1,
    ),
    Op("signed_power", 2, signed_power, _power_slope, "other"),
    Op(  # which programs have in place of an addition
        *("angle_sum", 2, angle_sum, lambda g, y, a, b: (g.number(1), g.number(1)), "add"),
        residue=lambda a, b: a + b,
        commutative=True,
    ),
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

    @staticmethod
    def number(value: float) -> float:
        return value

    @staticmethod
    def function(name: str, x: Any) -> Any:
        return OPERATIONS[name].value(x)


def slopes(op: str, result: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The derivatives of an operation, not a power, by its operands, all numbers or arrays."""
    partials = OPERATIONS[op].partials
    assert partials is not None
    return partials(_Arrays, result, *operands)
