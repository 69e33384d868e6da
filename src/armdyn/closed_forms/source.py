"""Expressions as source code that Python and SymPy read."""

import keyword
from collections.abc import Iterable
from textwrap import wrap

from armdyn.closed_forms.document import Block, Document, Line
from armdyn.closed_forms.notation import angle_call, angle_identifier
from armdyn.closed_forms.printer import Notation, broken
from armdyn.closed_forms.tree import AngleFunction, Expr
from armdyn.export.names import comment

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
    used, found = set(taken) | symbols, {}
    for symbol in sorted(symbols & set(taken) | {s for s in symbols if keyword.iskeyword(s)}):
        name = f"{symbol}_"
        while name in used:
            name += "_"
        used.add(name)
        found[symbol] = name
    return found


# what both languages share


def heading(equations: Document, what: str) -> list[str]:
    """The docstring of a module; names of robots and joints are nowhere else."""
    found = [f'"""{comment(equations.title)}: {what}, written by armdyn.', ""]
    for note in equations.notes:
        found += wrap(f"Note: {comment(note)}.", WIDTH)
    found += [f"q{i}: {comment(name)}" for i, name in equations.numbered]
    return [*found, '"""', ""]


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
