"""The iteration of a robot: which rows it takes, and how many parts its way must have."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.loops.around import LoopAround, loop_around
from armdyn.loops.follower import Step
from armdyn.loops.iteration import Iteration
from armdyn.loops.newton import size
from armdyn.loops.system import LoopSystem, column_order, entries, stacked
from armdyn.model import Loop, RobotModel
from armdyn.model.loop import cycle

EMPTY = 1e-9
"""Rows of a Jacobian below this share of the largest say nothing."""
PARTS = (2, 4, 8, 16)
"""Parts that a way from the assembly may have."""
FINE = 32
"""Parts of a way that is taken for the true one."""
TRIED = 24
"""States that are tried."""
SAME = 1e-6
"""Largest difference of positions that are the same."""


def iteration_of(
    model: RobotModel, closed: Sequence[Array], first: Sequence[Step] = ()
) -> Iteration:
    """Newton's method for the loops of a robot, some of whose closed configurations are known.

    `first` are closed forms of some joints, which it leaves to them.
    """
    whole = _system(model, model.loops, model.passive, closed)
    solved = {i for step in first for i in step.unknown}
    passive = [i for i in model.passive if i not in solved]
    loops = [x for x in model.loops if not solved.issuperset(_passive_around(model, x))]
    left = _system(model, loops, passive, closed)
    inverse = frozen(np.linalg.pinv(left.passive_matrix(closed[0]).T))
    assembly = frozen(closed[0])
    found = Iteration(whole, tuple(first), left, assembly, size(model), inverse, FINE)
    return replace(found, parts=_parts(found))


def _passive_around(model: RobotModel, loop: Loop) -> list[int]:
    return [i for i in cycle(model.paths, loop) if i in model.passive]


def _system(
    model: RobotModel, loops: Sequence[Loop], passive: Sequence[int], closed: Sequence[Array]
) -> LoopSystem:
    """Rows of loops that say something, and columns of passive joints."""
    around = tuple(_telling(loop_around(model, loop), closed) for loop in loops)
    found = LoopSystem(model, around, column_order(passive, around))
    squares = (found.passive_matrix(closed[0]) ** 2).sum(-1)
    return replace(found, usual=tuple(squares.tolist()))


def _telling(loop: LoopAround, closed: Sequence[Array]) -> LoopAround:
    """The loop without rows that hold whatever its joints do, as those out of its plane."""
    A = np.abs([loop.linearised(q[list(loop.members)])[1] for q in closed]).max((0, 2))
    return replace(loop, rows=tuple(np.flatnonzero(EMPTY * A.max() < A).tolist()))


def _parts(fine: Iteration) -> int:
    """Twice as many parts of the way as lead where a fine one does."""
    q = _drawn(fine)
    true = _cosines(fine, q)
    for parts in PARTS[:-1]:
        found = _cosines(replace(fine, parts=parts), q)
        agree = np.abs(np.nan_to_num(found) - np.nan_to_num(true)).max(-1) < SAME
        if agree.all():
            return 2 * parts
    return PARTS[-1]


def _cosines(iteration: Iteration, q: Array) -> Array:
    """What tells positions of all joints apart, but for whole turns, (states, 2 N)."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = stacked(iteration.positions(entries(q)))
    turns = np.array([joint.type.turns for joint in iteration.model.joints])
    found[~np.isfinite(found).all(-1)] = np.nan
    slides = found / iteration.size
    return np.where(turns, np.cos(found), slides) + 1j * np.where(turns, np.sin(found), 0.0)


def _drawn(iteration: Iteration) -> Array:
    """Coordinates at random between their limits, more of them near the assembly."""
    model, rng = iteration.model, np.random.default_rng(1)
    start = iteration.assembly[list(model.independent)]
    ends = []
    for i, x in zip(model.independent, start, strict=True):
        limits, kind = model.joints[i].limits, model.joints[i].type
        reach = np.pi if kind.turns else iteration.size
        low, high = max(limits.lower, x - reach), min(limits.upper, x + reach)
        ends.append((min(low, x), max(high, x)))
    low, high = np.array(ends).T
    near = rng.uniform(0.0, 1.0, (TRIED, 1))
    return start + near * (rng.uniform(low, high, (TRIED, len(start))) - start)
