"""LaTeX in macros that mathtext knows as well: a document that needs amsmath only, and Markdown."""

import re
import unicodedata
from fractions import Fraction

from armdyn.closed_forms.document import Block, Document, Line
from armdyn.closed_forms.notation import angle_sum, latex_angle, latex_name
from armdyn.closed_forms.printer import TEXT_OPERATORS, Notation, broken
from armdyn.closed_forms.text import constants, printable
from armdyn.closed_forms.tree import Call, Expr, Symbol
from armdyn.graph.printer import POWER, Infix

WIDTH = 74
"""Letters and digits in a line of an equation."""
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "²": "$^2$",
    "³": "$^3$",
    "≤": r"$\leq$",
} | {c: f"\\{c}" for c in "{}$&#_%"}
_INDEXED = re.compile(r"(?<!\S)(\w+)\\_([a-z]+)(\$\^2\$)?(?=[,:.]*(?:\s|$))")
"""M_ij, h_iii and qd_j² in an escaped remark."""


class _Latex(Notation):
    """Fractions with a line, and brackets around functions that are raised to a power."""

    def written(self, expr: Expr) -> Infix:
        made = super().written(expr)
        raised = isinstance(expr, Symbol) and "^" in made.text
        called = isinstance(expr, Call) and expr.function != "abs"
        return Infix(made.text, POWER) if raised or called else made

    def fraction(self, number: Fraction | float, above: list[Infix], below: list[Infix]) -> Infix:
        whole = self.chain("mul", above or [Infix("1")])
        if below:
            bottom = self.chain("mul", below).text
            if _width(whole.text) > WIDTH // 2:  # it can be broken beside a fraction, not within
                before = Infix(rf"\frac{{1}}{{{bottom}}}")
                whole = self.operation("mul", [before, whole])
            else:
                whole = Infix(rf"\frac{{{whole.text}}}{{{bottom}}}", POWER)
        front = Infix(_number(number))
        return whole if number == 1 else self.operation("mul", [front, whole])


def _number(value: Fraction | float) -> str:
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        front = "-" if value < 0 else ""
        return rf"{front}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    mantissa, e, exponent = repr(float(value)).partition("e")
    mantissa = mantissa.removesuffix(".0")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa


LATEX = _Latex(
    functions={op: f"\\{op}(" for op in ("sin", "cos", "exp", "tanh")}
    | {op: rf"\operatorname{{{op}}}(" for op in ("sgn", "sqrt")},
    operators=TEXT_OPERATORS,
    number=_number,
    symbol=latex_name,
    angle_function=lambda f: f"{f.name.lower()}_{{{latex_angle(f.angle)}}}",
    power="{}^{{{}}}".format,
    bars=True,
    direction=r"\operatorname{atan2}",
)


# the document


def latex(equations: Document) -> str:
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
        found.append(rf"\subsection*{{{escaped(block.title)}}}")
        found += [_INDEXED.sub(_formula, escaped(remark)) + ".\n" for remark in block.remarks]
        found += _equations(block, r"\begin{align*}", r"\end{align*}")
    found += [r"\subsection*{Where}", *_where(equations), r"\end{document}"]
    return "\n".join(found) + "\n"


def markdown(equations: Document) -> str:
    """A page with formulas between dollar signs."""
    plain = _markdown_text
    found = [f"# {plain(equations.title)}", "", f"$${equations.law[1]}$$", ""]
    found += [f"Note: {plain(note)}.\n" for note in equations.notes]
    for block in equations.blocks:
        found += [f"## {plain(block.title)}", "", *(f"{plain(r)}.\n" for r in block.remarks)]
        found += _equations(block, "$$\n\\begin{aligned}", "\\end{aligned}\n$$\n")
    found += ["## Where", "", "| symbol | value | meaning |", "|---|---|---|"]
    for angle in equations.angles:
        below, whole = latex_angle(angle), LATEX.write(angle_sum(angle, equations.offsets, 6))
        pair = rf"$c_{{{below}}}$, $s_{{{below}}}$"
        found.append(rf"| {pair} | | $\cos({whole})$, $\sin({whole})$ |")
    for entry in equations.legend:
        value = f"{entry.value:.6g} {entry.unit}".strip()
        found.append(f"| ${latex_name(entry.symbol)}$ | {value} | {plain(entry.text)} |")
    for i, joint in equations.numbered:
        found.append(f"| $q_{{{i}}}$ | | position of {plain(joint)} |")
    return "\n".join(found) + "\n"


def displayed(equations: Document) -> str:
    """The equations alone, as one display for a notebook."""
    rows = [rf"&{equations.law[1]}"]
    for block in equations.blocks:
        lines = _equations(block, "", "")
        rows += [rf"&\text{{{escaped(block.title)}}}", *(lines[1:2] if len(lines) > 1 else [])]
    return "$$\n\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}\n$$"


def _equations(block: Block, begin: str, end: str) -> list[str]:
    """An aligned display, long equations in several rows, and the entries that are constant."""
    rows = []
    for line in block.shown:
        first, *others = broken(LATEX.write(line.value), WIDTH, width=_width, gap=0)
        rows += [f"{left_side(line)} &= {first}", *(rf"&\quad {row}" for row in others)]
    zeros = [left_side(line) for line in block.zeros]
    if zeros and not block.shown and block.symbol:
        zeros = [_array(block.symbol)]
    for start in range(0, len(zeros), 8):
        first, *others = zeros[start : start + 8]
        rows.append(f"{first} &= " + "".join(f"{other} = " for other in others) + "0")
    found = [begin, " \\\\\n".join(rows), end] if rows else []
    constant = ", ".join(f"${left_side(line)}$" for line in constants(block))
    return [*found, f"Constant: {constant}.\n"] if constant else found


def left_side(line: Line) -> str:
    """What stands before the equals sign."""
    if not line.place and not line.index:
        return _array(line.symbol) if line.symbol.isalpha() else latex_name(line.symbol)
    array = _array(line.symbol)
    if array.endswith("_{x}"):
        return f"{array[:-1]},{line.index}}}"
    return f"{array}_{{{line.index}}}"


def _array(symbol: str) -> str:
    """An array: M, M_{x}."""
    if symbol in ("Mx", "Vx", "Gx", "Mt", "Vt", "Gt"):
        return f"{symbol[0]}_{{x}}"
    return {"detJ": r"\det J", "tau": r"\tau", "Jdqd": r"(\dot{J}\dot{q})"}.get(symbol, symbol)


def _width(text: str) -> int:
    """About how many signs are seen, those above and below at half their width."""
    small = sum(map(len, re.findall(r"[_^]\{([\w,]*)\}", text)))
    seen = len(re.sub(r"\\[a-z]+|[{}_^\s]", "", text))
    return seen - small // 2 + 2 * len(re.findall(r" [-+] |\\cdot", text))


def _formula(match: re.Match[str]) -> str:
    head = {"qd": r"\dot{q}"}.get(match[1], match[1])
    return f"${head}_{{{match[2]}}}{'^2' if match[3] else ''}$"


def _where(equations: Document) -> list[str]:
    rows = []
    for angle in equations.angles:
        below, whole = latex_angle(angle), LATEX.write(angle_sum(angle, equations.offsets, 6))
        rows.append(rf"$c_{{{below}}} = \cos({whole})$, $s_{{{below}}} = \sin({whole})$")
    for entry in equations.legend:
        value = _number(float(f"{entry.value:.6g}"))
        unit = f" {escaped(entry.unit)}" if entry.unit else ""
        text = f", {escaped(entry.text)}" if entry.text else ""
        rows.append(f"${latex_name(entry.symbol)} = {value}${unit}{text}")
    rows += [f"$q_{{{i}}}$: position of {escaped(joint)}" for i, joint in equations.numbered]
    return [" \\\\\n".join(rows)]


def _markdown_text(text: str) -> str:
    """Text of a user, in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|$&~])", r"\\\1", printable(text))


def escaped(text: str) -> str:
    """Text of a user, in which nothing is a command."""
    return "".join(
        _ESCAPES.get(c, c if c.isascii() or unicodedata.name(c, "").startswith("LATIN") else "?")
        for c in unicodedata.normalize("NFC", printable(text))
    )
