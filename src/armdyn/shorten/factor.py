"""The distributive law, applied where it saves most first."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from armdyn.graph.nodes import Graph, Node
from armdyn.graph.visit import inside_angles, reachable, uses

SUM = ("add", "sub", "neg")
"""Operations that a sum is flattened through."""


@dataclass(frozen=True, slots=True)
class Factors:
    """A signed product."""

    negative: bool
    factors: tuple[Node, ...]

    def cost(self) -> int:
        """Multiplications, constants being multiplied beforehand."""
        changing = sum(not f.constant for f in self.factors)
        return max(0, changing - all(not f.constant for f in self.factors))

    def without(self, factor: Node) -> "Factors":
        """The term divided by one of its factors."""
        place = self.factors.index(factor)
        return Factors(self.negative, self.factors[:place] + self.factors[place + 1 :])

    def node(self, graph: Graph) -> Node:
        """The product without its sign, constants first."""
        result = graph.number(1)
        for factor in sorted(self.factors, key=lambda f: not f.constant):
            result = graph.mul(result, factor)
        return result


def factor(outputs: Iterable[Node]) -> list[Node]:
    """Take out common factors: a c + b c = (a + b) c in sums of any length, most gain first.

    Sums and products are flattened through operands that nothing else uses, so what is shared stays
    shared; a sum in which nothing is gained stays as it is, and so do angles.
    """
    outputs = list(outputs)
    used, angles = uses(outputs), inside_angles(outputs)
    nodes = reachable(outputs)
    inner = {a.index for n in nodes if n.op in SUM for a in n.args if _inside(a, SUM, used)}
    made: dict[int, Node] = {}
    for node in nodes:
        graph, terms = node.graph, None
        if node.index in angles or not node.args:
            made[node.index] = node
            continue
        if node.op in SUM and not node.constant and node.index not in inner:
            terms = _factored(graph, _terms(node, used, made))
        if terms is None:
            made[node.index] = graph.apply(node.op, [made[a.index] for a in node.args])
        else:
            made[node.index] = _sum(graph, terms)
    return [made[node.index] for node in outputs]


def _inside(node: Node, ops: tuple[str, ...], used: Counter[int]) -> bool:
    return node.op in ops and used[node.index] == 1 and not node.constant


def _terms(node: Node, used: Counter[int], made: dict[int, Node]) -> list[Factors]:
    """The terms of a sum, in the order they are written."""
    result: list[Factors] = []
    stack = [(node, False)]
    while stack:
        here, negative = stack.pop()
        if here is node or _inside(here, SUM, used):
            last = here.op != "add"
            stack.append((here.args[-1], negative != last))
            stack.extend((a, negative) for a in here.args[:-1])
        else:
            result.append(_term(here, negative, used, made))
    return result


def _term(node: Node, negative: bool, used: Counter[int], made: dict[int, Node]) -> Factors:
    factors: list[Node] = []
    stack = [node]
    while stack:
        here = stack.pop()
        if _inside(here, ("neg",), used):
            negative = not negative
            stack.append(here.args[0])
        elif _inside(here, ("mul",), used):
            stack.extend(reversed(here.args))
        else:
            value = made[here.index]
            if value.op == "neg":
                negative, value = not negative, value.args[0]
            factors.append(value)
    return Factors(negative, tuple(factors))


def _factored(graph: Graph, terms: list[Factors]) -> list[Factors] | None:
    """The terms after all that gains was taken out; None if nothing was."""
    changed = False
    while True:
        groups = _groups(terms)
        gains = {k: _gain(graph.nodes[k], [terms[i] for i in groups[k]]) for k in groups}
        best = max(gains, key=lambda k: (gains[k], -k), default=None)
        if best is None or gains[best] <= 0:
            return terms if changed else None
        common, chosen = graph.nodes[best], groups[best]
        rest = [terms[i].without(common) for i in chosen]
        bracket = _sum(graph, _factored(graph, rest) or rest)
        negative = bracket.op == "neg"
        taken = Factors(negative, (common, bracket.args[0] if negative else bracket))
        terms = [
            taken if i == chosen[0] else term for i, term in enumerate(terms) if i not in chosen[1:]
        ]
        changed = True


def _groups(terms: list[Factors]) -> dict[int, list[int]]:
    """For each factor of two terms or more, the places of the terms that have it."""
    found: dict[int, list[int]] = {}
    for place, term in enumerate(terms):
        for index in sorted({f.index for f in term.factors}):
            found.setdefault(index, []).append(place)
    return {index: places for index, places in found.items() if len(places) > 1}


def _gain(common: Node, group: list[Factors]) -> int:
    """Operations saved by taking a factor out of a group of terms."""
    rest = [term.without(common) for term in group]
    saved = sum(term.cost() for term in group) - sum(term.cost() for term in rest)
    steady = sum(all(f.constant for f in term.factors) for term in rest)
    return saved + max(0, steady - 1) - 1


def _sum(graph: Graph, terms: list[Factors]) -> Node:
    """The sum of the terms: constants first, so that they are added beforehand."""
    nodes = [(term.negative, term.node(graph)) for term in terms]
    result = graph.number(0)
    for negative, node in sorted(nodes, key=lambda x: not x[1].constant):
        result = graph.sub(result, node) if negative else graph.add(result, node)
    return result
