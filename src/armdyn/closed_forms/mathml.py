"""MathML, which browsers show without a script: expressions, names, text as formulas, numbers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from html import escape

import numpy as np

from armdyn.closed_forms import tree
from armdyn.closed_forms.document import Document
from armdyn.closed_forms.printer import (
    TEXT_OPERATORS,
    DrawnNotation,
    angle_sum,
    latex_angle,
    latex_name,
)
from armdyn.closed_forms.tree import AngleFunction, Expr

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "theta": "θ", "lambda": "λ",
    "mu": "μ", "rho": "ρ", "phi": "φ", "psi": "ψ", "omega": "ω", "tau": "τ",
}  # fmt: skip
_TOKEN = re.compile(r"(<m[ino]\b[^>]*>[^<]*</m[ino]>|<[^>]+>)|([^<]+)")
_PIECE = re.compile(
    r'"(?P<words>[^"]*)"|(?P<number>\d+)|'
    r"(?P<letter>[^\W\d_][\u0300-\u036f]*|∂)(?:_(?P<below>[\w,]+))?(?:\^(?P<above>[\wᵀ*]))?|"
    r"(?P<sign>\S)"
)
_WORDS = {r"\det J": '"det" J', r"(\dot{J}\dot{q})": "(J\u0307q\u0307)"}
_COMBINING = {"\u0307": "˙", "\u0308": "¨"}
_ACCENTS = {r"\dot": "˙", r"\ddot": "¨"}


def _number(value: Fraction | float) -> str:
    if isinstance(value, Fraction):
        front = "<mo>−</mo>" if value < 0 else ""
        top = f"<mn>{abs(value.numerator)}</mn>"
        if value.denominator == 1:
            return front + top
        return f"{front}<mfrac>{top}<mn>{value.denominator}</mn></mfrac>"
    return f"<mn>{f'{value:g}'.replace('-', '−')}</mn>"


def name(symbol: str) -> str:
    """A symbol: m with 2 below it, q with a dot."""
    return from_latex(latex_name(symbol))


def from_latex(text: str) -> str:
    r"""A name of LaTeX: head_{below}, head one of x, \tau, \dot{q}, \mathit{word}."""
    head, _, below = text.partition("_{")
    if head in _WORDS:
        drawn = f"<mrow>{plain(_WORDS[head])}</mrow>"
    elif match := re.fullmatch(r"(\\d?dot)\{(\w+)\}", head):
        drawn = f"<mover accent='true'><mi>{match[2]}</mi><mo>{_ACCENTS[match[1]]}</mo></mover>"
    elif match := re.fullmatch(r"\\mathit\{(.*)\}", head):
        drawn = f"<mi mathvariant='italic'>{escape(match[1])}</mi>"
    else:
        drawn = f"<mi>{escape(_GREEK.get(head.removeprefix(chr(92)), head))}</mi>"
    return f"<msub>{drawn}<mn>{escape(below[:-1])}</mn></msub>" if below else drawn


_BRACKETED = ("sin", "cos", "exp", "tanh", "sgn", "sqrt")
MATHML = DrawnNotation(
    functions={op: f"<mi>{op}</mi>(" for op in _BRACKETED},
    operators=TEXT_OPERATORS,
    number=_number,
    symbol=name,
    angle_function=lambda f: (
        f"<msub><mi>{f.name.lower()}</mi><mn>{escape(latex_angle(f.angle))}</mn></msub>"
    ),
    power="<msup><mrow>{}</mrow><mrow>{}</mrow></msup>".format,
    bars=True,
    line="<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>".format,
)


def mathml(expr: Expr) -> str:
    """An expression, to be put into a formula."""
    return tokens(MATHML.write(expr))


def plain(text: str) -> str:
    """A line such as "τ_i = Σ_j D_ij q̈_j" to be put into a formula; words are in quotes."""
    return "".join(map(_plain_piece, _PIECE.finditer(text)))


def _plain_piece(match: re.Match[str]) -> str:
    if match["words"] is not None:
        return f"<mtext>{escape(match['words'])}</mtext>"
    if match["number"]:
        return f"<mn>{match['number']}</mn>"
    if match["sign"]:
        return _operator(match["sign"])
    drawn = _accented(*match["letter"])
    if match["letter"] in "Σ∂":
        drawn = f"<mo>{match['letter']}</mo>"
    around = {"sub": match["below"], "sup": match["above"]}
    kind = "m" + "".join(name for name, letters in around.items() if letters)
    parts = "".join(f"<mi>{escape(letters)}</mi>" for letters in around.values() if letters)
    return f"<{kind}>{drawn}{parts}</{kind}>" if parts else drawn


def _accented(letter: str, *accents: str) -> str:
    drawn = f"<mi>{escape(letter)}</mi>"
    for accent in accents:
        drawn = f"<mover accent='true'>{drawn}<mo>{_COMBINING.get(accent, accent)}</mo></mover>"
    return drawn


def tokens(written: str) -> str:
    """Make operators of what stands between elements, as brackets and signs do."""

    def wrapped(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        return "".join(_operator(sign) for sign in match[2])

    return _TOKEN.sub(wrapped, written)


def _operator(sign: str) -> str:
    if sign == " ":
        return ""
    if sign.isdigit():
        return f"<mn>{sign}</mn>"
    fence = " stretchy='false'" if sign in "()|" else ""
    return f"<mo{fence}>{escape(sign.replace('-', '−'))}</mo>"


def formula(content: str, block: bool = False) -> str:
    """A formula of MathML that stands in a page."""
    display = " display='block'" if block else ""
    return (
        f"<math xmlns='http://www.w3.org/1998/Math/MathML'{display}><mrow>{content}</mrow></math>"
    )


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
            return _angle(equations, expr, values)
        case tree.Call(function, (argument,)):
            known: Callable[[float], float] = (
                np.sign if function == "sgn" else getattr(np, function)
            )
            return float(known(value(argument)))
        case tree.Power(base, exponent):
            return float(value(base) ** exponent)
        case tree.RealPower(base, over):
            return float(value(base) ** value(over))
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
        drawn = f"<mn>{number(value)}</mn>"
        return f"({drawn})" if value < 0 else drawn

    numeric = replace(
        MATHML,
        symbol=lambda symbol: written(values[symbol]),
        angle_function=lambda function: written(_angle(equations, function, values)),
        operators={**MATHML.operators, "mul": "·"},
    )
    return tokens(numeric.write(expr))


def _angle(equations: Document, function: AngleFunction, values: Mapping[str, float]) -> float:
    angle = evaluated(equations, angle_sum(function.angle, equations.offsets), values)
    return float(np.cos(angle) if function.name == "C" else np.sin(angle))
