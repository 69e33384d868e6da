"""Shortening: the passes, and resubstitution, which computes values from others that are there.

Whatever identity makes v = x ± y or v = x y true, exact residues at random points of a finite field
show it, so one search finds distributive factoring, squares, merged constants and relations that
no list of rules has. All work is bounded by counts, never by the clock.

The descent makes replacements that save operations until there are no more: a cell that alone
needs two or more is replaced by one operation on live cells; one that needs three or more, by two,
of which the inner one may serve several cells. Annealing goes on by random ones: every cell has a
list of definitions, from two live cells, from one and a constant, or from a new inner cell, which
has definitions of its own, and a move gives it another of these. Moves that cost operations are
accepted the more rarely, the colder it is.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, cycle, islice

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import GraphError
from armdyn.graph.count import count
from armdyn.graph.field import proved_equal
from armdyn.graph.nodes import Graph, Node, node_array
from armdyn.graph.visit import reachable, transcribe
from armdyn.shorten.candidates import (
    SQUARE,
    Cones,
    Pairs,
    Pool,
    Row,
    Scales,
    fitted,
    live_flags,
    operations,
)
from armdyn.shorten.network import COUNTED, Definition, Network
from armdyn.shorten.passes import reduce
from armdyn.shorten.search import Progress
from armdyn.thresholds import MOST_PAIRED_CELLS, MOST_PASSED, MOST_SEARCHED_CELLS, MOST_SHORTENED


def shortest_of(
    ways: Iterable[list[Node]], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The shortest of several ways to compute the same values, all of them shortened.

    A deep search, which goes on with the shortest alone, takes minutes instead of tenths of a
    second. The result depends on the ways alone, and is proved equal to them.
    """
    short = []
    for outputs in ways:
        short.append(resubstitute(reduce(outputs)))
        if deep:
            short.append(resubstitute(outputs))
    best = min(short, key=lambda outputs: count(outputs).total)
    return resubstitute(best, deep=True, progress=progress) if deep else best


def shortened(ways: Sequence[Array], deep: bool = False) -> Array:
    """The shortest of several ways to write an array of nodes, by as much work as its size allows.

    By default a large array goes through the passes alone, and a larger one is the first way as it
    is written.
    """
    first = ways[0]
    size = count(first.flat).total
    if size > MOST_PASSED.value and not deep:
        return first
    try:
        if deep or size <= MOST_SHORTENED.value:
            short = shortest_of([list(way.flat) for way in ways], deep)
        else:
            short = reduce(first.flat)
    except ZeroDivisionError:  # what divides by zero at every state has no values to compare
        return first
    return node_array(short, first.shape)


def resubstitute(
    outputs: Iterable[Node], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with fewer multiplications and additions, or with as many.

    A deep search goes on by annealing, which takes a minute or two; it ends when `progress` returns
    True.
    """
    outputs = list(outputs)
    if all(node.constant for node in outputs):
        return outputs
    net = Network(outputs)
    if len(net.live()) <= MOST_SEARCHED_CELLS.value:
        descend(net)
    result = annealed(net.nodes(), progress) if deep else net.nodes()
    if not proved_equal(outputs, result):
        raise GraphError("resubstitution changed a value; this is a defect of armdyn, report it")
    return result


MOST_COMPARED = 6_000_000
"""Pairs of cells compared after which no new tables of identities are made."""

LEAST_CONE = 2
"""Operations that a cell alone must need to be worth replacing by one operation."""


class Tables:
    """Identities for the cells that alone need so many operations at least, themselves included."""

    def __init__(self, net: Network, least_cone: int):
        pool = Pool(net)
        targets = np.flatnonzero(operations(net) & (Cones(net).size[:-1] >= least_cone))
        self.scales = Scales(net, pool)
        ones, scaled = pool.matches(net, targets, [pool.table, self.scales.table])
        ones = replace(ones, y=pool.cells[pool.table.first[ones.y]])
        self.ones = ones[(ones.x <= ones.y) & (ones.x != ones.cell) & (ones.y != ones.cell)]
        """Cells computed from two live ones."""
        self.scaled = scaled[(scaled.x != scaled.cell) & (self.scales.table.keys[scaled.y] > 0)]
        """Cells computed from a live one and a constant: y is its place among the scales."""
        few = len(pool.cells) <= MOST_PAIRED_CELLS.value
        self.pairs = Pairs(net, pool, targets) if few else None
        """Cells computed from new ones; None if there are too many cells."""
        self.compared = len(pool.cells) * (len(targets) + few * len(pool.cells) // 2)
        """Pairs of cells that were looked at."""


def descend(net: Network) -> None:
    """Replace until nothing is gained any more, or as many pairs were compared as are allowed."""
    compared, gained = 0, True
    while gained and compared < MOST_COMPARED:
        tables = Tables(net, LEAST_CONE)
        compared += tables.compared
        gained = False
        while _replace_by_one(net, tables):
            gained = True
        if tables.pairs is not None:
            # by x op w, with w a new cell
            promising = tables.pairs.promising(Cones(net), live_flags(net), operations(net))
            gained |= sum(_introduce(net, tables.pairs, *inner) for inner in promising) > 0


def _replace_by_one(net: Network, tables: Tables) -> int:
    """One sweep of replacements by one operation; returns what it saved."""
    cones = Cones(net)
    alive = live_flags(net)
    operation = operations(net)
    waiting = []
    for scaled, found in enumerate((tables.ones, tables.scaled)):
        other = found.x if scaled else found.y
        bound = cones.freed(found.cell, found.x, other) - 1
        good = (bound > 0) & operation[found.cell] & alive[found.x] & alive[other]
        rows = found[np.flatnonzero(good)].rows()
        waiting += [(-gain, scaled, *row) for gain, row in zip(bound[good], rows, strict=True)]
    saved = 0
    for _, scaled, cell, product, x, place in sorted(waiting):
        y = tables.scales.constant(net, place) if scaled else place
        definition = fitted(net, cell, COUNTED[product], x, y)
        if definition is None or not (net.alive(x) and net.alive(y)):
            continue
        if (net.gain(cell, definition) or 0) > 0:
            saved += net.redefine(cell, definition)
    return saved


def _introduce(net: Network, pairs: Pairs, maker: int, uses: list[int]) -> int:
    """Make a new cell and use it wherever that gains, if something is gained in all."""
    if not all(net.alive(k) for k in pairs.made(maker)):
        return 0
    w = pairs.make(net, maker)
    saved = 0
    undo: list[tuple[int, Definition]] = []
    for use in uses:
        cell = int(pairs.uses.cell[use])
        definition = pairs.definition(net, use, w)
        gain = None if definition is None else net.gain(cell, definition)
        if definition is not None and gain is not None and gain >= bool(undo):
            undo.append((cell, net.definition[cell]))
            saved += net.redefine(cell, definition)
    if saved > 0:
        return saved
    for cell, old in reversed(undo):
        net.redefine(cell, old)
    net.discard(w)
    return 0


HOTTEST, COLDEST = (0.25, 0.36, 0.3), 0.13
"""Temperatures that chains begin with by turns, and the one they all end with, in operations."""

STAGES, MOVES_PER_OPERATION = 200, 40
"""Stages of a chain, after each of which the identities are found anew, and moves of a stage for
each operation of the network."""

MORE_CHAINS, OPERATIONS_OF_CHAINS = 11, 600
"""Chains besides the first at most, and the operations that they may have together."""

Definitions = dict[int, list[Definition]]
"""For each cell the definitions that it may be given."""


def annealed(outputs: list[Node], progress: Progress | None = None) -> list[Node]:
    """The shortest result of several chains of annealing, or the outputs if none is shorter."""
    draw = random.Random(0)
    best, least = outputs, count(outputs).total
    if len(reachable(outputs)) > MOST_PAIRED_CELLS.value:
        return outputs
    chains = 1 + min(MORE_CHAINS, least // 16, OPERATIONS_OF_CHAINS // (1 + least))
    starts = islice(cycle(HOTTEST), chains)
    together = chain.from_iterable(_chain(outputs, draw, hottest) for hottest in starts)
    for done, net in enumerate(together, start=1):
        if net.total() < least:
            best, least = net.nodes(), net.total()
        if progress is not None and progress(done, chains * STAGES, least) is True:
            break
    return transcribe(best, outputs[0].graph)


def _chain(outputs: list[Node], draw: random.Random, hottest: float) -> Iterator[Network]:
    """The network after each stage of a chain, the last of them after a descent."""
    nodes = transcribe(outputs, Graph())
    for stage in range(STAGES):
        net = Network(nodes)
        definitions = _definitions(net)
        cells = list(definitions)
        temperature = hottest * (COLDEST / hottest) ** (stage / (STAGES - 1))
        for _ in range(MOVES_PER_OPERATION * net.total() if cells else 0):
            cell = cells[int(draw.random() * len(cells))]
            if net.uses[cell]:
                _move(net, cell, definitions, draw, temperature)
        if stage == STAGES - 1:
            descend(net)
        yield net
        nodes = net.nodes()


def _move(
    net: Network, cell: int, definitions: Definitions, draw: random.Random, temperature: float
) -> None:
    """Give a cell another of its definitions, if that is accepted."""
    old, new = net.definition[cell], draw.choice(definitions[cell])
    below = [k >> 1 for k in new[1]]
    for k in below:
        if not net.uses[k] and k in definitions:  # a new cell may be made in several ways
            made = draw.choice(definitions[k])
            if not net.depends([literal >> 1 for literal in made[1]], k):
                net.redefine(k, made)
    if new == old or net.depends(below, cell):
        return
    saved = net.redefine(cell, new)
    if saved < 0 and draw.random() >= math.exp(saved / temperature):
        net.redefine(cell, old)


def _definitions(net: Network) -> Definitions:
    """The definitions of all operations that are live, and of new inner cells."""
    tables = Tables(net, least_cone=1)
    found: Definitions = defaultdict(list)
    rows = list(tables.ones.rows())
    for cell, product, x, place in tables.scaled.rows():
        rows.append((cell, product, x, tables.scales.constant(net, place)))
    if tables.pairs is not None:
        rows += _inner(net, tables.pairs)
    for cell, product, x, y in rows:
        definition = fitted(net, cell, COUNTED[product], x, y)
        if definition is not None:
            found[cell].append(definition)
    return dict(found)


def _inner(net: Network, pairs: Pairs) -> list[Row]:
    """New cells, each with a row for every way to make it and for every use of it."""
    uses = pairs.uses[np.flatnonzero(operations(net)[pairs.uses.cell])]
    used = set(uses.y.tolist())
    made: dict[int, int] = {}
    rows: list[Row] = []
    for maker, (place, product, x, y) in enumerate(pairs.makers.rows()):
        if place in used:
            if place not in made:
                made[place] = pairs.make(net, maker)
            rows.append((made[place], product, x, y))
    for cell, product, x, place in uses.rows():
        if place in made:
            w = made[place]
            rows.append((cell, product, w if product and x == SQUARE else x, w))
    return rows
