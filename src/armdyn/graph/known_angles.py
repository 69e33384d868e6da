"""Angles that are known by their sine and cosine, as those of joints that loops move.

Sines and cosines of sums with such an angle are products of what is known, so no function is called
for them, and what is added to an angle and taken away again is gone.
"""

from collections.abc import Sequence
from typing import Generic, Protocol, Self, TypeVar

AngleSum = dict[int, int]
"""Whole multiples of angles, by the indices of their nodes."""


class _Node(Protocol):
    """What is asked of a node."""

    index: int
    op: str
    value: int | float

    @property
    def args(self) -> tuple[Self, ...]: ...
    def cos(self) -> Self: ...
    def sin(self) -> Self: ...
    def __neg__(self) -> Self: ...
    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...


N = TypeVar("N", bound=_Node)


class _Graph(Protocol[N]):
    """What is asked of the graph of the nodes."""

    @property
    def nodes(self) -> Sequence[N]: ...
    def number(self, value: int) -> N: ...
    def make(self, op: str, args: tuple[N, ...]) -> N: ...


class KnownAngles(Generic[N]):
    """The sums of angles in a graph in which there is one that is known."""

    def __init__(self, graph: _Graph[N]):
        self._graph = graph
        self._sums: dict[int, AngleSum] = {}

    def enter(self, angle: N) -> N:
        """The node of a known angle itself, which is one from now on."""
        self._sums.setdefault(angle.index, {angle.index: 1})
        return angle

    def in_one_of(self, *nodes: N) -> bool:
        """Whether a node is a sum with a known angle in it."""
        return bool(self._sums) and any(node.index in self._sums for node in nodes)

    def summed(self, a: N, b: N, sign: int) -> N:
        """a + b or a - b."""
        graph = self._graph
        terms = dict(self._sums.get(a.index, {a.index: 1}))
        for k, times in self._sums.get(b.index, {b.index: 1}).items():
            terms[k] = terms.get(k, 0) + sign * times
        terms = {k: times for k, times in sorted(terms.items()) if times}
        known = {k: times for k, times in terms.items() if graph.nodes[k].op == "angle"}
        total = self._rest(terms)
        for k, times in known.items():
            for _ in range(abs(times)):
                total = _raw_sum(graph, total, graph.nodes[k], times > 0)
        if known:
            self._sums[total.index] = terms
        return total

    def pair(self, node: N) -> tuple[N, N]:
        """Cosine and sine of a sum with a known angle in it."""
        graph, terms = self._graph, self._sums[node.index]
        rest = self._rest(terms)
        pair = rest.cos(), rest.sin()
        for k, times in terms.items():
            if graph.nodes[k].op == "angle":
                s, c = graph.nodes[k].args
                for _ in range(abs(times)):
                    pair = _turned(pair, c, s if times > 0 else -s)
        return pair

    def _rest(self, terms: AngleSum) -> N:
        """The sum of the angles that are not known."""
        graph, total = self._graph, self._graph.number(0)
        for k, times in terms.items():
            if graph.nodes[k].op != "angle":
                for _ in range(abs(times)):
                    total = total + graph.nodes[k] if times > 0 else total - graph.nodes[k]
        return total


def _raw_sum(graph: _Graph[N], a: N, b: N, positive: bool) -> N:
    """a + b or a - b as nodes that are not folded."""
    if a.op == "number" and a.value == 0:
        return b if positive else graph.make("neg", (b,))
    return graph.make("add" if positive else "sub", (a, b))


def _turned(pair: tuple[N, N], c: N, s: N) -> tuple[N, N]:
    """Cosine and sine of the sum of two angles."""
    return pair[0] * c - pair[1] * s, pair[1] * c + pair[0] * s
