"""Resubstitution: computing values from other values that are there anyway.

Whatever identity makes v = x ± y or v = x y true, exact residues at random points of a finite field
show it, so one search finds distributive factoring, squares, merged constants and relations that
no list of rules has. A cell v that alone needs two or more operations is worth replacing by one
operation on existing cells; one that needs three or more, by two operations, of which the inner
one, w, may serve several cells at once.
"""

import random
from collections.abc import Iterable

from armdyn.compiler.candidates import Pairs, Scales, Singles, Use, fitted
from armdyn.compiler.network import Definition, Network
from armdyn.compiler.search import Progress
from armdyn.errors import GraphError
from armdyn.expr.evaluate import proved_equal
from armdyn.expr.graph import Node

MOST_SEARCHED_CELLS = 6000
"""Live cells above which only equal values are found; the rest takes time as the square."""

MOST_PAIRED_CELLS = 1500
"""Live cells above which no new inner operations are sought; their table grows as the square."""

DEEP_ROUNDS = 40
"""Rounds of the deep search, each of some moves that gain nothing and a descent."""


def resubstitute(
    outputs: Iterable[Node], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with fewer multiplications and additions, or with as many.

    A deep search takes about a minute: rounds of moves that gain nothing leave local minima.
    """
    outputs = list(outputs)
    if all(node.constant for node in outputs):
        return outputs
    net = Network(outputs)
    if len(net.live()) <= MOST_SEARCHED_CELLS:
        _descend(net)
        draw = random.Random(0)
        for done in range(1, DEEP_ROUNDS + 1 if deep else 1):
            _wander(net, draw)
            _descend(net)
            if progress is not None:
                progress(done, DEEP_ROUNDS, net.total())
    result = net.nodes()
    if not proved_equal(outputs, result):
        raise GraphError("resubstitution changed a value; this is a defect of armdyn, report it")
    return result


def _descend(net: Network) -> None:
    """Replace until nothing is gained any more."""
    while True:
        while _replace_by_one(net):
            pass
        if len(net.live()) > MOST_PAIRED_CELLS or not _replace_by_two(net):
            return


def _replace_by_one(net: Network) -> int:
    """One sweep of replacements by one operation; returns what it saved."""
    singles = Singles(net)
    scales = Scales(net, singles)
    saved = 0
    for cell in _targets(net):
        options = [*singles.definitions(cell), *scales.definitions(cell)]
        gains = [_gain(net, cell, definition) or 0 for definition in options]
        if max(gains, default=0) > 0:
            saved += net.redefine(cell, options[gains.index(max(gains))])
    return saved


def _replace_by_two(net: Network) -> int:
    """One sweep of replacements by x op w, with w a new cell; returns what it saved."""
    pairs = Pairs(net, Singles(net))
    cones = {cell: net.cone(cell) for cell in _targets(net)}
    uses = pairs.uses(list(cones))
    bounds = {
        place: sum({u.cell: cones[u.cell] - 1 for u in group}.values()) - 1
        for place, group in uses.items()
    }
    promising = sorted((p for p in uses if bounds[p] > 0), key=lambda p: (-bounds[p], p))
    saved = 0
    for place in promising:
        group = sorted(uses[place], key=lambda u: -cones[u.cell])
        saved += _introduce(net, pairs, place, group, least=1)
    return saved


def _introduce(net: Network, pairs: Pairs, place: int, uses: list[Use], least: int) -> int:
    """Make a new cell and use it wherever that gains, if the least is gained in all."""
    for op, x, y in pairs.operations(place):
        if not (net.alive(x) and net.alive(y)):
            continue
        w = net.new(op, pairs.literals(place, op, x, y))
        saved = _use(net, w, uses, least)
        if net.uses[w]:
            return saved
        net.discard(w)
    return 0


def _use(net: Network, w: int, uses: list[Use], least: int) -> int:
    """Compute cells from w where it helps; undone if less than the least is saved in all."""
    saved = 0
    undo: list[tuple[int, Definition]] = []
    for use in uses:
        x = w if use.x is None else use.x
        definition = fitted(net, use.cell, use.op, x, w) if x == w or net.alive(x) else None
        gain = None if definition is None else net.gain(use.cell, definition)
        if definition is not None and gain is not None and gain >= bool(undo):
            undo.append((use.cell, net.definition[use.cell]))
            saved += net.redefine(use.cell, definition)
    if saved >= least:
        return saved
    for cell, old in reversed(undo):
        net.redefine(cell, old)
    return 0


def _targets(net: Network) -> list[int]:
    cells = range(len(net.definition))
    return [c for c in cells if net.is_operation(c) and net.cone(c) >= 2]


def _gain(net: Network, cell: int, definition: Definition) -> int | None:
    """What a definition in cells that are there anyway would save; None if it cannot be taken."""
    there = all(net.alive(k >> 1) for k in definition[1])
    return net.gain(cell, definition) if there else None


def _wander(net: Network, draw: random.Random) -> None:
    """Some replacements that gain nothing, drawn at random."""
    singles = Singles(net)
    cells = [c for c in range(len(net.definition)) if net.is_operation(c)]
    for cell in draw.sample(cells, k=len(cells) // 4):
        options = [d for d in singles.definitions(cell) if _gain(net, cell, d) == 0]
        if options:
            net.redefine(cell, draw.choice(options))
    if len(net.live()) > MOST_PAIRED_CELLS:
        return
    pairs, targets = Pairs(net, Singles(net)), _targets(net)
    for cell in draw.sample(targets, k=len(targets) // 4):
        uses = pairs.uses([cell])
        if uses:
            place = draw.choice(list(uses))
            _introduce(net, pairs, place, uses[place], least=0)
