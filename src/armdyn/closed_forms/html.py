"""The equations of motion as a piece of a page: MathML, which is shown without a script."""

import re
from collections.abc import Iterator
from html import escape

from armdyn.closed_forms.document import Block, Document
from armdyn.closed_forms.latex import left_side
from armdyn.closed_forms.mathml import MATHML, formula, from_latex, mathml, name, plain, tokens
from armdyn.closed_forms.notation import angle_sum, latex_angle
from armdyn.closed_forms.text import constants

_ACCENTED = re.compile(r"\\(d?dot)\{(\w)\}")
_COMBINING = {"dot": "\u0307", "ddot": "\u0308"}


def html(equations: Document) -> str:
    """The law, the blocks and what the symbols are."""
    return "".join(_parts(equations))


def _parts(equations: Document) -> Iterator[str]:
    yield f"<div><b>{escape(equations.title)}</b></div>"
    yield f"<div>{formula(plain(_letters(equations.law[1])))}</div>"
    yield "".join(f"<div>Note: {escape(note)}.</div>" for note in equations.notes)
    for block in equations.blocks:
        yield f"<div style='margin-top:0.6em'><i>{escape(block.title)}</i></div>"
        yield from _lines(block)
    rows = "".join(
        f"<tr><td>{symbol}</td><td>{escape(value)}</td><td>{meaning}</td></tr>"
        for symbol, value, meaning in _where(equations)
    )
    yield f"<details><summary>where</summary><table>{rows}</table></details>" if rows else ""


def _lines(block: Block) -> Iterator[str]:
    yield "".join(f"<div>{escape(remark)}.</div>" for remark in block.remarks)
    for line in block.shown:
        drawn = f"{from_latex(left_side(line))}<mo>=</mo>{mathml(line.value)}"
        tall = formula(f"<mstyle displaystyle='true'>{drawn}</mstyle>")
        yield f"<div style='overflow-x:auto;padding:2px 0'>{tall}</div>"
    for word, chosen in (("Zero", block.zeros), ("Constant", constants(block))):
        names = ", ".join(formula(from_latex(left_side(line))) for line in chosen)
        yield f"<div>{word}: {names}.</div>" if names else ""


def _where(equations: Document) -> Iterator[tuple[str, str, str]]:
    """Symbol, value and meaning of what the equations are written in."""
    for angle in equations.angles:
        below = escape(latex_angle(angle))
        pair = (f"<msub><mi>{letter}</mi><mn>{below}</mn></msub>" for letter in "cs")
        whole = formula(tokens(MATHML.write(angle_sum(angle, equations.offsets, 6))))
        yield ", ".join(map(formula, pair)), "", f"cosine and sine of {whole}"
    for entry in equations.legend:
        value = f"{entry.value:.6g} {entry.unit}".strip()
        yield formula(name(entry.symbol)), value, escape(entry.text)
    for number, joint in equations.numbered:
        yield formula(name(f"q{number}")), "", f"position of {escape(joint)}"


def _letters(law: str) -> str:
    r"""A law of LaTeX in plain letters: \ddot{q} with its dots, \sum as its sign."""
    law = _ACCENTED.sub(lambda match: match[2] + _COMBINING[match[1]], law)
    law = law.replace(r"\tau", "τ").replace(r"\sum", "Σ")
    return re.sub(r"\{([\w,]+)\}", r"\1", law)
