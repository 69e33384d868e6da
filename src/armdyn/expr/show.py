"""Expressions as text: infix, with what is shared named once."""

from collections.abc import Iterable

from armdyn.expr.graph import Node
from armdyn.expr.printer import PLAIN, Written
from armdyn.expr.visit import reachable, uses


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
    text: dict[int, Written] = {}
    for node in nodes:
        op, args = node.op, node.args
        if op == "neg" and args[0].op == "sub" and used[args[0].index] == 1:
            op, args = "sub", args[0].args[::-1]  # -(a - b) = b - a
        if not args:
            text[node.index] = PLAIN.literal(repr(node))
            continue
        written = PLAIN.operation(op, [text[a.index] for a in args])
        if used[node.index] > 1 or len(written.text) > width:
            name = f"{prefix}{len(lines) + 1}"
            lines.append(f"{name} = {written.text}")
            written = Written(name)
        text[node.index] = written
    lines += [f"[{place}] = {text[node.index].text}" for place, node in enumerate(outputs)]
    return "\n".join(lines)


def _prefix(nodes: list[Node]) -> str:
    """A letter for names that no symbol has."""
    prefix = "t"
    while any(
        node.name.startswith(prefix) and node.name[len(prefix) :].isdigit() for node in nodes
    ):
        prefix += "t"
    return prefix
