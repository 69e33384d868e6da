"""Ways to compute the cells of a network from each other, found by their residues.

An identity that holds once holds for ever, because a cell keeps its value; only what it saves
changes with the network. So the identities are found once, and what each saves is bounded by cones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from armdyn.graph import field
from armdyn.graph.evaluate import evaluate
from armdyn.graph.field import PRIME, Residues, unsigned
from armdyn.graph.nodes import Node
from armdyn.shorten.network import COUNTED, ONE, ZERO, Definition, Network

SMALLEST_DIVISOR = 1e-6
"""Constants below this are not divided by: they may be rounding errors of an exact zero."""

MOST_CONSTANTS = 200
"""Constants that are combined with each other."""

BLOCK = 2**15
"""Pairs that are combined at a time: few enough for the cache."""

FILTER_SHARE = 16
"""A filter leaves out at least those but one in so many residues that a table does not have."""

Row = tuple[int, int, int, int]
"""A cell, whether it is a product, and its operands."""

Cells = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

_OUTSIDE, _UNKNOWN = -1, -2
"""The user of outputs, which dominates what no single cell needs; and no dominator yet."""


class Cones:
    """The cones of all live cells of a network as it is now.

    The cone of a cell are the cells that only it needs, which vanish if it is computed in another
    way. It is its subtree in the tree of dominators: a cell belongs to it if every way from an
    output down to it passes through the top. Cones are nested or disjoint.
    """

    def __init__(self, net: Network):
        used = [cell for cell, uses in enumerate(net.uses) if uses]
        order = sorted(used, key=net.rank.__getitem__)
        above = _dominators(net, order)
        places = len(net.definition) + 1  # the last one is for the outside
        size, width = [0] * places, [1] * places
        for cell in order:
            size[cell] += net.price[cell]
            size[above[cell]] += size[cell]
            width[above[cell]] += width[cell]
        start, free = [_OUTSIDE] * places, [0] * places
        for cell in reversed(order):
            start[cell] = free[above[cell]]
            free[above[cell]] += width[cell]
            free[cell] = start[cell] + 1
        self.size: Cells = np.array(size, dtype=np.intp)
        """Operations of each cone; 0 for cells that are not live."""
        self._start: Cells = np.array(start, dtype=np.intp)
        self._end: Cells = self._start + np.array(width, dtype=np.intp)

    def has(self, top: Cells, cell: Cells) -> npt.NDArray[np.bool_]:
        """Whether a cell is in the cone of another."""
        place = self._start[cell]
        return (self._start[top] <= place) & (place < self._end[top]) & (place >= 0)

    def freed(self, top: Cells, *kept: Cells) -> Cells:
        """At most so many operations of a cone are not needed if some of its cells are."""
        free = self.size[top].copy()
        for i, cell in enumerate(kept):
            counted = self.has(top, cell)
            for j, other in enumerate(kept):
                if i != j:
                    again = self.has(other, cell)
                    counted &= ~(again & (cell != other) if i < j else again)
            free -= np.where(counted, self.size[cell], 0)
        return free


def _dominators(net: Network, order: list[int]) -> list[int]:
    """The nearest cell that every way from the outputs to a cell passes, by cell."""
    above = [_UNKNOWN] * len(net.definition)
    depth = [0] * len(net.definition)
    for literal in net.outputs:
        above[literal >> 1] = _OUTSIDE
    for cell in reversed(order):
        depth[cell] = 1 if above[cell] == _OUTSIDE else depth[above[cell]] + 1
        for k in net.operands[cell]:
            a, b = above[k], cell
            if a == _UNKNOWN:
                a = cell
            while a not in (b, _OUTSIDE):
                if depth[a] >= depth[b]:
                    a = above[a]
                else:
                    b = above[b]
            above[k] = a
    return above


class KeyTable:
    """Sorted residues in which others are looked up."""

    def __init__(self, keys: Residues):
        self.keys, self.first = np.unique(keys, return_index=True)
        self._mask = np.uint64(2 ** (FILTER_SHARE * max(1, len(self.keys))).bit_length() - 1)
        self._filter = np.zeros(int(self._mask) + 1, dtype=np.bool_)
        self._filter[(self.keys & self._mask).view(np.int64)] = True

    def find(self, sought: Residues) -> tuple[Cells, Cells]:
        """Places, in the flat array, of residues that the table has, and their places in it."""
        sought = sought.ravel()
        likely = np.flatnonzero(self._filter[(sought & self._mask).view(np.int64)])
        place = np.searchsorted(self.keys, sought[likely])
        place[place == len(self.keys)] = 0
        hit = self.keys[place] == sought[likely] if len(self.keys) else place < 0
        return likely[hit], place[hit]


class Pool:
    """The live cells of a network, constants first, with their residues."""

    def __init__(self, net: Network):
        cells = [c for c in net.live() if net.first[c] not in (0, 1, PRIME - 1)]
        cells.sort(key=lambda c: not net.is_constant(c))
        self.cells: Cells = np.array(cells, dtype=np.intp)
        self.constants = sum(net.is_constant(c) for c in cells)
        self.values = np.array([net.first[c] for c in cells], dtype=np.uint64)
        self.inverses = np.array([pow(net.first[c], -1, PRIME) for c in cells], dtype=np.uint64)
        self.table = KeyTable(unsigned(self.values))

    def matches(self, net: Network, targets: Cells, tables: "list[KeyTable]") -> "list[Identities]":
        """For each table the identities of the targets with a cell x and a place y of the table."""
        values = np.array(net.first, dtype=np.uint64)
        rows = max(1, BLOCK // max(1, len(self.cells)))
        found: list[list[Identities]] = [[] for _ in tables]
        for start in range(0, max(1, len(targets)), rows):
            block = targets[start : start + rows]
            v, x = values[block, None], self.values[None, :]
            sought = [field.add(v, x), field.sub(v, x), field.mul(v, self.inverses[None, :])]
            wanted = unsigned(np.stack(sought))
            for table, results in zip(tables, found, strict=True):
                hit, place = table.find(wanted)
                kind, row, column = np.unravel_index(hit, wanted.shape)
                results.append(Identities(block[row], kind == 2, self.cells[column], place))
        return [Identities.join(results) for results in found]

    def combined(self) -> Residues:
        """Sums, differences and products of all pairs, (3, n, n).

        They are 0 where the pair is in another place too, or is made of constants alone.
        """
        n, start = len(self.cells), 0
        keys = np.zeros((3, n, n), dtype=np.uint64)
        while start < n:
            stop = min(n, start + max(1, BLOCK // (n - start)))
            x = self.values[start:stop, None]
            y = self.values[None, start:]
            block = unsigned(np.stack([field.add(x, y), field.sub(x, y), field.mul(x, y)]))
            keys[:, start:stop, start:] = np.triu(block)
            start = stop
        keys[:, : self.constants, : self.constants] = 0
        return keys


@dataclass(frozen=True, slots=True)
class Identities:
    """cell = ±x ± y or ±x y, one in each place of the arrays."""

    cell: Cells
    product: Flags
    x: Cells
    y: Cells

    def __getitem__(self, chosen: Cells | Flags) -> Self:
        return type(self)(self.cell[chosen], self.product[chosen], self.x[chosen], self.y[chosen])

    def rows(self) -> Iterator[Row]:
        """The identities one by one."""
        columns = self.cell, self.product.astype(np.intp), self.x, self.y
        return zip(*(column.tolist() for column in columns), strict=True)

    @staticmethod
    def join(parts: "list[Identities]") -> "Identities":
        """All of them in one."""
        columns = ([getattr(p, name) for p in parts] for name in Identities.__slots__)
        return Identities(*(np.concatenate(column) for column in columns))


def fitted(net: Network, cell: int, op: str, x: int, y: int) -> Definition | None:
    """The cell as ±x ± y or ±x y with the signs that make it right, or None.

    Checked at both points, so a coincidence at the first does no harm.
    """
    for sx, sy in ((0, 0), (1, 0), (0, 1), (1, 1)) if op == "add" else ((0, 0), (1, 0)):
        literals = (2 * x + sx, 2 * y + sy)
        if net.residues(op, literals) == (net.first[cell], net.second[cell]):
            return op, literals
    return None


def live_flags(net: Network) -> Flags:
    """Which cells are there without further cost."""
    alive = np.array(net.uses, dtype=np.intp) > 0
    alive[list(net.leaf)] = True
    return alive


def operations(net: Network) -> Flags:
    """Which cells may be computed in another way."""
    return np.array([net.is_operation(c) for c in range(len(net.uses))])


class Scales:
    """Sums, products and quotients of the constants: finds v = c x and v = x ± c."""

    def __init__(self, net: Network, pool: Pool):
        cells = pool.cells[: min(pool.constants, MOST_CONSTANTS)]
        c = pool.values[: len(cells)]
        inverse = np.where([_divisor(net.leaf[int(k)]) for k in cells], pool.inverses[: len(c)], 0)
        i, j = np.triu_indices(len(cells))
        a, b = np.divmod(np.arange(len(cells) ** 2), max(1, len(cells)))
        keys = [field.add(c[i], c[j]), field.sub(c[i], c[j]), field.mul(c[i], c[j])]
        keys = [*keys, field.mul(c[a], inverse[b]), inverse]
        one = np.full(len(cells), ONE, dtype=np.intp)
        self._x = np.concatenate([*3 * [cells[i]], cells[a], one])
        self._y = np.concatenate([*3 * [cells[j]], cells[b], cells])
        self._op = np.repeat(["add", "sub", "mul", "div", "div"], [len(k) for k in keys])
        self.table = KeyTable(unsigned(np.concatenate(keys)))

    def constant(self, net: Network, place: int) -> int:
        """The cell of a constant of the table, which is made if it is not there."""
        k = self.table.first[place]
        return net.constant(str(self._op[k]), int(self._x[k]), int(self._y[k]))


def _divisor(node: Node) -> bool:
    """Whether a constant is safely not zero: a symbol or a number that is not tiny."""
    if node.op == "parameter" and node.name not in node.graph.values:
        return True
    if node.op not in ("parameter", "number"):
        return False
    return abs(float(evaluate([node], {})[0])) > SMALLEST_DIVISOR


SQUARE = ZERO
"""The cell that stands for w itself where a cell is w²; zero is never used in a product."""
Inner = tuple[int, list[int]]
"""A way to make a new cell, and places of uses in their table."""


class Pairs:
    """All that could be computed from one new cell each.

    These are values w of one operation on live cells from which others can be computed, perhaps
    several from the same w. They are found where sums, differences and products of pairs of live
    cells meet each other, or meet a quotient or root of a cell that is worth replacing.
    """

    def __init__(self, net: Network, pool: Pool, targets: Cells):
        n, keys = len(pool.cells), pool.combined()
        v = np.array(net.first, dtype=np.uint64)[targets]
        quotients = unsigned(field.mul(v[:, None], pool.inverses[None, :]))
        roots = unsigned(np.stack([field.roots(v), field.roots(field.sub(np.zeros_like(v), v))]))
        several = np.sort(np.concatenate([keys[keys > 0], quotients.ravel(), roots.ravel()]))
        several = several[1:][several[1:] == several[:-1]]
        table = KeyTable(several[~np.isin(several, pool.table.keys) & (several > 0)])
        self._keys = table.keys
        hit, place = table.find(keys)
        kind, i, j = np.unravel_index(hit, keys.shape)
        makers = Identities(place, kind == 2, pool.cells[i], pool.cells[j])
        self.makers = makers[np.argsort(place, kind="stable")]
        """w = ±x ± y or ±x y; the cell is the place of w, and they are sorted by it."""
        sums = self.makers[~self.makers.product]
        by_quotient, quotient_place = table.find(quotients)
        row, column = np.divmod(by_quotient, n)
        by_root, root_place = table.find(roots)
        square = np.full(len(by_root), SQUARE)
        uses = Identities(
            np.concatenate([sums.x, sums.y, targets[row], targets[by_root % max(1, len(targets))]]),
            np.arange(2 * len(sums.x) + len(row) + len(square)) >= 2 * len(sums.x),
            np.concatenate([sums.y, sums.x, pool.cells[column], square]),
            np.concatenate([sums.cell, sums.cell, quotient_place, root_place]),
        )
        self.uses = uses[np.argsort(uses.y, kind="stable")]
        """cell = ±x ± w or ±x w; y is the place of w, and they are sorted by it."""

    def promising(self, cones: Cones, alive: Flags, operation: Flags) -> list[Inner]:
        """New cells that may save something, those that may save most first."""
        use, made = self.uses, self.makers
        gain = cones.freed(use.cell, use.x) - 1
        fits = operation[use.cell] & alive[use.x] & (use.x != use.cell)
        chosen = np.flatnonzero(fits & (gain > 0))
        most = _sum_of_best(use.y[chosen], use.cell[chosen], gain[chosen], len(self._keys))
        maker, place = self._combined(chosen[most[use.y[chosen]] > 1], alive)
        cell = use.cell[place]
        a = made.x[maker]
        b = made.y[maker]
        gain = cones.freed(cell, use.x[place], a, b) - 1
        good = (gain > 0) & (a != cell) & (b != cell)
        maker = maker[good]
        place = place[good]
        gain = gain[good]
        most = _sum_of_best(maker, use.cell[place], gain, len(made.cell))
        good = most[maker] > 1
        maker = maker[good]
        place = place[good]
        gain = gain[good]
        order = np.lexsort((-gain, maker, -most[maker]))
        ends = np.flatnonzero(np.diff(maker[order])) + 1
        groups = np.split(order, ends) if len(order) else []
        return [(int(maker[group[0]]), place[group].tolist()) for group in groups]

    def _combined(self, uses: Cells, alive: Flags) -> tuple[Cells, Cells]:
        """Each of some uses, which are sorted, with each way to make its w from live cells."""
        made = self.makers
        count = np.bincount(self.uses.y[uses], minlength=len(self._keys))
        start = np.cumsum(count) - count
        makers = np.flatnonzero((count[made.cell] > 0) & alive[made.x] & alive[made.y])
        each = count[made.cell[makers]]
        maker = np.repeat(makers, each)
        nth = np.arange(len(maker)) - np.repeat(np.cumsum(each) - each, each)
        return maker, uses[start[made.cell[maker]] + nth]

    def made(self, maker: int) -> tuple[int, int]:
        """The cells that a new cell is made of."""
        return int(self.makers.x[maker]), int(self.makers.y[maker])

    def make(self, net: Network, maker: int) -> int:
        """A new cell, with the sign of its operands that gives the value up to its own sign."""
        a, b = self.made(maker)
        op = COUNTED[int(self.makers.product[maker])]
        first = net.residues(op, (2 * a, 2 * b))[0]
        plus = min(first, -first % PRIME) == int(self._keys[self.makers.cell[maker]])
        return net.new(op, (2 * a, 2 * b) if plus else (2 * a, 2 * b + 1))

    def definition(self, net: Network, use: int, w: int) -> Definition | None:
        """The definition of a cell by a new cell and a live one; None if that is not live."""
        x = int(self.uses.x[use])
        if not net.alive(x):
            return None
        product = bool(self.uses.product[use])
        x = w if product and x == SQUARE else x
        return fitted(net, int(self.uses.cell[use]), COUNTED[product], x, w)


def _sum_of_best(group: Cells, cell: Cells, gain: Cells, groups: int) -> Cells:
    """For each group the sum over its cells of the best gain of each."""
    order = np.lexsort((-gain, cell, group))
    group = group[order]
    cell = cell[order]
    gain = gain[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (cell[1:] != cell[:-1])
    return np.bincount(group[new], weights=gain[new], minlength=groups).astype(np.intp)
