"""Descent: replacements in a network that save operations, until there are no more.

A cell that alone needs two or more operations is worth replacing by one operation on live cells;
one that needs three or more, by two operations, of which the inner one may serve several cells.
"""

from dataclasses import replace

import numpy as np

from armdyn.shorten.candidates import Cones, Pairs, Pool, Scales, fitted, live_flags, operations
from armdyn.shorten.network import COUNTED, Definition, Network
from armdyn.thresholds import MOST_PAIRED_CELLS

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
