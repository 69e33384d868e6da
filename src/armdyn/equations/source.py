"""Expressions as source code that Python and SymPy read."""

import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from textwrap import wrap

from armdyn.backends.names import comment
from armdyn.equations.document import Block, Equations, Line
from armdyn.equations.notation import turn_call, turn_identifier
from armdyn.equations.text import pieces
from armdyn.equations.tree import (
    Call,
    Expr,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Turn,
    quotient,
    signed,
)

WIDTH = 96
ARRAYS = (
    *("M", "V", "G", "F", "B", "C", "h", "T", "U", "Mx", "Vx", "Gx", "detJ", "J", "Jdqd", "tau"),
    *("q", "qd", "qdd", "n", "result", "pairs", "inverse_dynamics", "values"),
)
"""Names that the programs use themselves."""


@dataclass(frozen=True)
class Source:
    """How a language writes numbers, names and functions."""

    functions: dict[str, str]
    """For each function what it is called."""
    fraction: str = "{0}/{1}"
    """A fraction that stands alone."""
    names: dict[str, str] = field(default_factory=dict)
    """Symbols that are called otherwise, because their name is taken."""

    def write(self, expr: Expr) -> str:
        """An expression in one line."""
        match expr:
            case Number(value):
                return self._number(value)
            case Symbol(name):
                return self.name(name)
            case Turn():
                return turn_identifier(expr)
            case Call(function, argument):
                return f"{self.functions[function]}({self.write(argument)})"
            case Power(base, exponent):
                return f"{self._atom(base)}**{exponent}"
            case Product(factors):
                return self._product(factors)
            case Sum(terms):
                return "".join(signed(terms, self.write))

    def name(self, symbol: str) -> str:
        """A symbol as an identifier."""
        return self.names.get(symbol, symbol)

    def assigned(self, target: str, expr: Expr, indent: str = "") -> list[str]:
        """An assignment, in brackets and several lines where it is long."""
        text = self.write(expr)
        if len(indent + target) + 3 + len(text) <= WIDTH:
            return [f"{indent}{target} = {text}"]
        found = [f"{indent}{target} = ("]
        rows = [""]
        for piece in pieces(text, lambda p: len(indent) + 5 + len(p) <= WIDTH):
            if rows[-1] and len(indent) + 5 + len(rows[-1]) + len(piece) > WIDTH:
                rows.append(piece)
            else:
                rows[-1] += (" " if rows[-1] else "") + piece
        return [*found, *(f"{indent}    {row}" for row in rows), f"{indent})"]

    def _number(self, value: Fraction | float) -> str:
        if isinstance(value, Fraction):
            if value.denominator == 1:
                return str(value.numerator)
            return self.fraction.format(value.numerator, value.denominator)
        return repr(float(value))

    def _product(self, factors: tuple[Expr, ...]) -> str:
        above, below = quotient(factors)
        over = ""
        front = above[0]
        if isinstance(front, Number) and isinstance(front.value, Fraction) and len(above) > 1:
            over = "" if front.value.denominator == 1 else f"/{front.value.denominator}"
            number = front.value.numerator
            above = above[1:] if number in (1, -1) else [Number(Fraction(number)), *above[1:]]
            text = ("-" if number == -1 else "") + "*".join(map(self._factor, above))
        else:
            text = "*".join(map(self._factor, above)) or "1"
        return text + over + "".join(f"/{self._divisor(factor)}" for factor in below)

    def _factor(self, expr: Expr) -> str:
        return f"({self.write(expr)})" if isinstance(expr, Sum) else self.write(expr)

    def _divisor(self, expr: Expr) -> str:
        return self.write(expr) if isinstance(expr, Power) else self._atom(expr)

    def _atom(self, expr: Expr) -> str:
        text = self.write(expr)
        return text if isinstance(expr, Symbol | Turn | Call) else f"({text})"


def free_names(symbols: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Other names for symbols that a program uses for something else."""
    symbols = set(symbols)
    used, found = set(taken) | symbols, {}
    for symbol in sorted(symbols & set(taken) | {s for s in symbols if keyword.iskeyword(s)}):
        name = f"{symbol}_"
        while name in used:
            name += "_"
        used.add(name)
        found[symbol] = name
    return found


# what both languages share


def heading(equations: Equations, what: str) -> list[str]:
    """The docstring of a module; names of robots and joints are nowhere else."""
    found = [f'"""{comment(equations.title)}: {what}, written by armdyn.', ""]
    for note in equations.notes:
        found += wrap(f"Note: {comment(note)}.", WIDTH)
    found += [f"q{i}: {comment(name)}" for i, name in enumerate(equations.joints, 1)]
    return [*found, '"""', ""]


def turned(equations: Equations, turns: Iterable[Turn], source: Source, indent: str) -> list[str]:
    """The lines that give cosines and sines their values."""
    found = []
    for turn in sorted(turns, key=lambda t: (len(turn_identifier(t)), turn_identifier(t)[::-1])):
        found += source.assigned(turn_identifier(turn), turn_call(turn, equations.offsets), indent)
    return found


def target(array: str, block: Block, line: Line) -> str:
    """The entry that is assigned to, and the one that mirrors it."""
    places = [line.place]
    if block.swap is not None:
        a, b = block.swap
        other = list(line.place)
        other[a], other[b] = other[b], other[a]
        places += [tuple(other)] if tuple(other) != line.place else []
    return " = ".join(f"{array}[{', '.join(map(str, place))}]" for place in places)
