"""Markdown with formulas between dollar signs."""

import re

from armdyn.equations.document import Block, Document
from armdyn.equations.latex import LATEX, aligned, name
from armdyn.equations.notation import angle_sum, latex_angle, latex_name
from armdyn.equations.text import constants, printable


def markdown(equations: Document) -> str:
    """The equations as a page."""
    found = [f"# {escaped(equations.title)}", "", f"$${equations.law[1]}$$", ""]
    for note in equations.notes:
        found += [f"Note: {escaped(note)}.", ""]
    for block in equations.blocks:
        found += [f"## {escaped(block.title)}", "", *_block(block)]
    return "\n".join([*found, "## Where", "", *_where(equations)]) + "\n"


def _block(block: Block) -> list[str]:
    found = [f"{escaped(remark)}.\n" for remark in block.remarks]
    rows = aligned(block)
    if rows:
        found += ["$$", r"\begin{aligned}", " \\\\\n".join(rows), r"\end{aligned}", "$$", ""]
    if constant := constants(block):
        found += ["Constant: " + ", ".join(f"${name(line)}$" for line in constant) + ".", ""]
    return found


def _where(equations: Document) -> list[str]:
    rows = ["| symbol | value | meaning |", "|---|---|---|"]
    for angle in equations.angles:
        below, whole = latex_angle(angle), LATEX.write(angle_sum(angle, equations.offsets, 6))
        pair = rf"$c_{{{below}}}$, $s_{{{below}}}$"
        rows.append(rf"| {pair} | | $\cos({whole})$, $\sin({whole})$ |")
    for entry in equations.legend:
        value = f"{entry.value:.6g} {entry.unit}".strip()
        rows.append(f"| ${latex_name(entry.symbol)}$ | {value} | {escaped(entry.text)} |")
    for i, joint in enumerate(equations.joints, 1):
        rows.append(f"| $q_{{{i}}}$ | | position of {escaped(joint)} |")
    return rows


def escaped(text: str) -> str:
    """Text of a user, in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|$&~])", r"\\\1", printable(text))
