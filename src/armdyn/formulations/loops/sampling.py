"""Configurations at random in which a robot with loops can be."""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.loops.closure import Closure
from armdyn.formulations.loops.coordinates import LoopCoordinates
from armdyn.formulations.loops.newton import size

REACH = 0.6
"""How far from the assembly coordinates are drawn at first [rad, or share of the robot's size]."""
WORST_ROOT = 0.1
"""Smallest root of a loop, as a share of that in the assembly, of a configuration that is taken."""


def drawn_near_assembly(closure: Closure, rng: np.random.Generator, count: int) -> Array:
    """Coordinates at random around the assembly that can be closed, and are not singular."""
    model, at = closure.model, LoopCoordinates(closure)
    start = closure.assembly[list(model.independent)]
    unit = np.array([1.0 if model.joints[i].type.turns else size(model) for i in model.independent])
    least = [WORST_ROOT * abs(root) for root in at.at(start).roots]
    found, reach = np.empty((0, len(start))), REACH
    while len(found) < count:
        q = start + reach * unit * rng.uniform(-1.0, 1.0, (2 * count, len(start)))
        roots = at.at(q).roots
        good = np.ones(len(q), dtype=bool)
        for root, bound in zip(roots, least, strict=True):
            good &= np.abs(np.nan_to_num(root)) > bound
        found = np.concatenate([found, q[good]])
        reach *= 0.8
    return found[:count]
