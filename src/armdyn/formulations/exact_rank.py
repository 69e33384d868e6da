"""How many base parameters a robot has, exactly: the rank of its regressor over a finite field.

Floats cannot say whether a small rest of a column is rounding. So the regressor is evaluated modulo
a prime, on a twin of the robot in which what its description means holds exactly: rotations are
products of turns about z, x and z by rational points of the circle, quarter turns being exact; the
way between two axes is along the one, along their common perpendicular and along the other; gravity
is along the first axis, or across it, if it is so in the robot. The rank at random states of the
field is the rank over all motions, up to a chance of about 10⁻¹⁵.

The rank over floats (`base_parameters`) is at most that of the robot, as its columns are clearly
independent; the one of the twin is that of the description. Where both agree, neither rounding nor
a tolerance has decided.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError
from armdyn.formulations.parameters import full_regressor
from armdyn.formulations.regressor import regressor
from armdyn.formulations.spatial import cross
from armdyn.graph.field import FiniteField, rank
from armdyn.graph.nodes import Graph, trace
from armdyn.model import Joint, RobotModel
from armdyn.model.transform import any_frame

MEANT = 1e-9
"""Angle, or length relative to the robot, that a description means to be zero."""
_SPARE_ROWS = 8


def exact_rank(model: RobotModel, links: bool = False) -> int:
    """The rank of the regressor, or of that of the links alone, over all motions.

    Raises:
        ModelError: Joints follow others, so that their angles are not independent.
    """
    if len(model.independent) < len(model.joints):
        raise ModelError(
            f"joints of {model.name!r} follow others, and ranks are exact for independent joints "
            "alone; base_parameters() has the rank over floats"
        )
    graph, N = Graph(), len(model.joints)
    states = (graph.inputs(name, N) for name in ("q", "qd", "qdd"))
    columns = partial(regressor if links else full_regressor, exact_twin(model, graph))
    Y = trace(graph, columns, *states)
    points = range((Y.shape[1] + _SPARE_ROWS) // N + 1)
    values = [_SignedField(point).values(Y.flat) for point in points]
    return rank(np.array(values, dtype=object).reshape(-1, Y.shape[1]))


class _SignedField(FiniteField):
    """A point at which signs are 1 or -1: what dry friction is in both directions adds up."""

    def _operation(self, op: str) -> Callable[..., int]:
        if op != "sign":
            return super()._operation(op)
        return lambda x: 1 if x < self.prime - x else self.prime - 1


def exact_twin(model: RobotModel, graph: Graph) -> RobotModel:
    """The robot in constants of a graph, with what its description means holding exactly."""
    size = max([1e-6, *(float(np.linalg.norm(j.placement[:3, 3])) for j in model.joints)])
    turned = (_exact_rotation(graph, any_frame(joint.axis)) for joint in model.joints)
    axes = [R[:, 2] for R in turned]  # of length 1 exactly
    joints = []
    for joint, axis in zip(model.joints, axes, strict=True):
        R = _exact_rotation(graph, joint.placement[:3, :3])
        T = _exact(graph, np.eye(4))
        T[:3, :3] = R
        up = joint.parent
        before = (model.joints[up].axis, axes[up]) if up >= 0 else None
        T[:3, 3] = _exact_way(graph, joint, R @ axis, before, size)
        joints.append(replace(joint, placement=T, axis=axis))
    base = _exact(graph, np.eye(4))
    gravity = _exact_gravity(graph, model, joints[0].placement[:3, :3] @ axes[0])
    return replace(model, joints=tuple(joints), base=base, gravity=gravity)


def _exact(graph: Graph, values: Array) -> Array:
    """Floats as the constants that they are exactly."""
    return trace(graph, lambda: values)


def _exact_way(
    graph: Graph, joint: Joint, axis: Array, before: tuple[Array, Array] | None, size: float
) -> Array:
    """The position of a joint in its parent: along both axes, and across."""
    P = joint.placement[:3, 3]
    if before is None:
        return _exact(graph, _without(P, size))
    first, second = before[0], joint.placement[:3, :3] @ joint.axis
    across = np.cross(first, second)
    if np.linalg.norm(across) < MEANT:  # what is along parallel axes is along either
        along = float(P @ first)
        rest = _without(P - along * first, size)
        return np.asarray(_exact(graph, _without(along, size)) * before[1] + _exact(graph, rest))
    parts = _without(np.linalg.solve(np.stack([first, second, across], -1), P), size)
    a, b, c = _exact(graph, parts)
    return np.asarray(a * before[1] + b * axis + c * cross(before[1], axis))


def _exact_gravity(graph: Graph, model: RobotModel, axis: Array) -> Array:
    """Gravity in the axes of the base: its part along the first axis, and that exactly across."""
    g = model.base[:3, :3].T @ model.gravity
    joint = model.joints[0]
    first = joint.placement[:3, :3] @ joint.axis
    size = float(np.linalg.norm(g))
    along = _exact(graph, _without(first @ g, size))
    across = _exact(graph, _without(g - (first @ g) * first, size))
    return np.asarray(along * axis + across - (across @ axis) * axis)


def _without(values: Array | float, size: float) -> Array:
    return np.where(np.abs(values) <= MEANT * size, 0.0, values)


def _exact_rotation(graph: Graph, R: Array) -> Array:
    """A rotation by turns about z, x and z."""
    b = float(np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2]))
    if np.sin(b) < MEANT:  # one turn about z is enough
        flip = 1.0 if R[2, 2] > 0 else -1.0
        a = float(np.arctan2(flip * -R[0, 1], R[0, 0]))
        b = 0.0 if flip > 0 else np.pi
        c = 0.0
    else:
        a = float(np.arctan2(R[0, 2], -R[1, 2]))
        c = float(np.arctan2(R[2, 0], R[2, 1]))
    return np.asarray(_turn(graph, a, 2) @ _turn(graph, b, 0) @ _turn(graph, c, 2))


def _turn(graph: Graph, angle: float, about: int) -> Array:
    """A turn about a coordinate axis; near a quarter turn it is one."""
    quarters = round(angle / (np.pi / 2))
    if abs(angle - quarters * np.pi / 2) < MEANT:
        c, s = map(graph.number, ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters % 4])
    else:
        half = graph.number(np.tan(angle / 2))
        over = 1 / (1 + half * half)
        c, s = (1 - half * half) * over, 2 * half * over
    R = _exact(graph, np.eye(3))
    i, j = (about + 1) % 3, (about + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R
