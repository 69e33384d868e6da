"""How far the torques of a robot in canonical frames are from those of the robot itself.

Measured, not bounded: a joint with a small load on a long arm can move by far more than what was
taken for zero. Both robots are a tree of transforms T = T_up P exp(D q) with a pseudo inertia each,
so torques are the traces τ_i = tr(W_i Σ T_j J_j T̈_jᵀ) over the links j that joint i carries, D
being the generator of the joint and W_i its twist seen from the base (Uicker 1965).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.canonical.robot import CanonicalLink, CanonicalRobot, cos_sin, twist
from armdyn.model.joint_types import JointType
from armdyn.model.robot import RobotModel
from armdyn.model.transform import inverse, transform

COMPARED_STATES = 200
"""Random states that a difference is measured over."""

_TORQUE_NOISE = 256 * np.finfo(float).eps
"""A difference this small, relative to the largest torque of the robot, is rounding."""


@dataclass(frozen=True, slots=True)
class _Member:
    """One link with its joint."""

    parent: int
    placement: Array
    type: JointType
    axis: Array
    pseudo: Array
    gravity: Array
    """The field of gravity in the axes that a joint on the base is placed in, shape (3,)."""


def torque_difference(
    model: RobotModel, robot: CanonicalRobot, states: int = COMPARED_STATES
) -> float:
    """The largest difference of a torque, relative to the largest torque of the same joint.

    Args:
        model: The robot, without its rotors and friction.
        robot: The same in canonical frames.
        states: Over how many random positions, velocities and accelerations (seeded) to measure.
    """
    rng = np.random.default_rng(0)
    shape = (states, len(robot.links))
    q, qd, qdd = (rng.uniform(-limit, limit, size=shape) for limit in (np.pi, 2.0, 2.0))
    expected = _torques(_of_model(model), q, qd, qdd)
    moved = np.abs(_torques(_of_canonical(robot), q, qd, qdd) - expected).max(axis=0)
    largest = np.abs(expected).max(axis=0)
    seen = moved > _TORQUE_NOISE * largest.max()
    return float(np.max(moved[seen] / np.maximum(largest[seen], 1e-300), initial=0.0))


def _torques(members: Sequence[_Member], q: Array, qd: Array, qdd: Array) -> Array:
    """Joint torques, shape (states, N)."""
    n = len(members)
    T, Td, Tdd, load = (np.zeros((n, len(q), 4, 4)) for _ in range(4))
    for i, member in enumerate(members):
        D, up = member.type.generator(member.axis), member.parent
        at = (T[up], Td[up], Tdd[up]) if up >= 0 else _at_rest(member.gravity)
        v, a = qd[:, i, None, None], qdd[:, i, None, None]
        here, rate, second = (X @ member.placement @ _motion(member, q[:, i]) for X in at)
        T[i], Td[i] = here, rate + here @ D * v
        Tdd[i] = second + 2.0 * rate @ D * v + here @ (D @ D * v**2 + D * a)
        load[i] = T[i] @ member.pseudo @ np.swapaxes(Tdd[i], -1, -2)
    tau = np.empty(q.shape)
    for i in reversed(range(n)):
        W = T[i] @ members[i].type.generator(members[i].axis) @ inverse(T[i])
        tau[:, i] = np.einsum("sab,sba->s", W, load[i])
        if members[i].parent >= 0:
            load[members[i].parent] += load[i]
    return tau


def _at_rest(gravity: Array) -> tuple[Array, Array, Array]:
    """The base, its velocity, and its acceleration against gravity."""
    upwards = np.zeros((4, 4))
    upwards[:3, 3] = -gravity
    return np.eye(4), np.zeros((4, 4)), upwards


def _motion(member: _Member, q: Array) -> Array:
    """exp(D q), shape (states, 4, 4)."""
    T = np.zeros((len(q), 4, 4))
    T[:, :3, :3] = member.type.rotation(member.axis, q)
    T[:, :3, 3] = np.outer(member.type.travel(q) + 0.0 * q, member.axis)
    T[:, 3, 3] = 1.0
    return T


def _of_model(model: RobotModel) -> list[_Member]:
    gravity = model.base[:3, :3].T @ model.gravity
    return [
        _Member(joint.parent, joint.placement, joint.type, joint.axis, link.inertia.pseudo, gravity)
        for joint, link in zip(model.joints, model.links, strict=True)
    ]


def _of_canonical(robot: CanonicalRobot) -> list[_Member]:
    z = np.array([0.0, 0.0, 1.0])
    return [
        _Member(
            link.parent,
            _placement(link),
            link.type,
            link.sign * z,
            np.block([[link.J, link.u[:, None]], [link.u, np.array([link.M])]]),
            link.gravity,
        )
        for link in robot.links
    ]


def _placement(link: CanonicalLink) -> Array:
    R, (c, s) = twist(link), cos_sin(link.theta)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return transform(R @ turn, link.across + link.r * R[:, 2])
