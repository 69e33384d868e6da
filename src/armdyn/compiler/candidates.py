"""Tables of values that cells of a network could be computed from, found by their residues."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from armdyn.compiler import residues as field
from armdyn.compiler.network import Definition, Network
from armdyn.compiler.residues import Residues, unsigned
from armdyn.expr.evaluate import evaluate
from armdyn.expr.graph import Node
from armdyn.expr.operations import PRIME

SMALLEST_DIVISOR = 1e-6
"""Constants below this are not divided by: they may be rounding errors of an exact zero."""

MOST_CONSTANTS = 200
"""Constants that are combined with each other."""

Indices = npt.NDArray[np.intp]


def fitted(net: Network, cell: int, op: str, x: int, y: int) -> Definition | None:
    """The cell as ±x ± y or ±x y with the signs that make it right, or None.

    Checked at both points, so a coincidence at the first does no harm.
    """
    for sx, sy in product((0, 1), (0, 1) if op == "add" else (0,)):
        literals = (2 * x + sx, 2 * y + sy)
        if net.residues(op, literals) == (net.first[cell], net.second[cell]):
            return op, literals
    return None


class Singles:
    """The live cells by value: finds v = x ± y and v = x y."""

    def __init__(self, net: Network):
        self.net = net
        cells = [c for c in net.live() if net.first[c] not in (0, 1, PRIME - 1)]
        self.cells: Indices = np.array(cells, dtype=np.intp)
        self.values = field.residues([net.first[c] for c in cells])
        self.inverses = field.residues([net.inverse(c) for c in cells])
        self.keys, self._where = np.unique(unsigned(self.values), return_index=True)

    def definitions(self, cell: int) -> Iterator[Definition]:
        """Every way to compute the cell by one operation from two others."""
        for op, x, place in self.matches(cell, self.keys):
            y = int(self.cells[self._where[place]])
            if x <= y and cell not in (x, y) and (found := fitted(self.net, cell, op, x, y)):
                yield found

    def matches(
        self, cell: int, keys: Residues, several: npt.NDArray[np.bool_] | None = None
    ) -> Iterator[tuple[str, int, int]]:
        """Operations and operands x that make the cell with a value of a sorted table, its place.

        For sums only those values count that the table has several times, if that is given.
        """
        v = field.residues([self.net.first[cell]])
        sums = np.concatenate([field.sub(v, self.values), field.add(v, self.values)])
        for op, wanted in (("add", sums), ("mul", field.mul(v, self.inverses))):
            sought = unsigned(wanted)
            place = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
            hits = keys[place] == sought
            if several is not None and op == "add":
                hits &= several[place]
            for hit in np.flatnonzero(hits):
                yield op, int(self.cells[hit % len(self.cells)]), int(place[hit])


@dataclass(frozen=True, slots=True)
class Use:
    """A cell that could be computed from x and a new cell w."""

    cell: int
    op: str
    x: int | None
    """None if it is w itself: the cell is a square."""


class Pairs:
    """Values that one new operation on live cells would give: finds v = x ± w and v = x w."""

    def __init__(self, net: Network, singles: Singles):
        self.net, self.singles = net, singles
        i, j = np.triu_indices(len(singles.cells))
        constant = np.array([net.is_constant(int(c)) for c in singles.cells])
        keep = ~(constant[i] & constant[j])
        i, j = i[keep], j[keep]
        x, y = singles.values[i], singles.values[j]
        keys = unsigned(np.concatenate([field.add(x, y), field.sub(x, y), field.mul(x, y)]))
        self._i, self._j = np.tile(i, 3), np.tile(j, 3)
        self._product = np.arange(len(keys)) >= 2 * len(i)
        order = np.argsort(keys, kind="stable")
        self._order = order[~np.isin(keys[order], singles.keys)]
        self._keys, self._start, self._count = np.unique(
            keys[self._order], return_index=True, return_counts=True
        )
        self._squares = unsigned(field.mul(self._keys, self._keys))

    def uses(self, cells: list[int]) -> dict[int, list[Use]]:
        """For each new value, by its place in the table, the cells it could help to compute."""
        found: dict[int, list[Use]] = {}
        for cell in cells:
            # the sum of the cell itself and x is always there once, and is of no use
            for op, x, place in self.singles.matches(cell, self._keys, self._count > 1):
                if x != cell:
                    found.setdefault(place, []).append(Use(cell, op, x))
        by_value = {min(v := self.net.first[c], -v % PRIME): c for c in cells}
        for hit in np.flatnonzero(np.isin(self._squares, field.residues(list(by_value)))):
            square = Use(by_value[int(self._squares[hit])], "mul", None)
            found.setdefault(int(hit), []).append(square)
        return found

    def operations(self, place: int) -> list[tuple[str, int, int]]:
        """The operations on live cells that give a value of the table."""
        start, cells = self._start[place], self.singles.cells
        return [
            ("mul" if self._product[k] else "add", int(cells[self._i[k]]), int(cells[self._j[k]]))
            for k in self._order[start : start + self._count[place]]
        ]

    def literals(self, place: int, op: str, x: int, y: int) -> tuple[int, int]:
        """The operands, with the sign that gives the value at that place up to its own sign."""
        first = self.net.residues(op, (2 * x, 2 * y))[0]
        plus = min(first, -first % PRIME) == int(self._keys[place])
        return (2 * x, 2 * y) if plus else (2 * x, 2 * y + 1)


class Scales:
    """Sums, products and quotients of the constants: finds v = c x and v = x ± c."""

    def __init__(self, net: Network, singles: Singles):
        self.net, self.singles = net, singles
        cells = [int(c) for c in singles.cells if net.is_constant(int(c))][:MOST_CONSTANTS]
        inverses = [net.inverse(c) if _divisor(net.leaf[c]) else 0 for c in cells]
        pool = [(net.leaf[c], net.first[c], i) for c, i in zip(cells, inverses, strict=True)]
        one = net.graph.number(1)
        made: dict[int, tuple[str, Node, Node]] = {}
        for a, x, own_inverse in pool:
            for b, y, inverse in pool:
                for op, r in (("add", x + y), ("sub", x - y), ("mul", x * y), ("div", x * inverse)):
                    made.setdefault(min(r % PRIME, -r % PRIME), (op, a, b))
            made.setdefault(min(own_inverse, -own_inverse % PRIME), ("div", one, a))
        made.pop(0, None)
        self._made = [made[k] for k in sorted(made)]
        self._keys = field.residues(sorted(made))

    def definitions(self, cell: int) -> Iterator[Definition]:
        """Every way to compute the cell from one other and a constant that is yet to be made."""
        if not len(self._keys):
            return
        for op, x, place in self.singles.matches(cell, self._keys):
            made_by, x_constant, y_constant = self._made[place]
            constant = self.net.constant(self.net.graph.apply(made_by, [x_constant, y_constant]))
            found = fitted(self.net, cell, op, x, constant >> 1)
            if x != cell and found is not None:
                yield found


def _divisor(node: Node) -> bool:
    """Whether a constant is safely not zero: a symbol or a number that is not tiny."""
    if node.op == "parameter" and node.name not in node.graph.values:
        return True
    if node.op not in ("parameter", "number"):
        return False
    return abs(float(evaluate([node], {})[0])) > SMALLEST_DIVISOR
