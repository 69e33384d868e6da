"""Letters: the parameters of a robot named as in a book.

`{"a1": "l", "x1": "l/2", "Izz1": "m1*l**2/12"}` says what the parameters of
`armdyn.shorten.canonical.parameters` are in other symbols. An expression is a polynomial of letters
with rational coefficients; a letter takes its value from the parameter that it alone stands for.
"""

import ast
import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import reduce

from armdyn.errors import LettersError, ModelError, UnknownNameError, shown
from armdyn.graph.ring import Ring, Trig

VALUE_TOLERANCE = 1e-9
"""The largest relative difference of an expression and the number that it stands for."""
_LARGEST_POWER = 8
_LONGEST_TEXT = 200
_MOST_TERMS = 100
_MOST_DIGITS = 1000
_TAKEN = re.compile(r"q\w*|[CS]\d\w*|[CS]?(alpha|gamma|phi)\d\w*")
"""Names of positions, rates, angles, cosines and sines in equations."""
Terms = dict[tuple[str, ...], Fraction]
"""A polynomial: the coefficient of each product of letters, which are in order."""


class Letters:
    """Expressions for parameters in letters, checked against the values of the parameters."""

    def __init__(
        self,
        expressions: Mapping[str, str],
        values: Mapping[str, float],
        variables: Collection[str] = (),
    ):
        """Check expressions by parameter; variables are symbols although their value is zero.

        Raises:
            UnknownNameError: There is no such parameter.
            LettersError: An expression is no polynomial, or not what the parameter is.
        """
        if not isinstance(expressions, Mapping):
            raise ModelError(f"letters are expressions by parameter, got {shown(expressions)}")
        self.trees: dict[str, ast.expr] = {}
        for symbol, text in expressions.items():
            if symbol not in values:
                raise UnknownNameError("parameter to write in letters", symbol, values)
            self.trees[symbol] = _parsed(symbol, text)
        self.values = dict(values)
        for symbol, tree in self.trees.items():
            if isinstance(tree, ast.Name):
                self._check_name(symbol, tree.id, values, variables)
                self.values[tree.id] = values[symbol]
        for symbol, tree in self.trees.items():
            self._check(symbol, tree, values[symbol])

    def symbols(self, parameter: str) -> list[str]:
        """The symbols of the expression for a parameter."""
        tree = self.trees.get(parameter)
        return [parameter] if tree is None else _names(tree)

    def polynomial(self, ring: Ring, parameter: str) -> Trig:
        """A parameter in a ring that has its symbols."""
        tree = self.trees.get(parameter)
        if tree is None:
            return ring.symbol(parameter)
        terms = _terms(tree).items()
        products = (math.prod(map(ring.symbol, m), start=ring.number(c)) for m, c in terms)
        return sum(products, ring.number(0))

    def _check_name(
        self, symbol: str, letter: str, values: Mapping[str, float], variables: Collection[str]
    ) -> None:
        """Refuse a letter that is the name of another parameter, one that the equations have."""
        if letter in self.trees or not (values.get(letter) or letter in variables):
            return
        if not math.isclose(values[letter], values[symbol], rel_tol=VALUE_TOLERANCE):
            raise LettersError(
                f"{symbol} = {letter}: {letter!r} is another parameter of this robot, and not "
                f"equal to {symbol}; choose another letter",
                parameter=symbol,
            )

    def _check(self, symbol: str, tree: ast.expr, value: float) -> None:
        unknown = [name for name in self.symbols(symbol) if name not in self.values]
        if unknown:
            raise LettersError(
                f"{symbol} = {ast.unparse(tree)}: the letter {unknown[0]!r} has no value; let it "
                f"stand alone for a parameter as well, as in a1 = {unknown[0]}",
                parameter=symbol,
            )
        try:
            terms, values = _terms(tree).items(), self.values
            found = float(sum(c * math.prod(Fraction(values[x]) for x in m) for m, c in terms))
        except (OverflowError, ValueError):
            found = math.nan
        if not math.isclose(found, value, rel_tol=VALUE_TOLERANCE):
            raise LettersError(
                f"{symbol} = {ast.unparse(tree)} would be {found:.9g}, but it is {value:.9g} in "
                "this robot; correct the expression or leave it out",
                parameter=symbol,
            )


def fitting(
    expressions: Mapping[str, str], values: Mapping[str, float], variables: Collection[str] = ()
) -> tuple[Letters, list[str]]:
    """The letters that fit a robot, and why the others do not."""
    kept, reasons = dict(expressions), list[str]()
    while True:
        try:
            return Letters(kept, values, variables), reasons
        except LettersError as error:
            del kept[error.parameter]
            reasons.append(str(error))
        except UnknownNameError as error:
            del kept[error.given]
            reasons.append(f"{error.given}: the robot has no such parameter")


def _parsed(symbol: str, text: str) -> ast.expr:
    try:
        if not isinstance(text, str) or len(text) > _LONGEST_TEXT:
            raise ValueError
        tree = ast.parse(text.replace("^", "**"), mode="eval").body
        _terms(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise LettersError(
            f"{symbol} = {text!r} is no polynomial of letters: use + - * ** and division by "
            f"numbers, as in m1*l**2/12, up to the power {_LARGEST_POWER}",
            parameter=symbol,
        ) from None
    for name in _names(tree):
        if _TAKEN.fullmatch(name):
            raise LettersError(
                f"{symbol} = {text}: {name!r} is a position, an angle, a cosine or a sine in "
                "equations; choose another letter",
                parameter=symbol,
            )
    return tree


def _terms(tree: ast.expr) -> Terms:
    """The polynomial of an expression; nothing but arithmetic is ever executed.

    Raises:
        ValueError: It is none, or it has too many terms, powers or digits.
    """
    match tree:
        case ast.Name(id=name) if name.isascii():
            return {(name,): Fraction(1)}
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _checked({(): Fraction(str(number))})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _product(_terms(operand), {(): Fraction(-1)})
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)) if (
            0 < power <= _LARGEST_POWER
        ):
            return reduce(_product, [_terms(left)] * power)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = _terms(right)
            if divisor.keys() == {()}:
                return _product(_terms(left), {(): 1 / divisor[()]})
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_terms(left), _terms(right))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            a, b = _terms(left), _terms(right)
            sign = 1 if isinstance(op, ast.Add) else -1
            return _checked({m: a.get(m, 0) + sign * b.get(m, Fraction(0)) for m in {**a, **b}})
    raise ValueError


def _product(a: Terms, b: Terms) -> Terms:
    found: Terms = defaultdict(Fraction)
    for m, x in a.items():
        for n, y in b.items():
            found[tuple(sorted(m + n))] += x * y
    return _checked(found)


def _checked(terms: Terms) -> Terms:
    """The terms that are not zero, or a ValueError where they are many or long."""
    kept = {m: number for m, number in terms.items() if number}
    long = any(len(m) > _LARGEST_POWER or len(str(x)) > _MOST_DIGITS for m, x in kept.items())
    if long or len(kept) > _MOST_TERMS:
        raise ValueError
    return kept


def _names(tree: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
