"""Constants moved outwards and together, where they are worked out beforehand."""

from collections.abc import Iterable
from dataclasses import dataclass

from armdyn.graph.nodes import Graph, Node, is_number
from armdyn.graph.visit import inside_angles, reachable, uses


@dataclass(frozen=True, slots=True)
class Affine:
    """The value scale (core + offset), of which nothing is made yet."""

    scale: Node
    """A constant."""
    core: Node
    """What changes with the inputs; the number 0 if nothing does."""
    offset: Node
    """A constant."""

    @staticmethod
    def of(node: Node) -> "Affine":
        """A node as it is."""
        one = node.graph.number(1)
        zero = node.graph.number(0)
        return Affine(one, zero, node) if node.constant else Affine(one, node, zero)

    def node(self) -> Node:
        """The value, made."""
        graph = self.core.graph
        x = graph.add(self.core, self.offset)
        double = is_number(self.scale, 2) and not x.constant
        return graph.add(x, x) if double else graph.mul(self.scale, x)


def hoist(outputs: Iterable[Node]) -> list[Node]:
    """Gather constants: c1 (c2 x) = (c1 c2) x, c1 x + c2 x = (c1 + c2) x, (x + c1) + c2 alike.

    Every value is carried as a constant times a sum with a constant. It is made where it is used
    more than once, so nothing that was shared is computed twice. Angles stay as they are.
    """
    outputs = list(outputs)
    used, angles = uses(outputs), inside_angles(outputs)
    carried: dict[int, Affine] = {}
    for node in reachable(outputs):
        if node.constant or node.index in angles:
            carried[node.index] = Affine.of(node)
            continue
        value = _carried(node, [carried[a.index] for a in node.args])
        carried[node.index] = Affine.of(value.node()) if used[node.index] > 1 else value
    return [carried[node.index].node() for node in outputs]


def _carried(node: Node, args: list[Affine]) -> Affine:
    graph = node.graph
    match node.op:
        case "neg":
            return _scaled(graph.number(-1), args[0])
        case "add":
            return _sum(graph, args[0], args[1])
        case "sub":
            return _sum(graph, args[0], _scaled(graph.number(-1), args[1]))
        case "mul" if node.args[0].constant:
            return _scaled(node.args[0], args[1])
        case "mul" if node.args[1].constant:
            return _scaled(node.args[1], args[0])
        case "mul" | "div":
            scale = graph.apply(node.op, [a.scale for a in args])
            x, y = (graph.add(a.core, a.offset) for a in args)
            if node.op == "div" and x.constant:
                return Affine.of(graph.div(graph.mul(scale, x), y))
            return _scaled(scale, Affine.of(graph.apply(node.op, [x, y])))
        case _:
            return Affine.of(graph.apply(node.op, [a.node() for a in args]) if args else node)


def _scaled(c: Node, a: Affine) -> Affine:
    return Affine(a.scale.graph.mul(c, a.scale), a.core, a.offset)


def _sum(graph: Graph, a: Affine, b: Affine) -> Affine:
    if a.scale is b.scale:  # c x + c y = c (x + y)
        return Affine(a.scale, graph.add(a.core, b.core), graph.add(a.offset, b.offset))
    if a.scale is graph.neg(b.scale):  # c x - c y = c (x - y)
        return Affine(a.scale, graph.sub(a.core, b.core), graph.sub(a.offset, b.offset))
    offset = graph.add(graph.mul(a.scale, a.offset), graph.mul(b.scale, b.offset))
    if a.core is b.core:  # c1 x + c2 x = (c1 + c2) x
        core = graph.mul(graph.add(a.scale, b.scale), a.core)
    else:
        core = graph.add(graph.mul(a.scale, a.core), graph.mul(b.scale, b.core))
    return Affine(graph.number(1), core, offset)
