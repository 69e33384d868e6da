"""Cones: the cells that only one cell needs, which vanish if it is computed in another way.

The cone of a cell is its subtree in the tree of dominators: a cell belongs to it if every way from
an output down to it passes through the top. Cones are nested or disjoint.
"""

import numpy as np
import numpy.typing as npt

from armdyn.shorten.network import Network

Cells = npt.NDArray[np.intp]

_OUTSIDE, _UNKNOWN = -1, -2
"""The user of outputs, which dominates what no single cell needs; and no dominator yet."""


class Cones:
    """The cones of all live cells of a network as it is now."""

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
    above, depth = [_UNKNOWN] * len(net.definition), [0] * len(net.definition)
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
