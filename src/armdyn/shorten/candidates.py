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
from armdyn.shorten.cones import Cells
from armdyn.shorten.network import ONE, Definition, Network

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

Flags = npt.NDArray[np.bool_]


class Table:
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
        self.table = Table(unsigned(self.values))

    def matches(self, net: Network, targets: Cells, tables: "list[Table]") -> "list[Identities]":
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

    def blocks(self) -> Iterator[tuple[int, Residues]]:
        """Sums, differences and products of all pairs in blocks, with the first row of each.

        A block has the shape (3, rows, columns from the first row on), and 0 where the pair is in
        another place too, or is made of constants alone.
        """
        n, start = len(self.cells), 0
        while start < n:
            stop = min(n, start + max(1, BLOCK // (n - start)))
            x, y = self.values[start:stop, None], self.values[None, start:]
            keys = unsigned(np.stack([field.add(x, y), field.sub(x, y), field.mul(x, y)]))
            rows, columns = np.tril_indices(stop - start, -1, n - start)
            keys[:, rows, columns] = 0
            keys[:, : max(0, self.constants - start), : max(0, self.constants - start)] = 0
            yield start, keys
            start = stop


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
        self.table = Table(unsigned(np.concatenate(keys)))

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
