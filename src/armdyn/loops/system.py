"""Rows of loops and columns of passive joints: the linear systems that rates and steps solve.

What a closure asks does not depend on where a loop is carried: the joints around it are a mechanism
of its own, which stands on the link that carries both branches. All rows are written in axes of
that link, and joints before it are not in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.loops.rows import closure_bias, closure_matrix, residuals
from armdyn.loops.steps import following, from_root
from armdyn.loops.values import Values, entries, stacked
from armdyn.model import Frame, Loop, RobotModel
from armdyn.model.cut_joints import Distance, Slide
from armdyn.model.loop import cycle
from armdyn.model.transform import IDENTITY


@dataclass(frozen=True, slots=True, eq=False)
class LoopAround:
    """A loop with nothing but the joints around it."""

    loop: Loop
    members: tuple[int, ...]
    """The joints of the robot around it, in order."""
    model: RobotModel
    """These joints and this loop alone."""
    rows: tuple[int, ...]
    """Which rows of its cut joint say something."""

    def weights(self, size: float) -> Array:
        """What makes numbers without a unit of the residuals of its rows."""
        if self.loop.couples:
            return np.ones(1)
        powers = {Slide: 1, Distance: 2}
        kinds = [type(self.loop.cut.rows[k]) for k in self.rows]
        return np.array([size ** -powers.get(kind, 0) for kind in kinds])

    def linearised(self, q: Array) -> tuple[Array, Array]:
        """What the rows miss, (..., rows), for positions of the members, and its Jacobian."""
        if self.loop.couples:
            return self._sine(q), closure_matrix(self.model, q)
        frames, rows = world_frames(self.model, q), list(self.rows)
        matrix = closure_matrix(self.model, q, frames)
        return residuals(self.model, q, frames)[..., rows], matrix[..., rows, :]

    def _sine(self, q: Array) -> Array:
        """The sine of what a coupling of angles misses: whole turns do not count."""
        (hosted,) = self.model.loops
        values = entries(q)
        position = values[hosted.link_a]
        following(hosted).at(values)
        return np.stack([np.sin(position - values[hosted.link_a])], -1)

    def bias(self, q: Array, qd: Array) -> Array:
        """Their second derivative at constant rates, (..., rows)."""
        return closure_bias(self.model, q, qd)[..., list(self.rows)]


def loop_around(model: RobotModel, loop: Loop) -> LoopAround:
    """The loop, with all rows of its cut joint."""
    loop = from_root(model, loop) if loop.couples else loop
    members = cycle(model.paths, loop)
    place = {i: k for k, i in enumerate(members)}
    motor = place[loop.link_b] if loop.couples else 0
    joints = tuple(
        # which of them are actuated does not matter here, but some must be and some not
        replace(joint, parent=place.get(joint.parent, -1), mimic=None, actuated=k == motor)
        for k, joint in enumerate(model.joints[i] for i in members)
    )
    a, b = (place.get(link, -1) for link in (loop.link_a, loop.link_b))
    alone = replace(
        model,
        joints=joints,
        links=tuple(model.links[i] for i in members),
        loops=(replace(loop, link_a=a, link_b=b),),
        drives=(),
        frames=(),
        flange=Frame("flange", -1, IDENTITY),
        tool=IDENTITY,
        base=IDENTITY,
        assembly=np.zeros(len(members)),
    )
    return LoopAround(loop, members, alone, tuple(range(loop.conditions)))


@dataclass(frozen=True, slots=True, eq=False)
class LoopSystem:
    """Loops, and the passive joints that follow from them."""

    model: RobotModel
    loops: tuple[LoopAround, ...]
    columns: tuple[int, ...]
    """The passive joints, those first that are around few loops."""
    usual: tuple[float, ...] = ()
    """The squares of the columns of A_p in the assembly."""

    def linearised(self, found: Values) -> tuple[Values, dict[int, Values]]:
        """What all rows miss, and the columns of their Jacobian by joint."""
        missing: Values = []
        columns: dict[int, Values] = {i: [] for i in range(len(found))}
        for loop in self.loops:
            r, A = loop.linearised(stacked([found[i] for i in loop.members]))
            missing += entries(r)
            around = {i: entries(A[..., k]) for k, i in enumerate(loop.members)}
            for i, column in columns.items():
                column.extend(around.get(i, [0.0] * len(loop.rows)))
        return missing, columns

    def passive_matrix(self, q: Array) -> Array:
        """A_p at positions of all joints, (passive joints, rows)."""
        by_joint = self.linearised(q.tolist())[1]
        return np.array([by_joint[i] for i in self.columns], dtype=float)


def column_order(passive: Sequence[int], loops: Sequence[LoopAround]) -> tuple[int, ...]:
    """The passive joints, those first that are around few loops: fewer entries are filled then."""
    return tuple(sorted(passive, key=lambda i: (sum(i in x.members for x in loops), i)))
