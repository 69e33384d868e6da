"""The closed form of one joint's equation: in symbols, with numbers, and why an element is zero."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from armdyn.closed_forms.document import Line
from armdyn.closed_forms.forms import Equations
from armdyn.closed_forms.mathml import evaluated, formula, mathml, name, substituted
from armdyn.report.figures import COLOURS as TERMS
from armdyn.studio import svg
from armdyn.study.structure.structure import Structure

MAX_SUBSTITUTED = 9000
"""Characters of a formula beyond which its numbers are not written out."""
BLOCKS = {"M": "inertial", "V": "coriolis", "G": "gravity", "F": "viscous"}
"""The term of the ledger whose colour each block of a closed form has."""


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What is known of the equations of an arm."""

    closed: Equations
    """In closed form, or the program where that is too long to be read."""
    structure: Structure

    @property
    def readable(self) -> bool:
        """Whether there is a closed form."""
        return self.closed.form == "state"


def indexed(letter: str, *places: int) -> str:
    """A letter with numbers of joints below it, from 0."""
    between = "" if max(places) < 9 else ","
    below = between.join(str(k + 1) for k in places)
    return f"<msub><mi>{letter}</mi><mn>{below}</mn></msub>"


def symbols_html(written: Written, i: int) -> str:
    """The closed form of a joint's terms, and for each element that is zero the reason."""
    parts = []
    if written.readable:
        for block, line in _lines(written.closed, i):
            drawn = formula(f"{_left(line)}<mo>=</mo>{mathml(line.value)}")
            parts.append(_coloured(BLOCKS[block], f"<div style='overflow-x:auto'>{drawn}</div>"))
    else:
        notes = " ".join(written.closed.notes)
        parts.append(f"<div style='opacity:.8'>{escape(notes)}</div>")
    parts += [
        f"<details class='armdyn-why'><summary style='cursor:pointer'>{formula(symbol)} "
        f"<b>= 0</b>: why is this zero?</summary><div style='padding:2px 0 6px 14px'>"
        f"{escape(reason)}</div></details>"
        for symbol, reason in _zeros(written.structure, i)
    ]
    where = "".join(
        f"<tr><td>{formula(name(entry.symbol))}</td><td>{entry.value:.5g} {escape(entry.unit)}</td>"
        f"<td>{escape(entry.text)}</td></tr>"
        for entry in (written.closed.legend if written.readable else ())
    )
    legend = (
        "<details><summary style='cursor:pointer'>symbols</summary>"
        f"<table>{where}</table></details>"
    )
    return "".join(parts) + (legend if where else "")


def _lines(closed: Equations, i: int) -> list[tuple[str, Line]]:
    """The lines of the blocks that are in the torque of a joint, those that are zero left out."""
    found = []
    for block in closed.blocks:
        if block.symbol in BLOCKS:
            for line in block.shown:
                if (i in line.place) if block.symbol == "M" else line.place[:1] == (i,):
                    found.append((block.symbol, line))
    return found


def _left(line: Line) -> str:
    return f"<msub><mi>{line.symbol}</mi><mn>{line.index}</mn></msub>"


def _coloured(term: str, content: str) -> str:
    line = f"border-left:4px solid {TERMS[term]};padding:2px 0 2px 8px;margin:4px 0"
    return f"<div style='{line}'>{content}</div>"


def _zeros(found: Structure, i: int) -> list[tuple[str, str]]:
    """The elements of the equation of a joint that vanish for every pose, with the reasons."""
    zeros = []
    if i >= len(found.g):
        return []
    for j, element in enumerate(found.D[i]):
        if element.status == "zero":
            zeros.append((indexed("M", i, j), element.reason))
    if found.g[i].status == "zero":
        zeros.append((indexed("G", i), found.g[i].reason))
    for k in range(len(found.D)):
        for m in range(k, len(found.D)):
            element = found.h[i][k][m]
            if element.status == "zero" and element.reason and k == m:
                zeros.append((indexed("h", i, k, m), element.reason))
    return zeros


def numbers_html(closed: Equations, i: int, at: Mapping[str, float], payload: float) -> str:
    """The closed form of a joint's terms with numbers in place of every symbol, and its values."""
    if payload:
        return (
            "<div style='opacity:.75'>The equations are those of the arm that holds nothing.</div>"
        )
    parts = []
    values = {**closed.values, **at}
    for block, line in _lines(closed, i):
        written = substituted(closed, line.value, values, svg.number)
        value = evaluated(closed, line.value, values)
        shown = f"<mo>=</mo>{written}" if len(written) < MAX_SUBSTITUTED else ""
        content = formula(f"{_left(line)}{shown}<mo>=</mo><mn>{svg.number(value, 4)}</mn>")
        data = f"<div data-line='{escape(line.name)}' data-value='{value!r}'"
        parts.append(_coloured(BLOCKS[block], f"{data} style='overflow-x:auto'>{content}</div>"))
    return "".join(parts)
