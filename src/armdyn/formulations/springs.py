"""Energy and torques of springs: V = Σ ½ k (|d| - l)² with d = p - a, and ∂V/∂q = Σ f·∂d/∂q.

The force is f = k d - k l d/|d|, so that torques are linear in the stiffness k and in its product
with the free length, k l. Those that joints wind up have Σ r q in place of |d|.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames, world_frames
from armdyn.formulations.spatial import cross, dot, rotate, rotate_back, times
from armdyn.graph.nodes import Node
from armdyn.model import JointSpring, RobotModel, Spring
from armdyn.model.transform import IDENTITY

STIFFNESS, TENSION = "stiffness", "stiffness_length"
"""The parameters of a spring: k [N/m], and k l [N], which it has if its free length is not 0."""


def spring_vectors(frames: WorldFrames, spring: Spring) -> tuple[Array, Array, Array]:
    """d, p and a of a spring in world axes, (..., 3) [m]."""
    ends = []
    for link, point in ((spring.link, spring.point), (spring.other, spring.anchor)):
        R, O = frames.link(link)
        ends.append(O + rotate(R, point))
    return ends[0] - ends[1], ends[0], ends[1]


def spring_energy(model: RobotModel, springs: Sequence[Spring | JointSpring], q: Array) -> Array:
    """The energy of springs at positions of all moving joints q (..., N), shape (...) [J]."""
    total = np.zeros(q.shape[:-1])
    if not springs:
        return total
    frames = _frames(model, q)
    for spring in springs:
        if isinstance(spring, JointSpring):
            stretch = _turned(model, spring, q) - spring.free_length
            total = total + 0.5 * spring.stiffness * stretch * stretch
            continue
        d = spring_vectors(frames, spring)[0]
        if spring.free_length:
            stretch = _length(d) - spring.free_length
            total = total + 0.5 * spring.stiffness * stretch * stretch
        else:  # without a root, whose slope is not finite where the ends meet
            total = total + 0.5 * spring.stiffness * dot(d, d)
    return total


def spring_torques(model: RobotModel, springs: Sequence[Spring | JointSpring], q: Array) -> Array:
    """What the actuators must add to hold against springs, ∂V/∂q, (..., N) [N m or N]."""
    tau = np.zeros(q.shape)
    if not springs:
        return tau
    frames = _frames(model, q)
    for spring in springs:
        if isinstance(spring, JointSpring):
            moment = spring.stiffness * (_turned(model, spring, q) - spring.free_length)
            tau = tau + _wound(model, spring, moment)
        else:
            tau = tau + _felt(model, frames, spring, _force(frames, spring))
    return tau


def spring_columns(
    model: RobotModel, springs: Sequence[Spring | JointSpring], q: Array
) -> Iterator[Array]:
    """The torques by unit parameters of the springs, (..., N) each, k before k l of each spring."""
    if not springs:
        return
    frames = _frames(model, q)
    for spring in springs:
        if isinstance(spring, JointSpring):
            turned = _turned(model, spring, q)
            yield _wound(model, spring, turned)
            if spring.free_length:
                yield _wound(model, spring, 0.0 * turned - 1.0)
            continue
        d, _, _ = spring_vectors(frames, spring)
        yield _felt(model, frames, spring, d)
        if spring.free_length:
            yield _felt(model, frames, spring, -times(1.0 / _length(d), d))


def spring_wrenches(model: RobotModel, springs: Sequence[Spring | JointSpring], q: Array) -> Array:
    """What links exert on springs, in the frames on their joints, (..., N + 1, 6); the base last.

    The moment is about the origin of that frame, or of the base. What joints wind up acts beside
    their motors, and so within the joint.
    """
    frames = _frames(model, q)
    rows = [np.zeros((*q.shape[:-1], 6)) for _ in range(len(model.joints) + 1)]
    for spring in springs:
        if isinstance(spring, JointSpring):
            continue
        force = _force(frames, spring)
        for link, point, sign in (
            (spring.link, spring.point, 1.0),
            (spring.other, spring.anchor, -1.0),
        ):
            f = rotate_back(frames.link(link)[0], sign * force)
            moment = cross(np.broadcast_to(point, f.shape), f)
            rows[link] = rows[link] + np.concatenate([f, moment], -1)
    return np.stack(rows, -2)


def _frames(model: RobotModel, q: Array) -> WorldFrames:
    """The frames on joints seen from the base, which is enough: springs know no world."""
    return world_frames(replace(model, base=IDENTITY), q)


def _force(frames: WorldFrames, spring: Spring) -> Array:
    """What pulls the point away from the anchor against the spring, world axes, (..., 3) [N]."""
    d, _, _ = spring_vectors(frames, spring)
    force = spring.stiffness * d
    if not spring.free_length:
        return force
    return force - times(spring.stiffness * spring.free_length / _length(d), d)


def _felt(model: RobotModel, frames: WorldFrames, spring: Spring, force: Array) -> Array:
    """The torques of a force at the point and its opposite at the anchor, (..., N)."""
    _, p, a = spring_vectors(frames, spring)
    tau = [np.zeros(force.shape[:-1]) for _ in model.joints]
    for link, end, sign in ((spring.link, p, 1.0), (spring.other, a, -1.0)):
        for j in model.paths[link] if link >= 0 else ():
            z, combine = frames.z[j], model.joints[j].type.combine
            tau[j] = tau[j] + sign * dot(force, combine(z, cross(z, end - frames.O[j])))
    return np.stack(tau, -1)


def _turned(model: RobotModel, spring: JointSpring, q: Array) -> Array:
    """How far the joints at q (..., N) wind a spring up, (...)."""
    places = {joint.name: i for i, joint in enumerate(model.joints)}
    first, *others = (ratio * _position(model, places[j], q) for j, ratio in spring.ratios)
    return np.asarray(sum(others, first))


def _position(model: RobotModel, i: int, q: Array) -> Array:
    """The position of a joint, (...); where loops turn it, the turn nearest to its assembly."""
    followers = [loop.link_a for loop in model.loops if loop.couples]
    if i not in model.passive or i in followers or not model.joints[i].type.only_turns:
        return q[..., i]
    assert model.assembly is not None
    near = float(model.assembly[i])
    x = q[..., i][()] - near
    if isinstance(x, Node):
        return np.array(x.graph.angle(x.sin(), x.cos()) + near)
    return np.asarray(near + np.arctan2(np.sin(x), np.cos(x)))


def _wound(model: RobotModel, spring: JointSpring, moment: Array) -> Array:
    """The torques of a moment that winds a spring up, (..., N)."""
    ratios = dict(spring.ratios)
    return np.stack([ratios.get(joint.name, 0.0) * moment for joint in model.joints], -1)


def _length(d: Array) -> Array:
    return np.sqrt(dot(d, d))
