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

    def queries(self, cell: int) -> dict[str, Residues]:
        """For every x, what has to be found to compute the cell from it by a sum or a product."""
        v = field.residues([self.net.first[cell]])
        sums = [unsigned(field.sub(v, self.values)), unsigned(field.add(v, self.values))]
        return {
            "add": np.concatenate(sums),
            "mul": unsigned(field.mul(v, self.inverses)),
        }

    def definitions(self, cell: int) -> Iterator[Definition]:
        """Every way to compute the cell by one operation from two others."""
        for op, x, place in self.matches(cell, self.keys):
            y = int(self.cells[self._where[place]])
            if x <= y and cell not in (x, y):
                found = fitted(self.net, cell, op, x, y)
                if found is not None:
                    yield found

    def matches(
        self, cell: int, keys: Residues, several: npt.NDArray[np.bool_] | None = None
    ) -> Iterator[tuple[str, int, int]]:
        """Operations and operands x that make the cell with a value of a sorted table, its place.

        For sums only those values count that the table has several times, if that is given.
        """
        for op, wanted in self.queries(cell).items():
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hits = keys[place] == wanted
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
        values, n = singles.values, len(singles.cells)
        i, j = np.triu_indices(n)
        constant = np.array([net.is_constant(int(c)) for c in singles.cells])
        keep = ~(constant[i] & constant[j])
        i, j = i[keep], j[keep]
        x, y = values[i], values[j]
        keys = np.concatenate([field.add(x, y), field.sub(x, y), field.mul(x, y)])
        keys = unsigned(keys)
        self._i, self._j = np.tile(i, 3), np.tile(j, 3)
        self._product = np.arange(len(keys)) >= 2 * len(i)
        order = np.argsort(keys, kind="stable")
        order = order[~np.isin(keys[order], singles.keys)]
        self._order = order
        self._keys, self._start, self._count = np.unique(
            keys[order], return_index=True, return_counts=True
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
        entries = self._order[start : start + self._count[place]]
        return [
            ("mul" if self._product[k] else "add", int(cells[self._i[k]]), int(cells[self._j[k]]))
            for k in entries
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
        self._pool = [net.leaf[c] for c in cells]
        values = [net.first[c] for c in cells]
        inverses = [net.inverse(c) if _divisor(net.leaf[c]) else 0 for c in cells]
        made: dict[int, tuple[str, int, int]] = {}
        for i, x in enumerate(values):
            for j, (y, inverse) in enumerate(zip(values, inverses, strict=True)):
                for op, r in (("add", x + y), ("sub", x - y), ("mul", x * y), ("div", x * inverse)):
                    made.setdefault(min(r % PRIME, -r % PRIME), (op, i, j))
            made.setdefault(min(inverses[i], -inverses[i] % PRIME), ("inverse", i, i))
        made.pop(0, None)
        self._made = [made[k] for k in sorted(made)]
        self._keys = field.residues(sorted(made))

    def definitions(self, cell: int) -> Iterator[Definition]:
        """Every way to compute the cell from one other and a constant that is yet to be made."""
        if not len(self._keys):
            return
        for op, x, place in self.singles.matches(cell, self._keys):
            constant = self.net.constant(self._node(*self._made[place]))
            found = fitted(self.net, cell, op, x, constant >> 1)
            if x != cell and found is not None:
                yield found

    def _node(self, op: str, i: int, j: int) -> Node:
        graph, x, y = self.net.graph, self._pool[i], self._pool[j]
        if op == "inverse":
            return graph.div(graph.number(1), x)
        return graph.apply(op, [x, y])


def _divisor(node: Node) -> bool:
    """Whether a constant is safely not zero: a symbol or a number that is not tiny."""
    if node.op == "parameter" and node.name not in node.graph.values:
        return True
    if node.op not in ("parameter", "number"):
        return False
    return abs(float(evaluate([node], {})[0])) > SMALLEST_DIVISOR
