"""Expressions of equations as text: how things are called, and one printer, a table a language.

A cosine is C23 in text, c_{23} in LaTeX and C23 as a name of a program.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import inf

from armdyn.closed_forms import tree
from armdyn.closed_forms.document import index
from armdyn.closed_forms.readable import Angle
from armdyn.closed_forms.tree import ZERO, AngleFunction, Call, Expr, Number, Symbol, product, total
from armdyn.graph.printer import NAME, OPERATORS, POWER, PRODUCT, SUM, Infix, Language

_GREEK = ("alpha", "beta", "gamma", "delta", "theta", "lambda", "mu", "rho", "phi", "psi", "omega")
_HEADS = {"q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}", "tau": r"\tau"}


def angle_name(angle: Angle) -> str:
    """What stands behind C and S: 23 for q2 + q3, 2-3 for q2 - q3, alpha1 for a constant."""
    if isinstance(angle, str):
        return angle
    if any(abs(sign) != 1 for _, sign in angle):
        return "".join(f"{sign:+d}q{joint}" for joint, sign in angle).removeprefix("+")
    if all(sign > 0 for _, sign in angle):
        return index(*(joint for joint, _ in angle))
    return "".join(f"{sign * joint:+d}" for joint, sign in angle).removeprefix("+")


def angle_identifier(function: AngleFunction) -> str:
    """A cosine or sine as a name of a program."""
    name = angle_name(function.angle)
    return function.name + name.replace(",", "_").replace("-", "m").replace("+", "p")


def angle_sum(angle: Angle, offsets: Mapping[int, float], digits: int = 17) -> Expr:
    """What an angle adds up, with the offset of each joint by its number."""
    if isinstance(angle, str):
        return Symbol(angle)
    terms: list[Expr] = [product([Number(sign), Symbol(f"q{joint}")]) for joint, sign in angle]
    exact = float(sum(sign * offsets.get(joint, 0.0) for joint, sign in angle))
    constant = float(f"{exact:.{digits}g}")
    return total([*terms, Number(constant) if constant else ZERO])


def angle_call(function: AngleFunction, offsets: Mapping[int, float]) -> Expr:
    """What a cosine or sine stands for: cos(q2 + q3)."""
    whole = angle_sum(function.angle, offsets)
    return Call({"C": "cos", "S": "sin"}[function.name], (whole,))


def latex_name(name: str) -> str:
    r"""A symbol in LaTeX: m_{2}, I_{xx,3}, \dot{q}_{1}."""
    if match := re.fullmatch(r"(qdd|qd|q|tau)(\d+)", name):
        return f"{_HEADS[match[1]]}_{{{match[2]}}}"
    if match := re.fullmatch(r"([CS])(\d\w*)", name):
        return f"{match[1].lower()}_{{{match[2].replace('_', ',')}}}"
    if match := re.fullmatch(r"([A-Za-z]+?)(\d+)(?:_(\d+))?", name):
        return _word(match[1], match[2] + (f",{match[3]}" if match[3] else ""))
    if match := re.fullmatch(r"([A-Za-z]+)(\d+[a-z]+)", name):
        return _word(match[1], match[2])
    head, _, tail = name.partition("_")
    return _word(head, tail.replace("_", ","))


def _word(word: str, number: str) -> str:
    if word in _GREEK:
        head, index = f"\\{word}", ""
    elif re.fullmatch(r"[IJFagvxyz][a-z]{1,2}", word):
        head, index = word[0], word[1:]
    else:
        head, index = word if len(word) == 1 else rf"\mathit{{{word}}}", ""
    below = ",".join(part for part in (index, number) if part)
    return f"{head}_{{{below}}}" if below else head


def latex_angle(angle: Angle) -> str:
    """What stands below c and s in LaTeX."""
    return latex_name(angle) if isinstance(angle, str) else angle_name(angle)


SIGNS = ("+", "-")
DEEPEST_BREAK = 3
"""Brackets in which an equation is still broken."""


def exact_number(value: Fraction | float) -> str:
    """A fraction, or a float that reads back the same."""
    return str(value) if isinstance(value, Fraction) else repr(float(value))


@dataclass(frozen=True)
class Notation(Language):
    """How a language writes the expressions of equations."""

    number: Callable[[Fraction | float], str] = exact_number
    symbol: Callable[[str], str] = str
    angle_function: Callable[[AngleFunction], str] = angle_identifier
    power: Callable[[str, int | str], str] = "{}**{}".format
    bars: bool = False
    """Whether an absolute value is written between bars."""

    def write(self, expr: Expr) -> str:
        """An expression in one line."""
        return self.written(expr).text

    def written(self, expr: Expr) -> Infix:
        """An expression, and how tightly it holds together."""
        match expr:
            case tree.Number(value):
                return Infix(self.number(value), SUM if value < 0 else PRODUCT)
            case tree.Symbol(name):
                return Infix(self.symbol(name))
            case AngleFunction():
                return Infix(self.angle_function(expr))
            case tree.Call("abs", (argument,)) if self.bars:
                return Infix(f"|{self.write(argument)}|")
            case tree.Call("power", (base, over)):
                return Infix(self.power(self.written(base).within(NAME), self.write(over)), POWER)
            case tree.Call(function, arguments):
                return self.operation(function, [*map(self.written, arguments)])
            case tree.Power(base, exponent):
                return Infix(self.power(self.written(base).within(NAME), exponent), POWER)
            case tree.Product(factors):
                return self._product(factors)
            case tree.Sum((first, *others)):
                result = self.written(first)
                for term in others:
                    minus = tree.sign(term) < 0
                    size = self.written(tree.negated(term) if minus else term)
                    result = self.operation("sub" if minus else "add", [result, size])
                return result
        raise TypeError(f"{expr!r} is no expression")

    def fraction(self, number: Fraction | float, above: list[Infix], below: list[Infix]) -> Infix:
        """A positive number times factors, over divisors; the number's denominator divides last."""
        if isinstance(number, Fraction) and above:
            divisor = [Infix(str(number.denominator))] if number.denominator != 1 else []
            number, below = Fraction(number.numerator), [*divisor, *below]
        if number != 1 or not above:
            above = [Infix(self.number(number), PRODUCT), *above]
        return self.chain("div", [self.chain("mul", above), *below])

    def chain(self, op: str, operands: list[Infix]) -> Infix:
        """An operation on several operands, from left to right."""
        return reduce(lambda a, b: self.operation(op, [a, b]), operands)

    def _product(self, factors: tuple[Expr, ...]) -> Infix:
        below = [f for f in factors if isinstance(f, tree.Power) and f.exponent < 0]
        above = [f for f in factors if f not in below]
        number: Fraction | float = Fraction(1)
        if above and isinstance(above[0], tree.Number):
            number, above = above[0].value, above[1:]
        divisors = [self.written(tree.power(f.base, -f.exponent)) for f in below]
        size = -number if number < 0 else number
        whole = self.fraction(size, [*map(self.written, above)], divisors)
        return self.operation("neg", [whole]) if number < 0 else whole


SOURCE_OPERATORS = OPERATORS | {"mul": "*", "div": "/"}
TEXT_OPERATORS = OPERATORS | {"mul": " ", "div": "/"}


def latex_number(value: Fraction | float) -> str:
    """A number in LaTeX: a fraction with a line, a float with a power of ten."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        front = "-" if value < 0 else ""
        return rf"{front}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    mantissa, e, exponent = repr(float(value)).partition("e")
    mantissa = mantissa.removesuffix(".0")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa


def latex_width(text: str) -> int:
    """About how many signs are seen, those above and below at half their width."""
    small = sum(map(len, re.findall(r"[_^]\{([\w,]*)\}", text)))
    seen = len(re.sub(r"\\[a-z]+|[{}_^\s]", "", text))
    return seen - small // 2 + 2 * len(re.findall(r" [-+] |\\cdot", text))


@dataclass(frozen=True)
class Latex(Notation):
    """LaTeX: a line in fractions, and brackets around functions that are raised to a power."""

    functions: Mapping[str, str] = field(
        default_factory=lambda: (
            {op: f"\\{op}(" for op in ("sin", "cos", "exp", "tanh")}
            | {op: rf"\operatorname{{{op}}}(" for op in ("sgn", "sqrt", "atan2")}
        )
    )
    operators: Mapping[str, str] = field(default_factory=lambda: TEXT_OPERATORS)
    number: Callable[[Fraction | float], str] = latex_number
    symbol: Callable[[str], str] = latex_name
    angle_function: Callable[[AngleFunction], str] = lambda f: (
        f"{f.name.lower()}_{{{latex_angle(f.angle)}}}"
    )
    power: Callable[[str, int | str], str] = "{}^{{{}}}".format
    bars: bool = True
    widest: float = inf
    """Width of what stands above a line; what is wider stands beside it, where it can be broken."""

    def written(self, expr: Expr) -> Infix:
        """An expression, and how tightly it holds together."""
        whole = super().written(expr)
        called = isinstance(expr, Call) and expr.function != "abs"
        return Infix(whole.text, POWER) if called else whole

    def fraction(self, number: Fraction | float, above: list[Infix], below: list[Infix]) -> Infix:
        """The same with the number before the line."""
        whole = self.chain("mul", above or [Infix("1")])
        if below:
            wide = latex_width(whole.text) > self.widest
            top = "1" if wide else whole.text
            bottom = self.chain("mul", below).text
            line = Infix(rf"\frac{{{top}}}{{{bottom}}}", POWER)
            whole = self.operation("mul", [line, whole]) if wide else line
        front = Infix(self.number(number))
        return whole if number == 1 else self.operation("mul", [front, whole])


LATEX = Latex()


def broken(
    text: str,
    room: int,
    signs: tuple[str, ...] = SIGNS,
    width: Callable[[str], int] = len,
    gap: int = 1,
) -> list[str]:
    """Text in rows that have room, broken before signs, within brackets only if need be."""
    rows = [""]
    for piece in _pieces(text, lambda p: width(p) <= room, signs):
        if rows[-1] and width(rows[-1]) + gap + width(piece) > room:
            rows.append(piece)
        else:
            rows[-1] += (" " if rows[-1] else "") + piece
    return rows


def _pieces(
    text: str, fits: Callable[[str], bool], signs: tuple[str, ...], depth: int = 0
) -> Iterator[str]:
    """Text cut before signs, within more and more brackets until each piece fits in a line."""
    for piece in _cut(text, signs, depth):
        if fits(piece) or depth == DEEPEST_BREAK:
            yield piece
        else:
            yield from _pieces(piece, fits, signs, depth + 1)


def _cut(text: str, signs: tuple[str, ...], depth: int) -> list[str]:
    """Text cut before the signs that are in so many brackets at most, and in no braces."""
    found, level, braces = [""], 0, 0
    for word in text.split(" "):
        if word in signs and found[-1] and level <= depth and not braces:
            found.append(word)
        else:
            found[-1] += (" " if found[-1] else "") + word
            found += [""] if word.endswith(",") and "," in signs else []
        level += word.count("(") - word.count(")")
        braces += word.count("{") - word.count("}")
    return [piece for piece in found if piece]
