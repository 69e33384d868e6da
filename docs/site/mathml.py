"""Formulas as MathML, which browsers show without a script and without a network."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

TAG = re.compile(r"\\tag\{([^}]*)\}")
FUNCTION = re.compile(r"(?<!<msup>)(?<!<msub>)<mi>(?:sin|cos|tan|det)</mi>(?!<mo[^>]*>&#x00028;)")
"""A function whose argument has no brackets: browsers leave no space between them."""


def _mathml(formula: str, display: str) -> str:
    # the converter knows aligned lines by the name that stands without a display around it
    made = convert(formula.replace("{aligned}", "{align*}"), display=display)
    return FUNCTION.sub(r"\g<0><mspace width='0.17em'/>", made)


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    numbers = "".join(f"<span>({number})</span>" for number in TAG.findall(node.astext()))
    formula = _mathml(TAG.sub("", node.astext()), "block")
    writer.body.append(f'<div class="math">{formula}{numbers}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer to Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
