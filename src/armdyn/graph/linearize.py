"""An order for the operations of a graph, in which few values wait to be used."""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from armdyn.graph.nodes import Node
from armdyn.graph.operations import TRIG
from armdyn.graph.visit import reachable


def linearize(outputs: Iterable[Node]) -> list[Node]:
    """Every operation that changes with the inputs, operands first, one output after the other.

    Sine and cosine of one angle follow each other.
    """
    outputs = list(outputs)
    nodes = {node.index: node for node in reachable(outputs)}
    run = {i: node for i, node in nodes.items() if is_run(node)}
    operands = {i: tuple(a.index for a in node.args if is_run(a)) for i, node in run.items()}
    by_angle: dict[int, list[int]] = {}
    for i, node in run.items():
        if node.op in TRIG:
            by_angle.setdefault(node.args[0].index, []).append(i)
    pairs = [pair for pair in by_angle.values() if len(pair) == 2]
    partner = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    order = schedule([node.index for node in outputs], operands, partner)
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
    Ullman do for trees. `operands` has every value that is computed, operands first; `partner`
    has values that are computed right after others.
    """
    partner = partner or {}
    if not any(value in operands for value in outputs):
        return []
    need: dict[int, int] = {}
    for value, args in operands.items():
        most = 0
        for below in sorted([need.get(a, 1) for a in args]):
            most = below if below > most else most + 1
        need[value] = most or 1
    left = set(operands)
    order: list[int] = []
    stack = list(outputs)[::-1]
    while stack:
        value = stack[-1]
        if value not in left:
            stack.pop()
            continue
        waiting = [a for a in operands[value] if a in left]
        if waiting:
            stack.append(max(waiting, key=lambda a: (need[a], -a)))
            continue
        made = [stack.pop(), *([partner[value]] if value in partner else [])]
        order += made
        left.difference_update(made)
    return order


def tighten(order: Sequence[int], operands: Mapping[int, Sequence[int]]) -> list[int]:
    """The same values in an order in which fewer are alive at a time.

    Of the values whose operands are all there, the next is the one that is the last to use most of
    them; among equals, the first of the order given. Values that are not in the order are there.
    """
    place = {value: i for i, value in enumerate(order)}
    args = [{place[a] for a in operands[value] if a in place} for value in order]
    users: list[list[int]] = [[] for _ in args]
    for i, used in enumerate(args):
        for a in used:
            users[a].append(i)
    left = [len(those) for those in users]  # users of each value that are still to be computed
    missing = [len(used) for used in args]  # operands of each value that are
    ready: list[tuple[int, int]] = []

    def offer(i: int) -> None:
        if not missing[i]:
            heappush(ready, (-sum(left[a] == 1 for a in args[i]), i))

    for i in range(len(order)):
        offer(i)
    done: dict[int, None] = {}
    while ready:
        i = heappop(ready)[1]
        if i in done:
            continue
        done[i] = None
        for a in args[i]:
            left[a] -= 1
            if left[a] == 1:
                offer(next(u for u in users[a] if u not in done))
        for u in users[i]:
            missing[u] -= 1
            offer(u)
    return [order[i] for i in done]


def delay(order: Sequence[int], operands: Mapping[int, Sequence[int]]) -> list[int]:
    """The same values, some of them only right before their first use.

    Those are the values all of whose operands are used even later, or are not in the order.
    """
    step = len(order)
    place = {value: i * step for i, value in enumerate(order)}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for value in reversed(order):
        args = [a for a in operands[value] if a in place]
        if value in first and all(last.get(a, -1) > first[value] for a in args):
            place[value] = first[value] - 1
        at = place[value]
        for a in args:
            first[a] = min(first.get(a, at), at)
            last[a] = max(last.get(a, at), at)
    return sorted(order, key=place.__getitem__)
