"""Letters: the parameters of a robot written as a book writes them.

`{"a1": "l", "x1": "l/2", "Izz1": "m1*l**2/12"}` says what the parameters of
`armdyn.analysis.parameters` are in other symbols. An expression is a polynomial of letters with
rational coefficients; a letter takes its value from the parameter that it alone stands for.
"""

import ast
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from armdyn.algebra.ring import Ring, Trig
from armdyn.errors import ModelError, UnknownNameError

CLOSE = 1e-9
"""How far an expression may be from the number that it stands for, relatively."""
_LARGEST_POWER = 8
_LONGEST = 200

_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}


class Letters:
    """Expressions for parameters, with the values of their letters."""

    def __init__(self, expressions: Mapping[str, str], values: Mapping[str, float]):
        """Check expressions against the values of the parameters.

        Args:
            expressions: For some parameters what they are in letters.
            values: The value of every parameter by symbol.

        Raises:
            UnknownNameError: There is no such parameter.
            ModelError: An expression is no polynomial, or not what the parameter is.
        """
        self.trees: dict[str, ast.expr] = {}
        for symbol, text in expressions.items():
            if symbol not in values:
                raise UnknownNameError("parameter to write in letters", symbol, values)
            self.trees[symbol] = _parsed(symbol, text)
        self.values = dict(values)
        for symbol, tree in self.trees.items():
            if isinstance(tree, ast.Name):
                self.values[tree.id] = values[symbol]
        for symbol, tree in self.trees.items():
            self._check(symbol, tree, values[symbol])

    def symbols(self, parameter: str) -> list[str]:
        """The symbols that a parameter is written with."""
        tree = self.trees.get(parameter)
        if tree is None:
            return [parameter]
        return _names(tree)

    def write(self, ring: Ring, parameter: str) -> Trig:
        """A parameter in a ring that has its symbols."""
        tree = self.trees.get(parameter)
        if tree is None:
            return ring.symbol(parameter)
        result = _value(tree, ring.symbol, parameter)
        return result if isinstance(result, Trig) else ring.number(result)

    def _check(self, symbol: str, tree: ast.expr, value: float) -> None:
        unknown = [name for name in self.symbols(symbol) if name not in self.values]
        if unknown:
            raise ModelError(
                f"{symbol} = {ast.unparse(tree)}: the letter {unknown[0]!r} has no value; let it "
                f"stand alone for a parameter as well, as in a1 = {unknown[0]}"
            )
        written = float(_value(tree, lambda name: Fraction(self.values[name]), symbol))
        if not math.isclose(written, value, rel_tol=CLOSE, abs_tol=CLOSE * abs(value)):
            raise ModelError(
                f"{symbol} = {ast.unparse(tree)} would be {written:.9g}, but it is {value:.9g} in "
                "this robot; correct the expression or leave it out"
            )


def letter_pairs(text: str) -> dict[str, str]:
    """The expressions of a command line: a1=l,x1=l/2."""
    pairs: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        symbol, sign, expression = part.partition("=")
        if not sign or not expression.strip():
            raise ModelError(f"expected PARAMETER=EXPRESSION such as x1=l/2, got {part!r}")
        pairs[symbol.strip()] = expression.strip()
    return pairs


def _parsed(symbol: str, text: str) -> ast.expr:
    try:
        if not isinstance(text, str) or len(text) > _LONGEST:
            raise ValueError
        tree = ast.parse(text.replace("^", "**"), mode="eval").body
        _value(tree, lambda _: Fraction(1), symbol)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _no_polynomial(symbol, text) from None
    return tree


def _value(tree: ast.expr, leaf: Callable[[str], Any], symbol: str) -> Any:
    """The value of an expression; nothing but arithmetic is ever executed."""
    match tree:
        case ast.Name(id=name) if name.isascii():
            return leaf(name)
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, leaf, symbol)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)) if (
            0 < power <= _LARGEST_POWER
        ):
            return _value(left, leaf, symbol) ** power
        case ast.BinOp(left=left, op=ast.Div(), right=right) if not _names(right):
            divisor = _value(right, leaf, symbol)
            if divisor:
                return _value(left, leaf, symbol) / divisor
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            a, b = _value(left, leaf, symbol), _value(right, leaf, symbol)
            return _OPERATIONS[type(op)](a, b)
    raise _no_polynomial(symbol, ast.unparse(tree))


def _names(tree: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _no_polynomial(symbol: str, text: Any) -> ModelError:
    return ModelError(
        f"{symbol} = {text!r} is no polynomial of letters: use + - * ** and division by numbers, "
        "as in m1*l**2/12"
    )
