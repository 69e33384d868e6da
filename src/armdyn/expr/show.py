"""Expressions as text: infix, with what is shared named once."""

from collections.abc import Iterable

from armdyn.expr.node import FUNCTIONS, Node
from armdyn.expr.visit import reachable, uses

SIGN = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
"""How the operations on two operands are written."""

_BINDS = {"add": 1, "sub": 1, "neg": 1, "mul": 2, "div": 2}
_ATOM = 3


def show(outputs: Iterable[Node], width: int = 88) -> str:
    """The outputs as text, one a line, after the subexpressions that they share.

    >>> from armdyn.expr import Graph
    >>> g = Graph()
    >>> x, y = g.input("x"), g.input("y")
    >>> print(show([(x + y) * x, 2 - x * (x + y)]))
    t1 = x * (x + y)
    [0] = t1
    [1] = 2 - t1

    Args:
        outputs: What to show.
        width: Characters above which a subexpression gets a name although it is used once.
    """
    outputs = list(outputs)
    nodes = reachable(outputs)
    used = uses(outputs)
    prefix = _prefix(nodes)
    lines: list[str] = []
    text: dict[int, tuple[str, int]] = {}
    for node in nodes:
        op, args = node.op, node.args
        if op == "neg" and args[0].op == "sub" and used[args[0].index] == 1:
            op, args = "sub", args[0].args[::-1]  # -(a - b) = b - a
        written, binds = _write(op, [text[a.index] for a in args]) if args else _leaf(node)
        if node.args and (used[node.index] > 1 or len(written) > width):
            name = f"{prefix}{len(lines) + 1}"
            lines.append(f"{name} = {written}")
            written, binds = name, _ATOM
        text[node.index] = written, binds
    lines += [f"[{place}] = {text[node.index][0]}" for place, node in enumerate(outputs)]
    return "\n".join(lines)


def _leaf(node: Node) -> tuple[str, int]:
    negative = node.op == "number" and node.value < 0
    return repr(node), _BINDS["neg"] if negative else _ATOM


def _write(op: str, args: list[tuple[str, int]]) -> tuple[str, int]:
    if op in FUNCTIONS or op == "guard":
        return f"{op}({', '.join(text for text, _ in args)})", _ATOM
    binds = _BINDS[op]
    if op == "neg":
        return f"-{_grouped(args[0], binds + 1)}", binds
    right = binds + (op in ("sub", "div"))
    return f"{_grouped(args[0], binds)} {SIGN[op]} {_grouped(args[1], right)}", binds


def _grouped(operand: tuple[str, int], at_least: int) -> str:
    text, binds = operand
    return text if binds >= at_least else f"({text})"


def _prefix(nodes: list[Node]) -> str:
    """A letter for names that no symbol has."""
    prefix = "t"
    while any(
        node.name.startswith(prefix) and node.name[len(prefix) :].isdigit() for node in nodes
    ):
        prefix += "t"
    return prefix
