"""Friction of the joints, written out."""

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from armdyn.equations.document import Block, Line, index
from armdyn.equations.tree import (
    ZERO,
    Call,
    Expr,
    Number,
    Power,
    Product,
    RealPower,
    Sum,
    Symbol,
    negated,
    power,
    product,
    total,
)
from armdyn.loops.closure import closure_of
from armdyn.model import FrictionLaw, RobotModel


def friction(
    model: RobotModel, digits: int | None, whole_tree: bool = False
) -> tuple[Block, dict[str, float]] | None:
    """Friction of each coordinate as it is written, with the values of its symbols; None without.

    With the whole tree it is that of every joint; else passive joints follow linearly.
    """
    if model.is_frictionless:
        return None
    values: dict[str, float] = {}
    n = len(model.joints)
    linear = None if whole_tree or not model.loops else closure_of(model).linear
    K = np.eye(n) if linear is None else linear[0]
    numbers = range(n) if linear is None else model.independent
    laws: list[Expr] = [ZERO] * len(numbers)
    owners = zip(model.driven, np.concatenate([K, model.drive_ratios @ K]), strict=True)
    for number, (owner, ratios) in enumerate(owners, 1):
        turns = np.flatnonzero(ratios)
        rates = [(_Printed(Symbol(f"qd{numbers[a] + 1}")) * float(ratios[a])).expr for a in turns]
        law = _Printed(_law(number, owner.friction, total(rates), digits, values))
        for a in turns:
            laws[a] = total([laws[a], (law * float(ratios[a])).expr])
    lines = tuple(Line("F", index(numbers[a] + 1), law, (a,)) for a, law in enumerate(laws))
    return Block("F", "Friction", lines, (len(lines),), ("qd",)), values


def _law(
    i: int, law: FrictionLaw, rate: Expr, digits: int | None, values: dict[str, float]
) -> Expr:
    """The law of joint or drive i, with symbols or rounded numbers; `values` gets their values."""

    def number(letter: str, value: float) -> Any:
        if not value or math.isinf(value):
            return value
        name = f"{letter}{i}"
        values[name] = value
        return _Printed(Symbol(name) if digits is None else Number(float(f"{value:.{digits}g}")))

    rows = law.rows(_Printed(rate), _Printed(Call("sgn", rate)), number)
    return total(row.expr for row in rows.values())


@dataclass(frozen=True, slots=True)
class _Printed:
    """An expression that can be computed with like a number."""

    expr: Expr

    def __add__(self, other: "_Printed | float") -> "_Printed":
        return _Printed(total([self.expr, _expr(other)]))

    def __mul__(self, other: "_Printed | float") -> "_Printed":
        if self == other:
            return _Printed(power(self.expr, 2))
        if isinstance(self.expr, Sum):
            return _Printed(total((_Printed(term) * other).expr for term in self.expr.terms))
        factors = product([self.expr, _expr(other)])
        if isinstance(factors, Product):
            equal = ((base, len(list(same))) for base, same in groupby(factors.factors))
            factors = Product(tuple(power(base, count) for base, count in equal))
        return _Printed(factors)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: "_Printed") -> "_Printed":
        return _Printed(product([self.expr, Power(other.expr, -1)]))

    def __neg__(self) -> "_Printed":
        return _Printed(negated(self.expr))

    def exp(self) -> "_Printed":
        """The exponential; what `np.exp` calls."""
        return _Printed(Call("exp", self.expr))

    def tanh(self) -> "_Printed":
        """The hyperbolic tangent; what `np.tanh` calls."""
        return _Printed(Call("tanh", self.expr))

    def signed_power(self, exponent: "_Printed | float") -> "_Printed":
        """sgn(x) |x|^exponent."""
        over = _expr(exponent)
        if not isinstance(over, Number | Symbol):
            raise TypeError(f"an exponent is a number or a symbol, got {over!r}")
        if over == Number(1.0):
            return self
        size = RealPower(Call("abs", self.expr), over)
        return _Printed(product([size, Call("sgn", self.expr)]))


def _expr(value: _Printed | float) -> Expr:
    if isinstance(value, _Printed):
        return value.expr
    return Number(value) if value else ZERO
