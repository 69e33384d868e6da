"""LaTeX: a document that needs amsmath only, in macros that mathtext knows as well."""

import re
import unicodedata
from fractions import Fraction

from armdyn.equations.document import Block, Equations, Line
from armdyn.equations.notation import angle_sum, latex_angle, latex_name
from armdyn.equations.text import constants, pieces, printable
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

WIDTH = 74
"""Letters and digits in a line of an equation."""
_FUNCTIONS = {"sgn": r"\operatorname{sgn}", "sqrt": r"\operatorname{sqrt}"}
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "²": "$^2$",
    "³": "$^3$",
    "≤": r"$\leq$",
} | {c: f"\\{c}" for c in "{}$&#_%"}


def formula(expr: Expr) -> str:
    """An expression in one line of mathematics."""
    match expr:
        case Number(value):
            return _number(value)
        case Symbol(name):
            return latex_name(name)
        case Turn(function, angle):
            return f"{function.lower()}_{{{latex_angle(angle)}}}"
        case Call(function, argument):
            return f"{_FUNCTIONS.get(function, chr(92) + function)}({formula(argument)})"
        case Power(base, exponent):
            return f"{_base(base)}^{{{exponent}}}"
        case Product(factors):
            return _product(factors)
        case Sum(terms):
            return " ".join(signed(terms, formula, gap=""))


def _number(value: Fraction | float) -> str:
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        front = "-" if value < 0 else ""
        return rf"{front}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    mantissa, e, exponent = repr(float(value)).partition("e")
    mantissa = mantissa.removesuffix(".0")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa


def _product(factors: tuple[Expr, ...]) -> str:
    above, below = quotient(factors)
    front = ""
    if isinstance(above[0], Number):
        number, *above = above
        front = "-" if number.value == -1 else _number(number.value)  # type: ignore[union-attr]
        front = "" if number.value == 1 else front  # type: ignore[union-attr]
    if not below:
        return _spaced(front, " ".join(map(_factor, above)))
    single = len(above) == 1
    top = formula(above[0]) if single else " ".join(map(_factor, above)) or "1"
    bottom = formula(below[0]) if len(below) == 1 else " ".join(map(_factor, below))
    if _width(top) > WIDTH // 2:  # it can be broken beside a fraction, not within
        return _spaced(front, rf"\frac{{1}}{{{bottom}}} {' '.join(map(_factor, above))}")
    return _spaced(front, rf"\frac{{{top}}}{{{bottom}}}")


def _spaced(front: str, text: str) -> str:
    return front + ("" if front in ("", "-") else " ") + text


def _factor(expr: Expr) -> str:
    return f"({formula(expr)})" if isinstance(expr, Sum) else formula(expr)


def _base(expr: Expr) -> str:
    inside = formula(expr)
    plain = isinstance(expr, Turn) or (isinstance(expr, Symbol) and "^" not in inside)
    return inside if plain else f"({inside})"


# the document


def latex(equations: Equations) -> str:
    """A whole document."""
    found = [
        r"\documentclass{article}",
        r"\usepackage{amsmath}",
        r"\allowdisplaybreaks",
        r"\setlength{\parindent}{0pt}",
        r"\setlength{\textwidth}{16cm}",
        r"\setlength{\oddsidemargin}{0pt}",
        r"\begin{document}",
        rf"\section*{{{escaped(equations.title)}}}",
        rf"\[ {equations.law[1]} \]",
    ]
    found += [f"Note: {escaped(note)}.\n" for note in equations.notes]
    for block in equations.blocks:
        found += [rf"\subsection*{{{escaped(block.title)}}}", *_block(block)]
    found += [r"\subsection*{Where}", *_where(equations), r"\end{document}"]
    return "\n".join(found) + "\n"


def _block(block: Block) -> list[str]:
    found = [remark_in_mathematics(remark) + ".\n" for remark in block.remarks]
    rows = aligned(block)
    if rows:
        found += [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]
    if constant := constants(block):
        found.append("Constant: " + ", ".join(f"${name(line)}$" for line in constant) + ".\n")
    return found


def aligned(block: Block) -> list[str]:
    """The rows of an aligned display, long equations in several."""
    rows = []
    for line in block.shown:
        first, *others = _folded(formula(line.value))
        rows += [f"{name(line)} &= {first}", *(rf"&\quad {row}" for row in others)]
    zeros = [name(line) for line in block.zeros]
    if zeros and not block.shown and block.symbol:
        return [f"{latex_array(block.symbol)} &= 0"]
    for start in range(0, len(zeros), 8):
        first, *others = zeros[start : start + 8]
        rows.append(f"{first} &= " + "".join(f"{other} = " for other in others) + "0")
    return rows


def name(line: Line) -> str:
    """What stands before the equals sign."""
    if not line.place and not line.index:
        return latex_array(line.symbol) if line.symbol.isalpha() else latex_name(line.symbol)
    array = latex_array(line.symbol)
    if array.endswith("_{x}"):
        return f"{array[:-1]},{line.index}}}"
    return f"{array}_{{{line.index}}}"


def latex_array(symbol: str) -> str:
    """An array: M, M_{x}."""
    if symbol in ("Mx", "Vx", "Gx"):
        return f"{symbol[0]}_{{x}}"
    return {"detJ": r"\det J", "tau": r"\tau", "Jdqd": r"(\dot{J}\dot{q})"}.get(symbol, symbol)


def _folded(text: str) -> list[str]:
    rows = [""]
    for part in pieces(text, lambda piece: _width(piece) <= WIDTH):
        if rows[-1] and _width(rows[-1]) + _width(part) > WIDTH:
            rows.append(part)
        else:
            rows[-1] += (" " if rows[-1] else "") + part
    return rows


def _width(text: str) -> int:
    """About how many signs are seen, those above and below at half their width."""
    small = sum(map(len, re.findall(r"[_^]\{([\w,]*)\}", text)))
    seen = len(re.sub(r"\\[a-z]+|[{}_^\s]", "", text))
    return seen - small // 2 + 2 * len(re.findall(r" [-+] |\\cdot", text))


def remark_in_mathematics(remark: str) -> str:
    """A remark whose M_ij, h_iii and qd_j² are formulas."""
    return " ".join(map(_word_in_mathematics, escaped(remark).split(" ")))


def _word_in_mathematics(word: str) -> str:
    bare = word.rstrip(",:.")
    match = re.fullmatch(r"(\w+)\\_([a-z]+)(\$\^2\$)?", bare)
    if not match:
        return word
    head = {"qd": r"\dot{q}"}.get(match[1], match[1])
    return f"${head}_{{{match[2]}}}{'^2' if match[3] else ''}$" + word[len(bare) :]


def _where(equations: Equations) -> list[str]:
    rows = []
    for angle in equations.angles:
        below, whole = latex_angle(angle), formula(angle_sum(angle, equations.offsets, 6))
        rows.append(rf"$c_{{{below}}} = \cos({whole})$, $s_{{{below}}} = \sin({whole})$")
    for entry in equations.legend:
        value = _number(float(f"{entry.value:.6g}"))
        unit = f" {escaped(entry.unit)}" if entry.unit else ""
        text = f", {escaped(entry.text)}" if entry.text else ""
        rows.append(f"${latex_name(entry.symbol)} = {value}${unit}{text}")
    rows += [
        f"$q_{{{i}}}$: position of {escaped(joint)}" for i, joint in enumerate(equations.joints, 1)
    ]
    return [" \\\\\n".join(rows)]


def escaped(text: str) -> str:
    """Text of a user, in which nothing is a command."""
    found = []
    for c in unicodedata.normalize("NFC", printable(text)):
        if c in _ESCAPES:
            found.append(_ESCAPES[c])
        else:
            found.append(c if c.isascii() or unicodedata.name(c, "").startswith("LATIN") else "?")
    return "".join(found)
