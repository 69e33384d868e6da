"""Resubstitution: computing values from other values that are there anyway.

Whatever identity makes v = x ± y or v = x y true, exact residues at random points of a finite field
show it, so one search finds distributive factoring, squares, merged constants and relations that
no list of rules has. A cell v that alone needs two or more operations is worth replacing by one
operation on existing cells; one that needs three or more, by two operations, of which the inner
one, w, may serve several cells at once.
"""

import random
from collections.abc import Callable, Iterable

from armdyn.compiler.candidates import Pairs, Scales, Singles, Use, fitted
from armdyn.compiler.network import Definition, Network
from armdyn.errors import GraphError
from armdyn.expr.evaluate import proved_equal
from armdyn.expr.graph import Node

MOST_SEARCHED_CELLS = 6000
"""Live cells above which only equal values are found; the rest takes time as the square."""

MOST_PAIRED_CELLS = 1500
"""Live cells above which no new inner operations are sought; their table grows as the square."""

DEEP_ROUNDS = 40
"""Rounds of the deep search, each of some moves that gain nothing and a descent."""

Progress = Callable[[int, int, int], None]
"""Called with rounds done, rounds in all, and the operations left."""


def resubstitute(
    outputs: Iterable[Node], deep: bool = False, progress: Progress | None = None
) -> list[Node]:
    """The outputs computed with fewer multiplications and additions, or with as many.

    Args:
        outputs: What to compute, nodes of one graph.
        deep: Whether to leave local minima by moves that gain nothing, a matter of a minute.
        progress: Called after each round of the deep search.
    """
    outputs = list(outputs)
    if all(node.constant for node in outputs):
        return outputs
    net = Network(outputs)
    if len(net.live()) <= MOST_SEARCHED_CELLS:
        _descend(net)
        if deep:
            _explore(net, progress)
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
        best, choice = 0, None
        for definition in (*singles.definitions(cell), *scales.definitions(cell)):
            gain = _try(net, cell, definition)
            if gain is not None and gain > best:
                best, choice = gain, definition
        if choice is not None:
            saved += net.redefine(cell, choice)
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
        if not net.is_operation(use.cell) or not (x == w or net.alive(x)):
            continue
        definition = fitted(net, use.cell, use.op, x, w)
        if definition is None or net.depends(definition[1], use.cell):
            continue
        old = net.definition[use.cell]
        gain = net.redefine(use.cell, definition)
        if gain > 0 or (gain == 0 and not undo):
            saved += gain
            undo.append((use.cell, old))
        else:
            net.redefine(use.cell, old)
    if saved < least:
        for cell, old in reversed(undo):
            net.redefine(cell, old)
        return 0
    return saved


def _targets(net: Network) -> list[int]:
    cells = range(len(net.definition))
    return [c for c in cells if net.is_operation(c) and net.cone(c) >= 2]


def _try(net: Network, cell: int, definition: Definition) -> int | None:
    """What a definition would save; None if the cell would depend on itself or is not there."""
    if not net.is_operation(cell) or net.depends(definition[1], cell):
        return None
    if not all(net.alive(k >> 1) for k in definition[1]):
        return None
    old = net.definition[cell]
    gain = net.redefine(cell, definition)
    net.redefine(cell, old)
    return gain


def _explore(net: Network, progress: Progress | None) -> None:
    """Walk along the plateau and descend, again and again; the total never rises."""
    draw = random.Random(0)
    for done in range(1, DEEP_ROUNDS + 1):
        _wander(net, draw)
        _descend(net)
        if progress is not None:
            progress(done, DEEP_ROUNDS, net.total())


def _wander(net: Network, draw: random.Random) -> None:
    """Some replacements that gain nothing, drawn at random."""
    singles = Singles(net)
    cells = [c for c in range(len(net.definition)) if net.is_operation(c)]
    for cell in draw.sample(cells, k=len(cells) // 4):
        options = [d for d in singles.definitions(cell) if _try(net, cell, d) == 0]
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
