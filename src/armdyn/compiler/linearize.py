"""An order for the operations of a graph, in which few values wait to be used."""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from armdyn.expr.graph import Node
from armdyn.expr.operations import TRIG
from armdyn.expr.visit import reachable


def linearize(outputs: Iterable[Node]) -> list[Node]:
    """Every operation that changes with the inputs, operands first, one output after the other.

    Sine and cosine of one angle follow each other.
    """
    outputs = list(outputs)
    nodes = {node.index: node for node in reachable(outputs)}
    operands = {
        i: tuple(a.index for a in node.args if is_run(a))
        for i, node in nodes.items()
        if is_run(node)
    }
    order = schedule([node.index for node in outputs], operands, _partners(nodes.values()))
    return [nodes[i] for i in order]


def is_run(node: Node) -> bool:
    """Whether a node is an operation at run time: neither a leaf nor a constant."""
    return bool(node.args) and not node.constant


def schedule(
    outputs: Sequence[int],
    operands: Mapping[int, Sequence[int]],
    partner: Mapping[int, int] | None = None,
) -> list[int]:
    """The values that outputs need, operands first, one output after the other.

    Of several operands the one that needs more values at once is computed first, as Sethi and
    Ullman do for trees.

    Args:
        outputs: Numbers of the values wanted.
        operands: Of each value that is computed, in an order in which operands come first; values
            that are not in it are there already.
        partner: Values that are computed right after others.
    """
    partner = partner or {}
    need: dict[int, int] = {}
    for value, args in operands.items():
        below = sorted((need.get(a, 1) for a in args), reverse=True)
        need[value] = max((n + k for k, n in enumerate(below)), default=1)
    done: set[int] = set()
    order: list[int] = []
    stack = list(outputs)[::-1]
    while stack:
        value = stack[-1]
        if value in done or value not in operands:
            stack.pop()
            continue
        waiting = [a for a in operands[value] if a in operands and a not in done]
        if waiting:
            stack.append(max(waiting, key=lambda a: (need[a], -a)))
            continue
        stack.pop()
        for made in (value, partner.get(value)):
            if made is not None:
                order.append(made)
                done.add(made)
    return order


def _partners(nodes: Iterable[Node]) -> dict[int, int]:
    """For each sine the cosine of the same angle, and the other way round, where both are there."""
    by_angle: dict[int, list[int]] = {}
    for node in nodes:
        if node.op in TRIG and is_run(node):
            by_angle.setdefault(node.args[0].index, []).append(node.index)
    pairs = [pair for pair in by_angle.values() if len(pair) == 2]
    return {a: b for pair in pairs for a, b in (pair, pair[::-1])}


def tighten(order: Sequence[int], operands: Mapping[int, Sequence[int]]) -> list[int]:
    """The same values in an order in which fewer are alive at a time.

    Of the values whose operands are all there, the next is the one that is the last to use most of
    them; among equals, the first of the order given.

    Args:
        order: Values to compute, operands first.
        operands: Of each value; those that are not in the order are there already.
    """
    place = {value: i for i, value in enumerate(order)}
    args = [{place[a] for a in operands[value] if a in place} for value in order]
    users: list[list[int]] = [[] for _ in order]
    for i, used in enumerate(args):
        for a in used:
            users[a].append(i)
    left = [len(u) for u in users]
    missing = [len(used) for used in args]
    done = [False] * len(order)
    result: list[int] = []

    def entry(i: int) -> tuple[int, int]:
        return -sum(left[a] == 1 for a in args[i]), i

    ready = [entry(i) for i, count in enumerate(missing) if not count]
    heapify(ready)
    while ready:
        i = heappop(ready)[1]
        if done[i]:
            continue
        done[i] = True
        result.append(order[i])
        for a in args[i]:
            left[a] -= 1
            if left[a] == 1:
                last = next(u for u in users[a] if not done[u])
                if not missing[last]:
                    heappush(ready, entry(last))
        for u in users[i]:
            missing[u] -= 1
            if not missing[u]:
                heappush(ready, entry(u))
    return result
