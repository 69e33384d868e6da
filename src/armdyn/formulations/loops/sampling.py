"""Configurations at random in which a robot with loops can be."""

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.formulations.loops.closure import Closure
from armdyn.formulations.loops.coordinates import LoopCoordinates
from armdyn.formulations.loops.newton import size

REACH = 0.6
"""How far from the assembly coordinates are drawn at first [rad, or share of the robot's size]."""
FAR = 2.0
"""The same where joints are coupled and no loop can come to an end."""
LEAST_DETERMINANT = 0.1
"""Smallest determinant of a loop, as a share of that in the assembly, that is taken."""
SHRINK = 0.8
"""How much nearer to the assembly coordinates are drawn each time."""
MOST_SHRINKS = 120
"""How often they are drawn nearer; the last ones are within 1e-11 rad."""
DRAWS = 20
"""How often as many coordinates as are wanted are drawn in their ranges."""


def drawn_in_ranges(closure: Closure, rng: np.random.Generator, count: int) -> Array:
    """Coordinates at random in their ranges that can be closed and are not singular, (count, n).

    Where few of them are, those that are missing are drawn near the assembly.
    """
    at, (low, high) = LoopCoordinates(closure), closure.model.ranges.T
    least = LEAST_DETERMINANT * at.at(closure.assembly[list(closure.model.independent)]).type2
    found = np.empty((0, len(low)))
    for _ in range(DRAWS):
        q = rng.uniform(low, high, (count, len(low)))
        found = np.concatenate([found, q[(at.at(q).type2 > least).all(-1)]])
        if len(found) >= count:
            return found[:count]
    return np.concatenate([found, drawn_near_assembly(closure, rng, count - len(found))])


def drawn_near_assembly(closure: Closure, rng: np.random.Generator, count: int) -> Array:
    """Coordinates at random around the assembly that can be closed, and are not singular."""
    model, at = closure.model, LoopCoordinates(closure)
    start = closure.assembly[list(model.independent)]
    unit = np.array([1.0 if model.joints[i].type.turns else size(model) for i in model.independent])
    least = LEAST_DETERMINANT * at.at(start).type2
    found, reach = np.empty((0, len(start))), REACH if closure.order else FAR
    for _ in range(MOST_SHRINKS):
        if len(found) >= count:
            return found[:count]
        q = start + reach * unit * rng.uniform(-1.0, 1.0, (2 * count, len(start)))
        good = (at.at(q).type2 > least).all(-1)
        found = np.concatenate([found, q[good]])
        reach *= SHRINK
    names = ", ".join(repr(loop.name) for loop in model.loops)
    raise LoopError(
        f"the loops {names} of {model.name!r} can hardly be closed around the assembly: of "
        f"{2 * count * MOST_SHRINKS} configurations nearer and nearer to it {len(found)} could be "
        f"reached, and {count} are needed; the assembly is nearly singular, give another one",
        loop=model.loops[0].name,
    )
