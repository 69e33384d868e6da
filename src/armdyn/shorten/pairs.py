"""New inner cells: values w of one operation on live cells from which others can be computed.

Several cells may use the same w. The values are found where sums, differences and products of pairs
of live cells meet each other, or meet a quotient or root of a cell that is worth replacing.
"""

import numpy as np

from armdyn.graph import field
from armdyn.graph.field import PRIME, unsigned
from armdyn.shorten.candidates import Flags, Identities, Pool, Table, fitted
from armdyn.shorten.cones import Cells, Cones
from armdyn.shorten.network import COUNTED, ZERO, Definition, Network

SQUARE = ZERO
"""The cell that stands for w itself where a cell is w²; zero is never used in a product."""


Inner = tuple[int, list[int]]
"""A way to make a new cell, and places of uses in their table."""


class Pairs:
    """All that could be computed from one new cell each."""

    def __init__(self, net: Network, pool: Pool, targets: Cells):
        n = len(pool.cells)
        keys = np.zeros((3, n, n), dtype=np.uint64)
        for start, block in pool.blocks():
            keys[:, start : start + block.shape[1], start:] = block
        v = np.array(net.first, dtype=np.uint64)[targets]
        quotients = unsigned(field.mul(v[:, None], pool.inverses[None, :]))
        roots = unsigned(np.stack([field.roots(v), field.roots(field.sub(np.zeros_like(v), v))]))
        several = np.sort(np.concatenate([keys[keys > 0], quotients.ravel(), roots.ravel()]))
        several = several[1:][several[1:] == several[:-1]]
        table = Table(several[~np.isin(several, pool.table.keys) & (several > 0)])
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
        cell, a, b = use.cell[place], made.x[maker], made.y[maker]
        gain = cones.freed(cell, use.x[place], a, b) - 1
        good = (gain > 0) & (a != cell) & (b != cell)
        maker, place, gain = maker[good], place[good], gain[good]
        most = _sum_of_best(maker, use.cell[place], gain, len(made.cell))
        good = most[maker] > 1
        maker, place, gain = maker[good], place[good], gain[good]
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
    group, cell, gain = group[order], cell[order], gain[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (cell[1:] != cell[:-1])
    return np.bincount(group[new], weights=gain[new], minlength=groups).astype(np.intp)
