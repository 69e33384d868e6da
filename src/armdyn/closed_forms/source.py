"""Equations as source code: a Python module that needs NumPy only, and a script of SymPy."""

import keyword
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from textwrap import wrap

from armdyn.closed_forms.document import Block, Document, Line
from armdyn.closed_forms.printer import (
    SOURCE_OPERATORS,
    Notation,
    angle_call,
    angle_identifier,
    broken,
    exact_number,
)
from armdyn.closed_forms.tree import AngleFunction, Expr, angle_functions
from armdyn.export.names import comment
from armdyn.graph.operations import FUNCTIONS

WIDTH = 96
ARRAYS = (
    *("M", "V", "G", "F", "B", "C", "h", "T", "U", "Mx", "Vx", "Gx", "detJ", "J", "Jdqd", "tau"),
    *("R", "Mt", "Vt", "Gt", "T"),
    *("q", "qd", "qdd", "n", "result", "pairs", "inverse_dynamics", "values"),
)
"""Names that the programs use themselves."""


def assigned(notation: Notation, target: str, expr: Expr, indent: str = "") -> list[str]:
    """An assignment, in brackets and several lines where it is long."""
    text = notation.write(expr)
    if len(indent + target) + 3 + len(text) <= WIDTH:
        return [f"{indent}{target} = {text}"]
    rows = broken(text, WIDTH - len(indent) - 4)
    return [f"{indent}{target} = (", *(f"{indent}    {row}" for row in rows), f"{indent})"]


def free_names(symbols: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Other names for symbols that a program uses for something else."""
    symbols = set(symbols)
    used, spellings = set(taken) | symbols, {}
    for symbol in sorted(symbols & set(taken) | {s for s in symbols if keyword.iskeyword(s)}):
        name = f"{symbol}_"
        while name in used:
            name += "_"
        used.add(name)
        spellings[symbol] = name
    return spellings


# what both languages share


def heading(equations: Document, what: str) -> list[str]:
    """The docstring of a module; names of robots and joints are nowhere else."""
    lines = [f'"""{comment(equations.title)}: {what}, written by armdyn.', ""]
    for note in equations.notes:
        lines += wrap(f"Note: {comment(note)}.", WIDTH)
    lines += [f"q{i}: {comment(name)}" for i, name in equations.numbered]
    return [*lines, '"""', ""]


def angle_lines(
    equations: Document, functions: Iterable[AngleFunction], notation: Notation, indent: str
) -> list[str]:
    """The lines that give cosines and sines their values."""
    names = {angle_identifier(f): angle_call(f, equations.offsets) for f in functions}
    order = sorted(names, key=lambda name: (len(name), name[::-1]))
    return [line for name in order for line in assigned(notation, name, names[name], indent)]


def target(array: str, block: Block, line: Line) -> str:
    """The entry that is assigned to, and the one that mirrors it."""
    a, b = block.swap or (0, 0)
    other = list(line.place)
    other[a], other[b] = other[b], other[a]
    places = dict.fromkeys((line.place, tuple(other)))
    return " = ".join(f"{array}[{', '.join(map(str, place))}]" for place in places)


_CALLS = {op: f"np.{op}(" for op in FUNCTIONS}
_CALLS |= {"sgn": "np.sign(", "abs": "np.abs(", "atan2": "np.arctan2("}
_TORQUES = {
    "state": "M(q) @ qdd + V(q, qd) + G(q)",
    "configuration": "M(q) @ qdd + B(q) @ pairs + C(q) @ np.square(qd) + G(q)",
}
_TURNED = {
    "Mx(q)": ("Mass matrix of the tool", "R(q) @ Mt(q) @ R(q).T"),
    "Vx(q, qd)": ("Velocity forces of the tool", "R(q) @ Vt(q, qd)"),
    "Gx(q)": ("Gravity forces of the tool", "R(q) @ Gt(q)"),
}
"""What the Cartesian form in axes of a link is in those of the world."""
_PAIRS = "pairs = np.array([qd[j] * qd[k] for j in range(n) for k in range(j + 1, n)])"
_DEFINITION = ("", "", "def inverse_dynamics(q, qd, qdd):", '    """Torques of the actuators."""')


def python(equations: Document) -> str:
    """The module, with the values of the parameters at its top."""
    names = free_names(equations.values, (*ARRAYS, "np"))
    source = Notation(_CALLS, SOURCE_OPERATORS, symbol=lambda name: names.get(name, name))
    script = [*heading(equations, "equations of motion"), "import numpy as np", ""]
    script.append(f"n = {len(equations.joints)}")
    for entry in equations.legend:
        meaning = ", ".join(filter(None, (entry.text, entry.unit)))
        script.append(f"{source.symbol(entry.symbol)} = {entry.value!r}  # {comment(meaning)}")
    for block in equations.blocks:
        if block.beforehand:
            for line in block.lines:
                script += assigned(source, line.symbol, line.value)
        elif block.symbol not in ("", "tau"):
            script += _function(equations, block, source)
    written = equations.has("tau")
    torques = _inverse_dynamics(equations, source) if written else _torques(equations)
    return "\n".join([*script, *torques]) + "\n"


def _function(equations: Document, block: Block, source: Notation) -> Iterator[str]:
    shape = f", shape {block.shape}" if block.shape else ""
    yield from ("", "", f"def {block.symbol}({', '.join(block.arguments)}):")
    yield f'    """{comment(block.title)}{shape}, at one state."""'
    yield from _unpacked(equations.numbers, block.arguments)
    used = angle_functions(line.value for line in block.lines)
    yield from angle_lines(equations, used, source, "    ")
    if block.shape:
        yield f"    result = np.zeros({block.shape})"
        for line in block.shown:
            yield from assigned(source, target("result", block, line), line.value, "    ")
    else:
        yield from assigned(source, "result", block.lines[0].value, "    ")
    yield "    return result"


def _unpacked(numbers: Iterable[int], arguments: Iterable[str]) -> Iterator[str]:
    for name in arguments:
        entries = [f"{name}{i}" for i in numbers]
        yield f"    [{', '.join(entries)}] = {name}"


def _torques(equations: Document) -> list[str]:
    if equations.has("R"):
        return [
            line
            for name, (title, value) in _TURNED.items()
            for line in ("", "", f"def {name}:", f'    """{title}."""', f"    return {value}")
        ]
    if equations.form not in _TORQUES:
        return []
    friction = " + F(qd)" if equations.has("F") else ""
    pairs = [f"    {_PAIRS}"] if equations.form == "configuration" else []
    return [*_DEFINITION, *pairs, f"    return {_TORQUES[equations.form]}{friction}"]


def _inverse_dynamics(equations: Document, source: Notation) -> Iterator[str]:
    """The torques line by line; with loops passive joints first, then those of the tree."""
    yield from _DEFINITION
    yield from _unpacked(equations.coordinates, ("q", "qd", "qdd"))
    functions = set[AngleFunction]()
    for block in (b for b in equations.blocks if not b.symbol and not b.beforehand):
        used = angle_functions(line.value for line in block.lines) - functions
        yield from angle_lines(equations, used, source, "    ")
        functions |= used
        for line in block.lines:
            yield from assigned(source, line.symbol, line.value, "    ")
    friction = " + F(qd)" if equations.has("F") else ""
    if equations.passive:
        for name in ("q", "qd", "qdd"):
            yield f"    {name} = np.array([{', '.join(f'{name}{i}' for i in equations.numbers)}])"
        whole = ", ".join(f"T{i}" for i in equations.numbers)
        yield f"    [{whole}] = {_TORQUES['state']}{friction}"
    block = next(block for block in equations.blocks if block.symbol == "tau")
    yield f"    result = np.zeros({len(block.lines)})"
    for line in block.lines:
        yield from assigned(source, target("result", block, line), line.value, "    ")
    yield "    return result" + ("" if equations.passive else friction)


_CALLED = ("sin", "cos", "tanh", "exp", "sqrt", "sign", "Abs", "atan2")
_IMPORTS = ("Matrix", "MutableDenseNDimArray", "Rational", "symbols", "zeros", *_CALLED)
_SYMPY_TORQUES = {
    "state": "M * Matrix([{qdd}]) + V + G",
    "configuration": "M * Matrix([{qdd}]) + B * Matrix([{pairs}]) + C * Matrix([{squares}]) + G",
}


def sympy(equations: Document) -> str:
    """A script that declares symbols and builds matrices, with the values in a dictionary."""
    source = notation(free_names(equations.values, (*ARRAYS, *_IMPORTS)))
    imports = ", ".join(sorted(_IMPORTS[:5], key=str.lower))
    functions = ", ".join(_CALLED)
    script = [*heading(equations, "equations of motion in SymPy")]
    script += [f"from sympy import {imports}", f"from sympy import {functions}", ""]
    for rate in ("q", "qd", "qdd"):
        script += _declared([f"{rate}{i}" for i in equations.coordinates], source)
    script += _declared(list(equations.values), source)
    done = set[AngleFunction]()
    for k, block in enumerate(equations.blocks):
        lines = equations.blocks[: k + 1] if equations.passive else equations.blocks
        used = angle_functions(line.value for each in lines for line in each.lines)
        script += angle_lines(equations, used - done, source, "")
        done |= used
        if block.symbol == "tau" and equations.passive:
            script += _sympy_torques(equations)
        script += ["", f"# {comment(block.title)}", *_built(block, source)]
    script += [] if equations.passive else _sympy_torques(equations)
    values = (f"    {source.symbol(e.symbol)}: {e.value!r}," for e in equations.legend)
    return "\n".join([*script, "", "values = {", *values, "}"]) + "\n"


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


def _sympy_torques(equations: Document) -> list[str]:
    """The torques from the blocks; with loops those of all joints of the tree, by number."""
    every = equations.numbers
    friction = equations.has("F")
    if equations.form == "recursive":
        return ["", "tau = tau + F"] if friction else []
    if equations.has("R"):
        return ["", "Mx = R * Mt * R.T", "Vx = R * Vt", "Gx = R * Gt"]
    if equations.form not in _SYMPY_TORQUES:
        return []
    pairs = [f"qd{j}*qd{k}" for j in every for k in every if j < k]
    whole = pairs or equations.form == "state"
    text = _SYMPY_TORQUES[equations.form] if whole else _SYMPY_TORQUES["state"].replace("V + ", "")
    written = text.format(
        qdd=", ".join(f"qdd{i}" for i in every),
        squares=", ".join(f"qd{i}**2" for i in every),
        pairs=", ".join(pairs),
    )
    sums = ", ".join(f"T{i}" for i in every) if equations.passive else "tau"
    return ["", f"{sums} = {written}{' + F' if friction else ''}"]
