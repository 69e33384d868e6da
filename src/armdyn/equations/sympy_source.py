"""Equations as a SymPy script."""

from collections.abc import Iterator

from armdyn.backends.names import comment
from armdyn.equations.document import Block, Equations
from armdyn.equations.source import (
    ARRAYS,
    Source,
    free_names,
    heading,
    target,
    turned,
)

FUNCTIONS = {f: f for f in ("sin", "cos", "tanh", "exp", "sqrt")} | {"sgn": "sign"}
_IMPORTS = ("Matrix", "MutableDenseNDimArray", "Rational", "symbols", "zeros", *FUNCTIONS.values())
_TORQUES = {
    "state": "M * Matrix([{qdd}]) + V + G",
    "configuration": "M * Matrix([{qdd}]) + B * Matrix([{pairs}]) + C * Matrix([{squares}]) + G",
}


def sympy(equations: Equations) -> str:
    """A script that declares symbols and builds matrices, with the values in a dictionary."""
    n = len(equations.joints)
    source = dialect(equations)
    imports = ", ".join(sorted(_IMPORTS[:5], key=str.lower))
    functions = ", ".join(FUNCTIONS.values())
    found = [*heading(equations, "equations of motion in SymPy")]
    found += [f"from sympy import {imports}", f"from sympy import {functions}", ""]
    for rate in ("q", "qd", "qdd"):
        found += _declared([f"{rate}{i}" for i in range(1, n + 1)], source)
    found += _declared(list(equations.values), source)
    found += turned(equations, equations.turns, source, "")
    for block in equations.blocks:
        found += ["", f"# {comment(block.title)}", *_built(block, source)]
    found += _torques(equations)
    values = (f"    {source.name(e.symbol)}: {e.value!r}," for e in equations.legend)
    return "\n".join([*found, "", "values = {", *values, "}"]) + "\n"


def dialect(equations: Equations) -> Source:
    """How expressions are written in the script."""
    names = free_names(equations.values, (*ARRAYS, *_IMPORTS))
    return Source(FUNCTIONS, "Rational({0}, {1})", names)


def _declared(names: list[str], source: Source) -> list[str]:
    rows = (names[k : k + 8] for k in range(0, len(names), 8))
    return [
        f'{", ".join(map(source.name, row))} = symbols("{" ".join(row)}", real=True)'
        for row in rows
    ]


def _built(block: Block, source: Source) -> Iterator[str]:
    if not block.symbol or not block.shape:
        for line in block.lines:
            yield from source.assigned(line.symbol, line.value)
        return
    if len(block.shape) == 3:
        yield f"{block.symbol} = MutableDenseNDimArray.zeros{block.shape}"
    else:
        rows, columns = (*block.shape, 1)[:2]
        yield f"{block.symbol} = zeros({rows}, {columns})"
    for line in block.shown:
        yield from source.assigned(target(block.symbol, block, line), line.value)


def _torques(equations: Equations) -> list[str]:
    every = range(1, len(equations.joints) + 1)
    friction = any(b.symbol == "F" for b in equations.blocks)
    if equations.form == "recursive":
        return ["", "tau = tau + F"] if friction else []
    if equations.form not in _TORQUES:
        return []
    pairs = [f"qd{j}*qd{k}" for j in every for k in every if j < k]
    text = _TORQUES[equations.form] if pairs else _TORQUES["state"].replace("V + ", "")
    if equations.form == "state":
        text = _TORQUES["state"]
    written = text.format(
        qdd=", ".join(f"qdd{i}" for i in every),
        squares=", ".join(f"qd{i}**2" for i in every),
        pairs=", ".join(pairs),
    )
    return ["", f"tau = {written}{' + F' if friction else ''}"]
