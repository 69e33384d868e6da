"""Equations as pages: plain text, LaTeX in macros that mathtext knows as well, Markdown, HTML.

In text it is m2 a1 x2 C2, squares as ², long equations in several lines; the LaTeX document needs
amsmath only; a piece of HTML has MathML, which is shown without a script.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html import escape
from textwrap import wrap

import numpy as np

from armdyn.closed_forms import tree
from armdyn.closed_forms.document import Block, Document, Line
from armdyn.closed_forms.printer import (
    LATEX,
    SIGNS,
    TEXT_OPERATORS,
    Notation,
    angle_call,
    angle_name,
    angle_sum,
    broken,
    exact_number,
    latex_angle,
    latex_name,
    latex_number,
    latex_width,
)
from armdyn.closed_forms.tree import AngleFunction, Expr

_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "theta": "θ", "lambda": "λ", "mu": "μ",
    "rho": "ρ", "phi": "φ", "psi": "ψ", "omega": "ω", "tau": "τ", "sum": "Σ", "cdot": "·",
}  # fmt: skip
_ACCENTS = {r"\dot": "˙", r"\ddot": "¨", "\u0307": "˙", "\u0308": "¨"}
_TOKEN = re.compile(
    r'"(?P<words>[^"]*)"|\\(?:mathit|operatorname)\{(?P<word>[^}]*)\}|\\(?P<command>[a-z]+)|'
    r"(?P<number>\d[\d.]*(?:e−?\d+)?)|(?P<letter>[^\W\d_][\u0300-\u036f]*)|"
    r"(?P<script>[_^](?:\{[^{}\\]*\}|\w[\w,]*|\*))|[_^]\{|\S"
)


def name(symbol: str) -> str:
    """A symbol: m with 2 below it, q with a dot."""
    return from_latex(latex_name(symbol))


def mathml(expr: Expr) -> str:
    """An expression, to be put into a formula."""
    return from_latex(LATEX.write(expr))


def from_latex(text: str) -> str:
    r"""LaTeX as pages have it, to be put into a formula; also "τ_i = Σ_j D_ij q̈_j".

    Words are in quotes.
    """
    return _row(_TOKEN.finditer(text), "")


def _row(tokens: Iterator[re.Match[str]], end: str) -> str:
    """The elements before a token."""
    row: list[str] = []
    for token in tokens:
        sign = token[0]
        if sign == end:
            break
        if sign[0] in "_^":
            letters = sign[1:].strip("{}")
            kind = "mi" if letters.isalpha() else "mn"
            short = f"<{kind}>{_true_minus(letters)}</{kind}>"
            script = short if token["script"] else f"<mrow>{_row(tokens, '}')}</mrow>"
            kind = "msub" if sign[0] == "_" else "msup"
            row[-1:] = [f"<{kind}>{row[-1]}{script}</{kind}>"]
        elif sign == "(":
            row.append(f"<mrow>{_operator('(')}{_row(tokens, ')')}{_operator(')')}</mrow>")
        elif sign == r"\frac":
            row.append(f"<mfrac>{_group(tokens)}{_group(tokens)}</mfrac>")
        elif sign in _ACCENTS:
            row.append(_accented(_group(tokens), sign))
        else:
            row.append(_leaf(token))
    return "".join(row)


def _group(tokens: Iterator[re.Match[str]]) -> str:
    """What stands between the next braces."""
    next(tokens)
    return f"<mrow>{_row(tokens, '}')}</mrow>"


def _leaf(token: re.Match[str]) -> str:
    if token["words"] is not None:
        return f"<mtext>{escape(token['words'])}</mtext>"
    if token["word"] is not None:
        look = " mathvariant='italic'" if token[0].startswith(r"\mathit") else ""
        return f"<mi{look}>{escape(token['word'])}</mi>"
    if token["number"]:
        return f"<mn>{token['number']}</mn>"
    command, letter = token["command"], token["letter"]
    sign = _SIGNS.get(command, command) if command else letter or token[0]
    if sign in "Σ∂·" or not (command or letter):
        return _operator(sign)
    if command:
        return f"<mi>{sign}</mi>"
    return _accented(f"<mi>{letter[0]}</mi>", *letter[1:])


def _accented(drawn: str, *accents: str) -> str:
    for accent in accents:
        over = _ACCENTS.get(accent, accent)
        drawn = f"<mover accent='true'>{drawn}<mo>{over}</mo></mover>"
    return drawn


def _operator(sign: str) -> str:
    fence = " stretchy='false'" if sign in "()|" else ""
    return f"<mo{fence}>{_true_minus(sign)}</mo>"


def _true_minus(text: str) -> str:
    return escape(text.replace("-", "−"))


def formula(content: str, block: bool = False) -> str:
    """A formula of MathML that stands in a page."""
    display = " display='block'" if block else ""
    return (
        f"<math xmlns='http://www.w3.org/1998/Math/MathML'{display}><mrow>{content}</mrow></math>"
    )


_NUMPY = {"sgn": "sign", "atan2": "arctan2"}
"""Functions that NumPy calls by another name."""


def evaluated(equations: Document, expr: Expr, values: Mapping[str, float]) -> float:
    """The value of an expression for the values of its parameters, positions and velocities."""

    def value(part: Expr) -> float:
        return evaluated(equations, part, values)

    match expr:
        case tree.Number(number):
            return float(number)
        case tree.Symbol(symbol):
            return float(values[symbol])
        case AngleFunction():
            return value(angle_call(expr, equations.offsets))
        case tree.Call(function, arguments):
            return float(getattr(np, _NUMPY.get(function, function))(*map(value, arguments)))
        case tree.Power(base, exponent):
            return float(value(base) ** exponent)
        case tree.Product(factors):
            return float(np.prod([value(factor) for factor in factors]))
        case tree.Sum(terms):
            return float(sum(value(term) for term in terms))
    raise TypeError(f"{expr!r} is no expression")


def substituted(
    equations: Document,
    expr: Expr,
    values: Mapping[str, float],
    number: Callable[[float], str] = "{:.3g}".format,
) -> str:
    """An expression with a number in place of each symbol, cosine and sine, as MathML."""

    def written(value: float) -> str:
        return f"({number(value)})" if value < 0 else number(value)

    numeric = replace(
        LATEX,
        symbol=lambda symbol: written(values[symbol]),
        angle_function=lambda function: written(evaluated(equations, function, values)),
        operators={**LATEX.operators, "mul": r" \cdot "},
    )
    return from_latex(numeric.write(expr))


WIDTH = 96
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _raised(base: str, exponent: int | str) -> str:
    """A small whole exponent, or any other behind a caret."""
    digits = str(exponent)
    whole = digits.removeprefix("-").isdigit()
    return base + (digits.translate(_RAISED) if whole else f"^{digits}")


TEXT = Notation(
    operators=TEXT_OPERATORS,
    number=lambda value: exact_number(value).removesuffix(".0"),
    angle_function=lambda f: f.name + angle_name(f.angle),
    power=_raised,
    bars=True,
)


def text(equations: Document) -> str:
    """The equations to read on a terminal."""
    page = [equations.title, "=" * len(equations.title), "", equations.law[0]]
    for note in equations.notes:
        page += wrap(f"Note: {note}.", WIDTH, subsequent_indent="      ")
    for block in equations.blocks:
        page += ["", block.title, "-" * len(block.title), *_block(block)]
    page += _where(equations)
    return "\n".join(page) + "\n"


def _block(block: Block) -> list[str]:
    lines = [f"{remark}." for remark in block.remarks]
    for line in block.shown:
        lines += _folded(f"{line.name} = ", TEXT.write(line.value))
    if block.zeros:  # M12 = M13 = 0, or V = 0 where nothing is left
        names = [line.name for line in block.zeros]
        all_zero = block.symbol and not block.shown
        lines += _folded("", " = ".join([block.symbol] if all_zero else names) + " = 0", sign="=")
    if constant := constants(block):
        lines += _folded("Constant: ", ", ".join(line.name for line in constant) + ".", sign=",")
    return lines


def constants(block: Block) -> list[Line]:
    """Entries that are constant, where others are not."""
    if not block.shape or block.arguments == ("qd",):
        return []
    return [line for line in block.shown if line.constant]


def _where(equations: Document) -> list[str]:
    rows = []
    for angle in equations.angles:
        name = angle_name(angle)
        whole = TEXT.write(angle_sum(angle, equations.offsets, 6))
        rows.append((f"C{name}, S{name}", f"cosine and sine of {whole}"))
    for entry in equations.legend:
        value = f"{entry.value:.6g} {entry.unit}".rstrip()
        rows.append((entry.symbol, f"{value:<18} {entry.text}".rstrip()))
    for (i, name), unit in zip(equations.numbered, equations.units, strict=True):
        passive = ", a passive joint" if i in equations.passive else ""
        rows.append((f"q{i}", f"position of {printable(name)} [{unit}]{passive}"))
    width = max(len(left) for left, _ in rows)
    return ["", "Where", "-----", *(f"{left:<{width}}  {right}" for left, right in rows)]


def printable(name: str) -> str:
    """A name of a user in one line, without control characters."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(name.split()))


def _folded(head: str, text: str, sign: str = "") -> list[str]:
    """Text behind a head, in several lines where it is long."""
    first, *others = broken(text, WIDTH - len(head), (sign,) if sign else SIGNS)
    return [head + first, *(" " * len(head) + row for row in others)]


LATEX_WIDTH = 74
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


BROKEN = replace(LATEX, widest=LATEX_WIDTH // 2)
"""LaTeX in which what is above the line of a fraction can be broken into several rows."""


# the document


def latex(equations: Document) -> str:
    """A whole document."""
    page = [
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
    page += [f"Note: {escaped(note)}.\n" for note in equations.notes]
    for block in equations.blocks:
        page.append(rf"\subsection*{{{escaped(block.title)}}}")
        page += [_INDEXED.sub(_formula, escaped(remark)) + ".\n" for remark in block.remarks]
        page += _equations(block, r"\begin{align*}", r"\end{align*}")
    rows = (
        symbol + (f" = {value}" if value else "") + (f", {meaning}" if meaning else "")
        for symbol, value, meaning in _symbols(equations, escaped)
    )
    page += [r"\subsection*{Where}", " \\\\\n".join(rows), r"\end{document}"]
    return "\n".join(page) + "\n"


def markdown(equations: Document) -> str:
    """A page with formulas between dollar signs."""
    plain = _markdown_text
    page = [f"# {plain(equations.title)}", "", f"$${equations.law[1]}$$", ""]
    page += [f"Note: {plain(note)}.\n" for note in equations.notes]
    for block in equations.blocks:
        page += [f"## {plain(block.title)}", "", *(f"{plain(r)}.\n" for r in block.remarks)]
        page += _equations(block, "$$\n\\begin{aligned}", "\\end{aligned}\n$$\n")
    page += ["## Where", "", "| symbol | value | meaning |", "|---|---|---|"]
    page += [f"| {' | '.join(row)} |" for row in _symbols(equations, plain)]
    return "\n".join(page) + "\n"


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
        first, *others = broken(BROKEN.write(line.value), LATEX_WIDTH, width=latex_width, gap=0)
        rows += [f"{left_side(line)} &= {first}", *(rf"&\quad {row}" for row in others)]
    zeros = [left_side(line) for line in block.zeros]
    if zeros and not block.shown and block.symbol:
        zeros = [_array(block.symbol)]
    for start in range(0, len(zeros), 8):
        first, *others = zeros[start : start + 8]
        rows.append(f"{first} &= " + "".join(f"{other} = " for other in others) + "0")
    environment = [begin, " \\\\\n".join(rows), end] if rows else []
    constant = ", ".join(f"${left_side(line)}$" for line in constants(block))
    return [*environment, f"Constant: {constant}.\n"] if constant else environment


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


def _formula(match: re.Match[str]) -> str:
    head = {"qd": r"\dot{q}"}.get(match[1], match[1])
    return f"${head}_{{{match[2]}}}{'^2' if match[3] else ''}$"


def _symbols(equations: Document, plain: Callable[[str], str]) -> Iterator[tuple[str, str, str]]:
    """Symbols, values and meanings of what is not explained yet, formulas between dollar signs."""
    for angle in equations.angles:
        below = latex_angle(angle)
        whole = LATEX.write(angle_sum(angle, equations.offsets, 6))
        yield rf"$c_{{{below}}}$, $s_{{{below}}}$", rf"$\cos({whole})$, $\sin({whole})$", ""
    for entry in equations.legend:
        value = f"${latex_number(float(f'{entry.value:.6g}'))}$ {plain(entry.unit)}".rstrip()
        yield f"${latex_name(entry.symbol)}$", value, plain(entry.text)
    for i, joint in equations.numbered:
        yield f"$q_{{{i}}}$", "", f"position of {plain(joint)}"


def _markdown_text(text: str) -> str:
    """Text of a user, in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|$&~])", r"\\\1", printable(text))


def escaped(text: str) -> str:
    """Text of a user, in which nothing is a command."""
    return "".join(
        _ESCAPES.get(c, c if c.isascii() or unicodedata.name(c, "").startswith("LATIN") else "?")
        for c in unicodedata.normalize("NFC", printable(text))
    )


def html(equations: Document) -> str:
    """The law, the blocks and what the symbols are."""
    parts = [f"<div><b>{escape(equations.title)}</b></div>"]
    parts += [f"<div>{formula(from_latex(equations.law[1]))}</div>"]
    parts += [f"<div>Note: {escape(note)}.</div>" for note in equations.notes]
    for block in equations.blocks:
        parts += [f"<div style='margin-top:0.6em'><i>{escape(block.title)}</i></div>"]
        parts += _lines(block)
    return "".join([*parts, where_html(equations)])


def where_html(equations: Document) -> str:
    """What the symbols are, as a table to be opened."""
    cells = ("</td><td>".join(row) for row in _symbols(equations, _html_text))
    table = "".join(f"<tr><td>{row}</td></tr>" for row in cells)
    rows = re.sub(r"\$(.*?)\$", lambda match: formula(from_latex(match[1])), table)
    return f"<details><summary>where</summary><table>{rows}</table></details>" if rows else ""


def _html_text(text: str) -> str:
    """Text of a user, in which nothing is markup or a formula."""
    return escape(text).replace("$", "&#36;")


def _lines(block: Block) -> Iterator[str]:
    yield "".join(f"<div>{escape(remark)}.</div>" for remark in block.remarks)
    for line in block.shown:
        drawn = f"{from_latex(left_side(line))}<mo>=</mo>{mathml(line.value)}"
        tall = formula(f"<mstyle displaystyle='true'>{drawn}</mstyle>")
        yield f"<div style='overflow:auto hidden;padding:4px 0'>{tall}</div>"
    for word, chosen in (("Zero", block.zeros), ("Constant", constants(block))):
        names = ", ".join(formula(from_latex(left_side(line))) for line in chosen)
        yield f"<div>{word}: {names}.</div>" if names else ""
