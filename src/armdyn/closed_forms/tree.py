"""Expressions as they are printed: sums, products and powers of numbers, symbols, C2 and S23."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeAlias

from armdyn.closed_forms.readable import Angle
from armdyn.graph.nodes import Node


@dataclass(frozen=True, slots=True)
class Number:
    """A rational number, or a float that is printed as it is."""

    value: Fraction | float


@dataclass(frozen=True, slots=True)
class Symbol:
    """A parameter, a coordinate or a rate of one, or a line of a program."""

    name: str


@dataclass(frozen=True, slots=True)
class AngleFunction:
    """The cosine "C" or the sine "S" of an angle."""

    name: str
    angle: Angle


@dataclass(frozen=True, slots=True)
class Call:
    """A function of something: sgn, abs, tanh, exp, sin, cos, sqrt, atan2 of y and x, and power."""

    function: str
    arguments: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Power:
    """A whole power; -1 is a divisor."""

    base: "Expr"
    exponent: int


@dataclass(frozen=True, slots=True)
class Product:
    """Factors in the order in which they are printed, a number first."""

    factors: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms in the order in which they are printed."""

    terms: tuple["Expr", ...]


Expr: TypeAlias = Number | Symbol | AngleFunction | Call | Power | Product | Sum
ZERO = Number(Fraction(0))


def power(base: Expr, exponent: int) -> Expr:
    """A power, or the base itself."""
    if isinstance(base, Number):
        return Number(_neat(base.value**exponent))
    return base if exponent == 1 else Power(base, exponent)


def _neat(value: Fraction | float) -> Fraction | float:
    """A float without the rounding of a product: 0.64 for 0.8²."""
    return value if isinstance(value, Fraction) else float(f"{value:.15g}")


def product(factors: Iterable[Expr]) -> Expr:
    """A product with one number in front, which takes the sign of sums of negative terms."""
    number: Fraction | float = Fraction(1)
    rest: list[Expr] = []
    opened = (f.factors if isinstance(f, Product) else (f,) for f in factors)
    for factor in chain.from_iterable(opened):
        if isinstance(factor, Number):
            number = factor.value if number == 1 else _neat(number * factor.value)
        elif isinstance(factor, Sum) and all(sign(term) < 0 for term in factor.terms):
            number = -number
            rest.append(negated(factor))
        else:
            rest.append(factor)
    if number == 0:
        return ZERO
    if number != 1 or not rest:
        rest.insert(0, Number(number))
    return rest[0] if len(rest) == 1 else Product(tuple(rest))


def total(terms: Iterable[Expr]) -> Expr:
    """A sum, sums within it opened, zeros left out, a positive term first if there is one."""
    found: list[Expr] = []
    for term in terms:
        match term:
            case Sum(inside):
                found += inside
            case Product((Number(-1), Sum(inside))):
                found += [negated(part) for part in inside]
            case _:
                found.append(term)
    found = [term for term in found if term != ZERO]
    if not found:
        return ZERO
    if sign(found[0]) < 0:
        place = next((i for i, term in enumerate(found) if sign(term) > 0), 0)
        found.insert(0, found.pop(place))
    return found[0] if len(found) == 1 else Sum(tuple(found))


def sign(expr: Expr) -> int:
    """-1 if it is printed with a minus in front."""
    if isinstance(expr, Product):
        expr = expr.factors[0]
    return -1 if isinstance(expr, Number) and expr.value < 0 else 1


def negated(expr: Expr) -> Expr:
    """The negative, term by term for a sum."""
    if isinstance(expr, Sum):
        return total(negated(term) for term in expr.terms)
    return product([Number(Fraction(-1)), expr])


def leaves(expr: Expr) -> Iterator[Expr]:
    """The numbers, symbols, cosines and sines of an expression, from left to right."""
    match expr:
        case Product(inside) | Sum(inside) | Call(_, inside):
            yield from chain.from_iterable(map(leaves, inside))
        case Power(base, _):
            yield from leaves(base)
        case _:
            yield expr


def angle_functions(exprs: Iterable[Expr]) -> set[AngleFunction]:
    """The cosines and sines that occur in expressions."""
    return {leaf for expr in exprs for leaf in leaves(expr) if isinstance(leaf, AngleFunction)}


def operation(op: str, args: list[Expr]) -> Expr:
    """An operation of a program on expressions."""
    match op:
        case "add":
            return total(args)
        case "sub":
            return total([args[0], negated(args[1])])
        case "mul":
            whole = product(args)
            return _collected(whole) if isinstance(whole, Product) else whole
        case "div":
            return product([args[0], Power(args[1], -1)])
        case "neg":
            return negated(args[0])
        case "sign":
            return Call("sgn", (args[0],))
        case "signed_power" if isinstance(args[1], Number | Symbol):
            over = Number(float(args[1].value)) if isinstance(args[1], Number) else args[1]
            size, sign = (Call(function, (args[0],)) for function in ("abs", "sgn"))
            return product([Call("power", (size, over)), sign])
        case "angle":
            return Call("atan2", tuple(args))
    return Call(op, (args[0],))


def expression(node: Node) -> Expr:
    """A node as an expression, products with sums written out."""
    match node.op, [expression(arg) for arg in node.args]:
        case op, []:
            return Number(float(node.value)) if op == "number" else Symbol(node.name)
        case "mul", [Sum(terms), other] | [other, Sum(terms)]:
            return total(operation("mul", [term, other]) for term in terms)
        case op, args:
            return operation(op, args)


def _collected(whole: Product) -> Expr:
    """A product with equal factors as powers, constants first and sums last."""
    counts: Counter[Expr] = Counter()
    for factor in whole.factors:
        base, times = (factor.base, factor.exponent) if isinstance(factor, Power) else (factor, 1)
        for part in base.factors if isinstance(base, Product) else (base,):
            counts[part] += times
    kept = sorted((base for base in counts if counts[base]), key=_rank)
    return product(power(base, counts[base]) for base in kept)


def _rank(expr: Expr) -> int:
    """Where a factor stands: numbers, parameters and constants, cosines, variables, sums."""
    if isinstance(expr, Symbol):
        kinds = (r"[^qtCS].*", r"[CS].*", r"t\d+|theta.*", r"q.*")
        return next(k for k, pattern in enumerate(kinds, 1) if re.fullmatch(pattern, expr.name))
    return 0 if isinstance(expr, Number) else 9
