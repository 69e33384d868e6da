"""The passes, in the order in which they run.

A pass takes outputs and returns the same values computed with fewer operations; its name and the
first line of its documentation say what it does. What they make together is proved at the end.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from armdyn.arrays import record
from armdyn.errors import GraphError
from armdyn.graph.count import count
from armdyn.graph.field import OTHER_PRIME, PRIME, proved_equal
from armdyn.graph.nodes import Graph, Node, is_number
from armdyn.graph.operations import TRIG
from armdyn.graph.visit import inside_angles, reachable, transcribe, uses
from armdyn.shorten.network import Definition, Network

Pass = Callable[[list[Node]], list[Node]]


Stage = tuple[list[Node], list[Node], str]
"""Outputs before and after a pass, and its name."""


def fold(outputs: Iterable[Node]) -> list[Node]:
    """Build what outputs need anew, so that zeros, ones and signs are folded."""
    return transcribe(outputs, Graph())


def share(outputs: Iterable[Node]) -> list[Node]:
    """Compute what has the same value once, however it is written."""
    outputs = list(outputs)
    return Network(outputs).nodes() if outputs else []


MOST_ANGLES_IN_SUM = 3
"""Angles in a sum."""

LEAST_CONE = 2
"""Operations that a cell alone must need to be worth replacing by one product."""


def angles(outputs: Iterable[Node]) -> list[Node]:
    """Use sums of angles where it saves: x (cos a cos b - sin a sin b) = x cos(a + b).

    Angles that follow each other are tried, as parallel axes do in a chain. Which values are
    products with such a cosine or sine shows in their residues, however they are written.
    """
    outputs = list(outputs)
    turned = {n.args[0].index: n.args[0] for n in reachable(outputs) if n.op in TRIG}
    sums = list(_sums([turned[i] for i in sorted(turned) if not turned[i].constant]))
    if not sums:
        return outputs
    net = Network(outputs, [f for total, _ in sums for f in (total.cos(), total.sin())])
    touched = _touched(net)
    for k, (_, parts) in enumerate(sums):
        cells = {cell for part in parts for cell in touched.get(net.cell(part), ())}
        _use_sum(net, sorted(cells), net.extra[2 * k : 2 * k + 2])
    return net.nodes()


def _sums(single: list[Node]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Sums and differences of angles that follow each other, with their parts."""
    for length in range(2, MOST_ANGLES_IN_SUM + 1):
        for start in range(len(single) - length + 1):
            parts = tuple(single[start : start + length])
            for signs in product((1, -1), repeat=length - 1):
                total = parts[0]
                for sign, part in zip(signs, parts[1:], strict=True):
                    total = total + part if sign > 0 else total - part
                if not total.constant:
                    yield total, parts


def _touched(net: Network) -> dict[int, list[int]]:
    """The cells that use a sine or cosine of each angle, perhaps through cells of their own."""
    result: dict[int, list[int]] = {}
    for cell in net.order():
        if not net.is_operation(cell):
            continue
        found, stack = set(), [cell]
        while stack:
            op, literals = net.definition[stack.pop()]
            if op in TRIG:
                found.add(literals[0] >> 1)
                continue
            below = [k >> 1 for k in literals]
            stack.extend(c for c in below if net.uses[c] == 1 or net.definition[c][0] in TRIG)
        for angle in sorted(found):
            result.setdefault(angle, []).append(cell)
    return result


def _use_sum(net: Network, cells: list[int], functions: list[int]) -> None:
    """Compute cells from the cosine and sine of one sum, if that saves anything in all."""
    primes = (net.first, PRIME), (net.second, OTHER_PRIME)
    turns = [  # with the inverses of their residues at the two points
        (k >> 1, *(pow(residues[k >> 1], -1, prime) for residues, prime in primes))
        for k in functions
        if all(residues[k >> 1] for residues, _ in primes)
    ]
    saved = 0
    undo: list[tuple[int, Definition]] = []
    for cell in reversed(cells):
        for definition in _products(net, cell, turns):
            gain = net.gain(cell, definition) if net.cone(cell) >= LEAST_CONE else None
            if gain is not None and gain >= 0:
                undo.append((cell, net.definition[cell]))
                saved += net.redefine(cell, definition)
                break
    if saved <= 0:
        for cell, old in reversed(undo):
            net.redefine(cell, old)


def _products(net: Network, cell: int, turns: list[tuple[int, ...]]) -> Iterator[Definition]:
    """The cell as a product of a live cell and one of the turns, given with their inverses."""
    if not net.is_operation(cell):
        return
    at_first, at_second = net.first[cell], net.second[cell]
    for turn, first, second in turns:
        x = net.find(at_first * first % PRIME, at_second * second % OTHER_PRIME)
        if x is not None and net.alive(x >> 1):
            yield "mul", (x, 2 * turn)


@record
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


SUM = ("add", "sub", "neg")
"""Operations that a sum is flattened through."""


@record
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
            made[node.index] = _added(graph, terms)
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
        bracket = _added(graph, _factored(graph, rest) or rest)
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


def _added(graph: Graph, terms: list[Factors]) -> Node:
    """The sum of the terms: constants first, so that they are added beforehand."""
    nodes = [(term.negative, term.node(graph)) for term in terms]
    result = graph.number(0)
    for negative, node in sorted(nodes, key=lambda x: not x[1].constant):
        result = graph.sub(result, node) if negative else graph.add(result, node)
    return result


PASSES: tuple[Pass, ...] = (fold, share, angles, hoist, factor, share, fold)


def reduce(outputs: Iterable[Node], passes: Sequence[Pass] = PASSES) -> list[Node]:
    """The outputs after all passes, proved to have the same values.

    A pass that would make this graph dearer is passed over, so the count never rises.
    """
    outputs = list(outputs)
    stages: list[Stage] = []
    total = count(outputs).total
    for run in passes:
        stage = outputs, run(outputs), run.__name__
        after = count(stage[1]).total
        if after > total:
            _prove([stage])
        else:
            stages.append(stage)
            outputs, total = stage[1], after
    _prove(stages)
    return outputs


def _prove(stages: Sequence[Stage]) -> None:
    """Raise a GraphError that names the pass and the output if a value was changed.

    All passes are right if the first and the last graph are the same functions.
    """
    if not stages or proved_equal(stages[0][0], stages[-1][1]):
        return
    for before, after, name in stages:
        if len(before) != len(after):
            raise GraphError(f"{name}: made {len(after)} outputs of {len(before)}")
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            if not proved_equal([old], [new]):
                raise GraphError(
                    f"{name}: node {new.index}, {new!r}, does not have the value of output "
                    f"{place}, {old!r}"
                )
