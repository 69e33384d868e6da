"""Resubstitution: computing values from other values that are there anyway.

Whatever identity makes v = x ± y or v = x y true, exact residues at random points of a finite field
show it, so one search finds distributive factoring, squares, merged constants and relations that
no list of rules has. A cell v that alone needs two or more operations is worth replacing by one
operation on existing cells; one that needs three or more, by two operations, of which the inner
one, w, may serve several cells at once. All work is bounded by counts, never by the clock.
"""

import random
from collections.abc import Iterable

import numpy as np

from armdyn.compiler.anneal import anneal
from armdyn.compiler.candidates import fitted, live_flags, operations
from armdyn.compiler.cones import Cones
from armdyn.compiler.network import COUNTED, Definition, Network
from armdyn.compiler.pairs import Inner, Pairs
from armdyn.compiler.search import Progress
from armdyn.compiler.tables import MOST_PAIRED_CELLS, Tables
from armdyn.errors import GraphError
from armdyn.expr.evaluate import proved_equal
from armdyn.expr.graph import Node

MOST_SEARCHED_CELLS = 6000
"""Live cells above which only equal values are found; the rest takes time as the square."""

MOST_COMPARED = 6_000_000
"""Pairs of cells compared after which no new tables of identities are made."""

LEAST_CONE = 2
"""Operations that a cell alone must need to be worth replacing by one operation."""

DEEP_ROUNDS = 60
"""Rounds of the deep search, each an annealing and a descent."""


def resubstitute(
    outputs: Iterable[Node], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with fewer multiplications and additions, or with as many.

    A deep search takes about a minute and goes on by annealing; it ends when `progress` returns
    True.
    """
    outputs = list(outputs)
    if all(node.constant for node in outputs):
        return outputs
    net = Network(outputs)
    if len(net.live()) <= MOST_SEARCHED_CELLS:
        _descend(net)
    result = net.nodes()
    if deep and len(net.live()) <= MOST_PAIRED_CELLS:
        result = _deepened(result, progress)
    if not proved_equal(outputs, result):
        raise GraphError("resubstitution changed a value; this is a defect of armdyn, report it")
    return result


def _deepened(outputs: list[Node], progress: Progress | None) -> list[Node]:
    """Rounds of annealing and descent, each from where the last one ended."""
    draw = random.Random(0)
    for done in range(1, DEEP_ROUNDS + 1):
        net = Network(outputs)
        anneal(net, draw)
        _descend(net)
        outputs = net.nodes()
        if progress is not None and progress(done, DEEP_ROUNDS, net.total()) is True:
            break
    return outputs


def _descend(net: Network) -> None:
    """Replace until nothing is gained any more, or as many pairs were compared as are allowed."""
    compared, gained = 0, True
    while gained and compared < MOST_COMPARED:
        tables = Tables(net, LEAST_CONE)
        compared += tables.compared
        gained = False
        while _replace_by_one(net, tables):
            gained = True
        if tables.pairs is not None:
            gained |= _replace_by_two(net, tables.pairs) > 0


def _replace_by_one(net: Network, tables: Tables) -> int:
    """One sweep of replacements by one operation; returns what it saved."""
    cones, alive, operation = Cones(net), live_flags(net), operations(net)
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


def _replace_by_two(net: Network, pairs: Pairs) -> int:
    """One sweep of replacements by x op w, with w a new cell; returns what it saved."""
    promising = pairs.promising(Cones(net), live_flags(net), operations(net))
    return sum(_introduce(net, pairs, inner) for inner in promising)


def _introduce(net: Network, pairs: Pairs, inner: Inner) -> int:
    """Make a new cell and use it wherever that gains, if something is gained in all."""
    if not all(net.alive(k) for k in pairs.made(inner.maker)):
        return 0
    w = pairs.make(net, inner.maker)
    saved = 0
    undo: list[tuple[int, Definition]] = []
    for use in inner.uses:
        cell, definition = int(pairs.uses.cell[use]), pairs.definition(net, use, w)
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
