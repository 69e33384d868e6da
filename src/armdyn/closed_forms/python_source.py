"""Equations as a Python module of functions that needs NumPy only."""

from collections.abc import Iterable, Iterator

from armdyn.closed_forms.document import Block, Document
from armdyn.closed_forms.printer import SOURCE_OPERATORS, Notation
from armdyn.closed_forms.source import ARRAYS, angle_lines, assigned, free_names, heading, target
from armdyn.closed_forms.tree import AngleFunction, angle_functions
from armdyn.export.names import comment
from armdyn.graph.operations import FUNCTIONS

_CALLS = {op: f"np.{op}(" for op in FUNCTIONS} | {"sgn": "np.sign(", "abs": "np.abs("}
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
    source = Notation(
        _CALLS, SOURCE_OPERATORS, symbol=lambda name: names.get(name, name), direction="np.arctan2"
    )
    found = [*heading(equations, "equations of motion"), "import numpy as np", ""]
    found.append(f"n = {len(equations.joints)}")
    for entry in equations.legend:
        meaning = ", ".join(filter(None, (entry.text, entry.unit)))
        found.append(f"{source.symbol(entry.symbol)} = {entry.value!r}  # {comment(meaning)}")
    if equations.form == "recursive":
        found += _program(equations, source)
        return "\n".join(found) + "\n"
    for block in equations.blocks:
        if block.symbol and block.symbol != "tau":
            found += _function(equations, block, source)
    torques = _loops(equations, source) if equations.passive else _torques(equations)
    return "\n".join([*found, *torques]) + "\n"


def _function(equations: Document, block: Block, source: Notation) -> Iterator[str]:
    shape = f", shape {block.shape}" if block.shape else ""
    yield from ("", "", f"def {block.symbol}({', '.join(block.arguments)}):")
    yield f'    """{comment(block.title)}{shape}, at one state."""'
    yield from _unpacked([i for i, _ in equations.numbered], block.arguments)
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
    if any(block.symbol == "R" for block in equations.blocks):
        return [
            line
            for name, (title, value) in _TURNED.items()
            for line in ("", "", f"def {name}:", f'    """{title}."""', f"    return {value}")
        ]
    if equations.form not in _TORQUES:
        return []
    friction = " + F(qd)" if any(b.symbol == "F" for b in equations.blocks) else ""
    pairs = [f"    {_PAIRS}"] if equations.form == "configuration" else []
    return [*_DEFINITION, *pairs, f"    return {_TORQUES[equations.form]}{friction}"]


def _loops(equations: Document, source: Notation) -> Iterator[str]:
    """The torques of a robot with loops: passive joints first, then those of the tree."""
    yield from _DEFINITION
    yield from _unpacked(equations.coordinates, ("q", "qd", "qdd"))
    lists, functions = [b for b in equations.blocks if not b.symbol], set[AngleFunction]()
    for block in lists:
        used = angle_functions(line.value for line in block.lines) - functions
        yield from angle_lines(equations, used, source, "    ")
        functions |= used
        for line in block.lines:
            yield from assigned(source, line.symbol, line.value, "    ")
    every = [i for i, _ in equations.numbered]
    for name in ("q", "qd", "qdd"):
        yield f"    {name} = np.array([{', '.join(f'{name}{i}' for i in every)}])"
    friction = " + F(qd)" if any(b.symbol == "F" for b in equations.blocks) else ""
    whole = ", ".join(f"T{i}" for i in every)
    yield f"    [{whole}] = {_TORQUES['state']}{friction}"
    block = next(block for block in equations.blocks if block.symbol == "tau")
    yield f"    result = np.zeros({len(block.lines)})"
    for line in block.lines:
        yield from assigned(source, target("result", block, line), line.value, "    ")
    yield "    return result"


def _program(equations: Document, source: Notation) -> Iterator[str]:
    """Constants at the top, friction as a function, everything else in one."""
    lists = [block for block in equations.blocks if not block.symbol]
    arrays = {block.symbol: block for block in equations.blocks if block.symbol}
    for block in lists:
        for line in block.lines if block.beforehand else ():
            yield from assigned(source, line.symbol, line.value)
    if "F" in arrays:
        yield from _function(equations, arrays["F"], source)
    yield from _DEFINITION
    yield from _unpacked(equations.coordinates, ("q", "qd", "qdd"))
    for block in lists:
        for line in () if block.beforehand else block.lines:
            yield from assigned(source, line.symbol, line.value, "    ")
    yield "    result = np.zeros(n)"
    for line in arrays["tau"].lines:
        yield from assigned(source, target("result", arrays["tau"], line), line.value, "    ")
    yield "    return result" + (" + F(qd)" if "F" in arrays else "")
