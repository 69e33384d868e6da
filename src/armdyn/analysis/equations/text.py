"""Expressions in plain text: m2 a1 x2 C2, squares as ², long equations in several lines."""

from fractions import Fraction

from armdyn.analysis.equations.notation import turn_name
from armdyn.analysis.equations.tree import (
    Call,
    Expr,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Turn,
    negated,
    sign,
)

WIDTH = 96
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def plain(expr: Expr) -> str:
    """An expression in one line."""
    match expr:
        case Number(value):
            return number(value)
        case Symbol(name):
            return name
        case Turn():
            return turn_name(expr)
        case Call(function, argument):
            return f"{function}({plain(argument)})"
        case Power(base, exponent):
            return _atom(base) + str(exponent).translate(_RAISED)
        case Product(factors):
            return _product(factors)
        case Sum(terms):
            return "".join(signed(terms))


def signed(terms: tuple[Expr, ...]) -> list[str]:
    """The terms of a sum, each with its sign in front."""
    found = []
    for i, term in enumerate(terms):
        if sign(term) < 0:
            found.append(("-" if i == 0 else " - ") + plain(negated(term)))
        else:
            found.append(("" if i == 0 else " + ") + plain(term))
    return found


def number(value: Fraction | float) -> str:
    """A number as short as it can be written."""
    if isinstance(value, Fraction):
        return str(value)
    return repr(float(value)).removesuffix(".0")


def _product(factors: tuple[Expr, ...]) -> str:
    front, below = "", ""
    if isinstance(factors[0], Number):
        value, factors = factors[0].value, factors[1:]
        if isinstance(value, Fraction):
            front = {1: "", -1: "-"}.get(value.numerator, f"{value.numerator} ")
            below = "" if value.denominator == 1 else f"/{value.denominator}"
        else:
            front = f"{number(value)} "
    above = [f for f in factors if not (isinstance(f, Power) and f.exponent < 0)]
    under = [Power(f.base, -f.exponent) for f in factors if isinstance(f, Power) and f.exponent < 0]
    for divisor in under:
        below += "/" + (_atom(divisor.base) if divisor.exponent == 1 else plain(divisor))
    written = " ".join(map(_factor, above)) or "1"
    return front + written + below


def _factor(expr: Expr) -> str:
    return f"({plain(expr)})" if isinstance(expr, Sum) else plain(expr)


def _atom(expr: Expr) -> str:
    inside = plain(expr)
    return inside if isinstance(expr, Symbol | Turn | Call) else f"({inside})"


def lines(name: str, expr: Expr, width: int = WIDTH) -> list[str]:
    """An equation, broken at signs where it is longer than a line."""
    head = f"{name} = "
    return folded(head, plain(expr), width)


def folded(head: str, text: str, width: int = WIDTH) -> list[str]:
    """Text behind a head, broken at signs: outside of brackets if pieces are short enough."""
    found, indent = [head], " " * len(head)
    for piece in _pieces(text, 0):
        small = [piece] if len(piece) <= width - len(head) else _pieces(piece, 1)
        for part in small:
            if found[-1].strip() and len(found[-1]) + 1 + len(part) <= width or found == [head]:
                found[-1] += part if found == [head] else f" {part}"
            else:
                found.append(indent + part)
    return found


def _pieces(text: str, depth: int) -> list[str]:
    """Text cut before the signs that are in so many brackets at most."""
    pieces, level = [""], 0
    for word in text.split(" "):
        if word in ("+", "-") and pieces[-1] and level <= depth:
            pieces.append(word)
        else:
            pieces[-1] += (" " if pieces[-1] else "") + word
        level += word.count("(") - word.count(")")
    return pieces
