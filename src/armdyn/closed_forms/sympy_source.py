"""Equations as a SymPy script."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from armdyn.closed_forms.document import Block, Document
from armdyn.closed_forms.printer import SOURCE_OPERATORS, Notation, exact_number
from armdyn.closed_forms.source import ARRAYS, angle_lines, assigned, free_names, heading, target
from armdyn.closed_forms.tree import AngleFunction, angle_functions
from armdyn.export.names import comment

_CALLED = ("sin", "cos", "tanh", "exp", "sqrt", "sign", "Abs", "atan2")
_IMPORTS = ("Matrix", "MutableDenseNDimArray", "Rational", "symbols", "zeros", *_CALLED)
_TORQUES = {
    "state": "M * Matrix([{qdd}]) + V + G",
    "configuration": "M * Matrix([{qdd}]) + B * Matrix([{pairs}]) + C * Matrix([{squares}]) + G",
}


def sympy(equations: Document) -> str:
    """A script that declares symbols and builds matrices, with the values in a dictionary."""
    source = notation(free_names(equations.values, (*ARRAYS, *_IMPORTS)))
    imports = ", ".join(sorted(_IMPORTS[:5], key=str.lower))
    functions = ", ".join(_CALLED)
    found = [*heading(equations, "equations of motion in SymPy")]
    found += [f"from sympy import {imports}", f"from sympy import {functions}", ""]
    for rate in ("q", "qd", "qdd"):
        found += _declared([f"{rate}{i}" for i in equations.coordinates], source)
    found += _declared(list(equations.values), source)
    done = set[AngleFunction]()
    for k, block in enumerate(equations.blocks):
        lines = equations.blocks[: k + 1] if equations.passive else equations.blocks
        used = angle_functions(line.value for each in lines for line in each.lines)
        found += angle_lines(equations, used - done, source, "")
        done |= used
        if block.symbol == "tau" and equations.passive:
            found += _tree_torques(equations)
        found += ["", f"# {comment(block.title)}", *_built(block, source)]
    found += [] if equations.passive else _torques(equations)
    values = (f"    {source.symbol(e.symbol)}: {e.value!r}," for e in equations.legend)
    return "\n".join([*found, "", "values = {", *values, "}"]) + "\n"


def notation(names: Mapping[str, str]) -> Notation:
    """How expressions are written, with other names for some symbols."""
    return Notation(
        {"sgn": "sign(", "abs": "Abs("},
        SOURCE_OPERATORS,
        number=_number,
        symbol=lambda s: names.get(s, s),
    )


def _number(value: Fraction | float) -> str:
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"Rational({value.numerator}, {value.denominator})"
    return exact_number(value)


def _declared(names: list[str], source: Notation) -> list[str]:
    rows = (names[k : k + 8] for k in range(0, len(names), 8))
    return [
        f'{", ".join(map(source.symbol, row))} = symbols("{" ".join(row)}", real=True)'
        for row in rows
    ]


def _built(block: Block, source: Notation) -> Iterator[str]:
    if not block.symbol or not block.shape:
        for line in block.lines:
            yield from assigned(source, line.symbol, line.value)
        return
    if len(block.shape) == 3:
        yield f"{block.symbol} = MutableDenseNDimArray.zeros{block.shape}"
    else:
        rows, columns = (*block.shape, 1)[:2]
        yield f"{block.symbol} = zeros({rows}, {columns})"
    for line in block.shown:
        yield from assigned(source, target(block.symbol, block, line), line.value)


def _tree_torques(equations: Document) -> list[str]:
    """Torques of all joints of the tree, by number."""
    every = [i for i, _ in equations.numbered]
    friction = " + F" if any(b.symbol == "F" for b in equations.blocks) else ""
    whole = _TORQUES["state"].format(qdd=", ".join(f"qdd{i}" for i in every))
    return ["", f"{', '.join(f'T{i}' for i in every)} = {whole}{friction}"]


def _torques(equations: Document) -> list[str]:
    every = equations.coordinates
    friction = any(b.symbol == "F" for b in equations.blocks)
    if equations.form == "recursive":
        return ["", "tau = tau + F"] if friction else []
    if any(block.symbol == "R" for block in equations.blocks):
        return ["", "Mx = R * Mt * R.T", "Vx = R * Vt", "Gx = R * Gt"]
    if equations.form not in _TORQUES:
        return []
    pairs = [f"qd{j}*qd{k}" for j in every for k in every if j < k]
    whole = pairs or equations.form == "state"
    text = _TORQUES[equations.form] if whole else _TORQUES["state"].replace("V + ", "")
    written = text.format(
        qdd=", ".join(f"qdd{i}" for i in every),
        squares=", ".join(f"qd{i}**2" for i in every),
        pairs=", ".join(pairs),
    )
    return ["", f"tau = {written}{' + F' if friction else ''}"]
