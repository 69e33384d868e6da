"""Plain text: m2 a1 x2 C2, squares as ², long equations in several lines."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from textwrap import wrap

from armdyn.equations.document import Block, Equations, Line
from armdyn.equations.notation import angle_name, angle_sum, turn_name
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
SIGNS = ("+", "-")
DEEPEST = 3
"""Brackets in which an equation is still broken."""
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
            return "".join(signed(terms, plain))


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
    above, under = quotient(factors)
    for divisor in under:
        below += "/" + (plain(divisor) if isinstance(divisor, Power) else _atom(divisor))
    written = " ".join(map(_factor, above)) or "1"
    return front + written + below


def _factor(expr: Expr) -> str:
    return f"({plain(expr)})" if isinstance(expr, Sum) else plain(expr)


def _atom(expr: Expr) -> str:
    inside = plain(expr)
    return inside if isinstance(expr, Symbol | Turn | Call) else f"({inside})"


# the document


def text(equations: Equations) -> str:
    """The equations to read on a terminal."""
    found = [equations.title, "=" * len(equations.title), "", equations.law[0]]
    for note in equations.notes:
        found += wrap(f"Note: {note}.", WIDTH, subsequent_indent="      ")
    for block in equations.blocks:
        found += ["", block.title, "-" * len(block.title), *_block(block)]
    found += _where(equations)
    return "\n".join(found) + "\n"


def _block(block: Block) -> list[str]:
    found = [f"{remark}." for remark in block.remarks]
    for line in block.shown:
        found += folded(f"{line.name} = ", plain(line.value))
    if block.zeros:
        found += folded("", zero_statement(block, [line.name for line in block.zeros]), sign="=")
    if constant := constants(block):
        found += folded("Constant: ", ", ".join(line.name for line in constant) + ".", sign=",")
    return found


def zero_statement(block: Block, names: list[str]) -> str:
    """M12 = M13 = 0, or V = 0 where nothing is left."""
    nothing = not block.shown and block.symbol
    return f"{block.symbol if nothing else ' = '.join(names)} = 0"


def constants(block: Block) -> list[Line]:
    """Entries that are constant, where others are not."""
    if not block.shape or block.arguments == ("qd",):
        return []
    return [line for line in block.shown if line.constant]


def _where(equations: Equations) -> list[str]:
    rows = []
    for angle in equations.angles:
        name, whole = angle_name(angle), plain(angle_sum(angle, equations.offsets, 6))
        rows.append((f"C{name}, S{name}", f"cosine and sine of {whole}"))
    for entry in equations.legend:
        value = f"{entry.value:.6g} {entry.unit}".rstrip()
        rows.append((entry.symbol, f"{value:<18} {entry.text}".rstrip()))
    for i, (name, unit) in enumerate(zip(equations.joints, equations.units, strict=True), 1):
        rows.append((f"q{i}", f"position of {printable(name)} [{unit}]"))
    width = max(len(left) for left, _ in rows)
    return ["", "Where", "-----", *(f"{left:<{width}}  {right}" for left, right in rows)]


def printable(name: str) -> str:
    """A name of a user in one line, without control characters."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(name.split()))


def folded(head: str, text: str, width: int = WIDTH, sign: str = "") -> list[str]:
    """Text behind a head, broken at signs, within brackets only if need be."""
    found, indent = [head], " " * len(head)
    for part in pieces(text, lambda p: len(p) <= width - len(head), (sign,) if sign else SIGNS):
        if found == [head]:
            found[0] += part
        elif len(found[-1]) + 1 + len(part) <= width:
            found[-1] += f" {part}"
        else:
            found.append(indent + part)
    return found


def pieces(
    text: str, fits: Callable[[str], bool], signs: tuple[str, ...] = SIGNS, depth: int = 0
) -> Iterator[str]:
    """Text cut before signs, within more and more brackets until each piece fits in a line."""
    for piece in _cut(text, signs, depth):
        if fits(piece) or depth == DEEPEST:
            yield piece
        else:
            yield from pieces(piece, fits, signs, depth + 1)


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
