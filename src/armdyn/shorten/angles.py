"""Sums of angles: what rotations about parallel axes come to."""

from collections.abc import Iterable, Iterator
from itertools import product

from armdyn.graph.field import OTHER_PRIME, PRIME
from armdyn.graph.nodes import Node
from armdyn.graph.operations import TRIG
from armdyn.graph.visit import reachable
from armdyn.shorten.network import Definition, Network

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
