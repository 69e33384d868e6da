"""Annealing over the identities of a network: random replacements, accepted by temperature.

Every cell has a list of definitions that give its value: from two live cells, from one and a
constant, or from a new inner cell, which has definitions of its own. A move gives a cell another of
its definitions. Moves that cost operations are accepted the more rarely, the colder it is.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, cycle, islice

import numpy as np

from armdyn.graph.count import count
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.visit import reachable, transcribe
from armdyn.shorten.candidates import SQUARE, Pairs, Row, fitted, operations
from armdyn.shorten.descent import Tables, descend
from armdyn.shorten.network import COUNTED, Definition, Network
from armdyn.shorten.search import Progress
from armdyn.thresholds import MOST_PAIRED_CELLS

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
