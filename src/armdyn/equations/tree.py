"""Expressions as they are printed: sums, products and powers of numbers, symbols, C2 and S23."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeAlias

from armdyn.equations.readable import Angle


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
    """A function of something: sgn, tanh, exp, sin, cos, sqrt."""

    function: str
    argument: "Expr"


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


def quotient(factors: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The factors above and below the line of a fraction."""
    divisors = [f for f in factors if isinstance(f, Power) and f.exponent < 0]
    above = [f for f in factors if f not in divisors]
    return above, [power(divisor.base, -divisor.exponent) for divisor in divisors]


def leaves(expr: Expr) -> Iterator[Expr]:
    """The numbers, symbols, cosines and sines of an expression, from left to right."""
    match expr:
        case Product(inside) | Sum(inside):
            yield from chain.from_iterable(map(leaves, inside))
        case Power(inner, _) | Call(_, inner):
            yield from leaves(inner)
        case _:
            yield expr


def angle_functions(exprs: Iterable[Expr]) -> set[AngleFunction]:
    """The cosines and sines that occur in expressions."""
    return {leaf for expr in exprs for leaf in leaves(expr) if isinstance(leaf, AngleFunction)}
