"""Trees of descriptions that further joints close: which joints follow from the loops.

Files say where links are joined, and perhaps which joints have motors, but not which positions are
coordinates. Joints that are coupled to others follow first, then those without a motor, of these
the ones that lead no other first, and the ones farthest from the base.
"""

from collections.abc import Collection, Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import polynomial
from armdyn.model.edit import mimic_couplings, with_loops
from armdyn.model.loop import cycle

STEP = 1e-5
"""Of the differences that closures are differentiated by [rad or m]."""
DEPENDENT = 1e-6
"""What is left of a column of unit length that depends on others."""


def closed_tree(
    model: RobotModel, loops: Sequence[Loop], assembly: Array, motors: Collection[str] = ()
) -> RobotModel:
    """The robot with loops that are closed at the positions of its file.

    `motors` are the names of joints that have one.
    """
    if not loops:
        return model
    every = [*loops, *mimic_couplings(model)]
    order = _order(model, every, motors)
    columns = {i: _column(model, every, assembly, i) for i in order}
    passive, basis = [], list[Array]()
    for i in order:
        size = np.linalg.norm(columns[i])
        rest = columns[i] / (size or 1.0)
        for b in (*basis, *basis):
            rest = rest - (b @ rest) * b
        if size > DEPENDENT and np.linalg.norm(rest) > DEPENDENT:
            basis.append(rest / np.linalg.norm(rest))
            passive.append(model.joints[i].name)
    if not passive:
        raise LoopError(
            f"{loops[0].where} of {model.name!r} moves no joint; leave it out", loop=loops[0].name
        )
    if len(passive) == len(model.joints):
        raise LoopError(
            f"{loops[0].where} of {model.name!r} cannot move: its conditions hold all "
            f"{len(passive)} joints; are axes that should be parallel or meet exactly so?",
            loop=loops[0].name,
        )
    names = [joint.name for joint in model.joints]
    return with_loops(model, loops, passive, dict(zip(names, assembly.tolist(), strict=True)))


def _order(model: RobotModel, loops: Sequence[Loop], motors: Collection[str]) -> list[int]:
    """The joints around loops, those first that rather follow."""
    around = {i for loop in loops for i in cycle(model.paths, loop)}
    following = {loop.link_a for loop in loops if loop.couples}
    leading = {loop.link_b for loop in loops if loop.couples}
    driven = {i for i in around if model.joints[i].name in motors}
    return sorted(around, key=lambda i: (i not in following, i in driven, i in leading, -i))


def _column(model: RobotModel, loops: Sequence[Loop], q: Array, i: int) -> Array:
    """How the rows of all closures change with joint i."""
    step = STEP * np.eye(len(q))[i]
    ahead, back = (_residuals(model, loops, q + sign * step) for sign in (1, -1))
    return np.asarray((ahead - back) / (2 * STEP))


def _residuals(model: RobotModel, loops: Sequence[Loop], q: Array) -> Array:
    frames = {-1: np.eye(4)}
    for i, joint in enumerate(model.joints):
        motion = joint.type.motion(joint.axis, float(q[i]))
        frames[i] = frames[joint.parent] @ joint.placement @ motion
    rows = []
    for loop in loops:
        if loop.couples:
            rows.append(q[loop.link_a] - polynomial(loop.coefficients, q[loop.link_b]))
            continue
        A, B = frames[loop.link_a] @ loop.frame_a, frames[loop.link_b] @ loop.frame_b
        rows += [row.residual(A, B, loop.length) for row in loop.cut.rows]
    return np.array(rows)
