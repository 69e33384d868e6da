"""Letters: the parameters of a robot named as in a book.

`{"a1": "l", "x1": "l/2", "Izz1": "m1*l**2/12"}` says what the parameters of
`armdyn.shorten.canonical.parameters` are in other symbols. An expression is a polynomial of letters
with rational coefficients; a letter takes its value from the parameter that it alone stands for.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from armdyn.errors import LettersError, ModelError, UnknownNameError, shown
from armdyn.graph.ring import Ring, Trig

VALUE_TOLERANCE = 1e-9
"""The largest relative difference of an expression and the number that it stands for."""
_LARGEST_POWER = 8
_LONGEST_TEXT = 200
_MOST_TERMS = 100
_MOST_DIGITS = 1000
_OPERATORS = {ast.Mult: operator.mul, ast.Add: operator.add, ast.Sub: operator.sub}
_TAKEN = re.compile(r"q\w*|[CS]\d\w*|[CS]?(alpha|gamma|phi)\d\w*")
"""Names of positions, rates, angles, cosines and sines in equations."""


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
        return _names(self._tree(parameter))

    def polynomial(self, ring: Ring, parameter: str) -> Trig:
        """A parameter in a ring that has its symbols."""
        return ring.number(0) + _value(self._tree(parameter), ring.symbol)

    def _tree(self, parameter: str) -> ast.expr:
        return self.trees.get(parameter, ast.Name(parameter))

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
            found = float(_value(tree, lambda name: Fraction(self.values[name])))
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
        _value(tree, Ring((), _names(tree)).symbol)
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


def _value(tree: ast.expr, symbol: Callable[[str], Any]) -> Any:
    """The value of an expression in letters; nothing but arithmetic is ever executed.

    Raises:
        ValueError: It is no polynomial, or it has too many terms, powers or digits.
    """
    match tree:
        case ast.Name(id=name) if name.isascii():
            return symbol(name)
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _checked(Fraction(str(number)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, symbol)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)) if (
            0 < power <= _LARGEST_POWER
        ):
            return reduce(lambda a, b: _checked(a * b), [_value(left, symbol)] * power)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = _value(right, symbol)
            if isinstance(divisor, Fraction) and divisor:
                return _checked(_value(left, symbol) / divisor)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add() | ast.Sub() as op, right=right):
            return _checked(_OPERATORS[type(op)](_value(left, symbol), _value(right, symbol)))
    raise ValueError


def _checked(value: Any) -> Any:
    """A value, or a ValueError where it is a polynomial that is too long."""
    terms = [*value] if isinstance(value, Trig) else [((), 0, value)]
    degrees = (sum(value.ring.exponents(m).values()) for _, m, _ in terms if m)
    long = any(len(str(number)) > _MOST_DIGITS for *_, number in terms)
    if long or len(terms) > _MOST_TERMS or any(degree > _LARGEST_POWER for degree in degrees):
        raise ValueError
    return value


def _names(tree: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
