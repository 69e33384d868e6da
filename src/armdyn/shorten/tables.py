"""The identities among the live cells of a network by which cells could be replaced."""

from dataclasses import replace

import numpy as np

from armdyn.shorten.candidates import Pool, Scales, operations
from armdyn.shorten.cones import Cones
from armdyn.shorten.network import Network
from armdyn.shorten.pairs import Pairs

MOST_PAIRED_CELLS = 1500
"""Live cells above which no new inner operations are sought; their table grows as the square."""


class Tables:
    """Identities for the cells that alone need so many operations at least, themselves included."""

    def __init__(self, net: Network, least_cone: int):
        pool = Pool(net)
        targets = np.flatnonzero(operations(net) & (Cones(net).size[:-1] >= least_cone))
        self.scales = Scales(net, pool)
        ones, scaled = pool.matches(net, targets, [pool.table, self.scales.table])
        ones = replace(ones, y=pool.cells[pool.table.first[ones.y]])
        self.ones = ones[(ones.x <= ones.y) & (ones.x != ones.cell) & (ones.y != ones.cell)]
        """Cells computed from two live ones."""
        self.scaled = scaled[(scaled.x != scaled.cell) & (self.scales.table.keys[scaled.y] > 0)]
        """Cells computed from a live one and a constant: y is its place among the scales."""
        few = len(pool.cells) <= MOST_PAIRED_CELLS
        self.pairs = Pairs(net, pool, targets) if few else None
        """Cells computed from new ones; None if there are too many cells."""
        self.compared = len(pool.cells) * (len(targets) + few * len(pool.cells) // 2)
        """Pairs of cells that were looked at."""
