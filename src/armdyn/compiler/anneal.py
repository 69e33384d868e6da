"""Annealing over the identities of a network: random replacements, accepted by temperature.

Every cell has a list of definitions that give its value: from two live cells, from one and a
constant, or from a new inner cell, which has definitions of its own. A move gives a cell another of
its definitions. Moves that cost operations are accepted the more rarely, the colder it is.
"""

import math
import random
from collections import defaultdict

import numpy as np

from armdyn.compiler.candidates import Row, fitted, operations
from armdyn.compiler.network import COUNTED, Definition, Network
from armdyn.compiler.pairs import SQUARE, Pairs
from armdyn.compiler.tables import Tables

HOTTEST, COLDEST = 0.35, 0.1
"""Temperatures between which annealing cools, in operations."""

MOVES_PER_OPERATION = 400
"""Moves of one annealing for each operation of the network."""

Definitions = dict[int, list[Definition]]
"""For each cell the definitions that it may be given."""


def anneal(net: Network, draw: random.Random) -> None:
    """Give the network the cheapest definitions met in one annealing, the last of them."""
    definitions = _definitions(net)
    cells = list(definitions)
    now = least = net.total()
    kept = list(net.definition)
    moves = MOVES_PER_OPERATION * now if cells else 0
    cooling = math.log(COLDEST / HOTTEST) / max(1, moves)
    for step in range(moves):
        cell = cells[int(draw.random() * len(cells))]
        if net.uses[cell]:
            now -= _move(net, cell, definitions, draw, HOTTEST * math.exp(cooling * step))
            if now <= least:
                least, kept = now, list(net.definition)
    net.restore(kept)


def _move(
    net: Network, cell: int, definitions: Definitions, draw: random.Random, temperature: float
) -> int:
    """Give a cell another definition, if that is accepted; returns how many operations it saves."""
    old, new = net.definition[cell], draw.choice(definitions[cell])
    below = [k >> 1 for k in new[1]]
    for k in below:
        if not net.uses[k] and k in definitions:  # a new cell may be made in several ways
            made = draw.choice(definitions[k])
            if not net.depends([literal >> 1 for literal in made[1]], k):
                net.redefine(k, made)
    if new == old or net.depends(below, cell):
        return 0
    saved = net.redefine(cell, new)
    if saved < 0 and draw.random() >= math.exp(saved / temperature):
        net.redefine(cell, old)
        return 0
    return saved


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
