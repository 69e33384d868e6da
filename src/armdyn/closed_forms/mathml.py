"""MathML, which browsers show without a script: expressions, names, text as formulas, numbers."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html import escape

import numpy as np

from armdyn.closed_forms import tree
from armdyn.closed_forms.document import Document
from armdyn.closed_forms.printer import LATEX, angle_call, latex_name
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
