"""The joints around a loop as a mechanism of its own, which stands on the link that carries both.

What a closure asks does not depend on where the loop is carried, so all rows are written in axes of
that link, and joints before it are not in them.
"""

from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.kinematics import world_frames
from armdyn.loops.follower import from_root
from armdyn.loops.linear_step import LinearStep
from armdyn.loops.rows import closure_bias, closure_matrix, residuals
from armdyn.model import Frame, Loop, RobotModel
from armdyn.model.cut_joints.rows import Distance, Slide
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
        offset, ratio = hosted.coefficients[:2]
        step = LinearStep((hosted.link_a,), (((hosted.link_b, ratio),),), (offset,))
        values = [q[..., i][()] for i in range(q.shape[-1])]
        given = values[hosted.link_a]
        step.at(values)
        return np.stack([np.sin(given - values[hosted.link_a])], -1)

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
    hosted = _hosted(model, loop, place)
    alone = replace(
        model,
        joints=joints,
        links=tuple(model.links[i] for i in members),
        loops=(hosted,),
        drives=(),
        frames=(),
        flange=Frame("flange", -1, IDENTITY),
        tool=IDENTITY,
        base=IDENTITY,
        assembly=np.zeros(len(members)),
    )
    return LoopAround(loop, members, alone, tuple(range(loop.conditions)))


def _hosted(model: RobotModel, loop: Loop, place: dict[int, int]) -> Loop:
    """The loop with its ends on the members, or on what carries them."""
    a, b = (place.get(link, -1) for link in (loop.link_a, loop.link_b))
    return replace(loop, link_a=a, link_b=b, frame_a=frozen(loop.frame_a), frame_b=loop.frame_b)
