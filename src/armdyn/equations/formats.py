"""Every format by name, and equations as plain data."""

from collections.abc import Callable
from typing import Any

from armdyn.equations.document import Block, Equations
from armdyn.equations.latex import latex
from armdyn.equations.markdown import markdown
from armdyn.equations.notation import turn_call, turn_identifier
from armdyn.equations.python_source import python
from armdyn.equations.source import Source
from armdyn.equations.sympy_source import FUNCTIONS, sympy
from armdyn.equations.text import text

WRITERS: dict[str, Callable[[Equations], str]] = {
    "text": text,
    "latex": latex,
    "markdown": markdown,
    "sympy": sympy,
    "python": python,
}


def data(equations: Equations) -> dict[str, Any]:
    """Entries as strings that SymPy reads, with flags, values and notes."""
    source = Source(FUNCTIONS, "Rational({0}, {1})")
    return {
        "robot": equations.robot,
        "title": equations.title,
        "form": equations.form,
        "law": equations.law[0],
        "joints": list(equations.joints),
        "notes": list(equations.notes),
        "operations": None
        if equations.operations is None
        else dict(zip(("multiplications", "additions"), equations.operations, strict=True)),
        "angles": {
            turn_identifier(turn): source.write(turn_call(turn, equations.offsets))
            for turn in sorted(equations.turns, key=turn_identifier)
        },
        "values": equations.values,
        "blocks": [_block(block, source) for block in equations.blocks],
    }


def _block(block: Block, source: Source) -> dict[str, Any]:
    return {
        "symbol": block.symbol,
        "title": block.title,
        "shape": list(block.shape),
        "arguments": list(block.arguments),
        "remarks": list(block.remarks),
        "symmetric_axes": None if block.swap is None else list(block.swap),
        "entries": [
            {
                "name": line.name,
                "place": [k + 1 for k in line.place],
                "value": source.write(line.value),
                "zero": line.zero,
                "constant": line.constant,
            }
            for line in block.lines
        ],
    }
