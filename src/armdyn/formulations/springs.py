"""Energy and torques of springs: V = Σ ½ k (|d| - l)² with d = p - a, and ∂V/∂q = Σ f·∂d/∂q."""

from collections.abc import Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames, world_frames
from armdyn.formulations.spatial import cross, dot, rotate, times
from armdyn.model import RobotModel
from armdyn.model.spring import Spring


def spring_vectors(frames: WorldFrames, spring: Spring) -> tuple[Array, Array, Array]:
    """d, p and a of a spring in world axes, (..., 3) [m]."""
    ends = []
    for link, point in ((spring.link, spring.point), (spring.other, spring.anchor)):
        R, O = frames.link(link)
        ends.append(O + rotate(R, point))
    return ends[0] - ends[1], ends[0], ends[1]


def spring_energy(model: RobotModel, springs: Sequence[Spring], q: Array) -> Array:
    """The energy of springs at positions of all moving joints q (..., N), shape (...) [J]."""
    frames, total = world_frames(model, q), np.zeros(q.shape[:-1])
    for spring in springs:
        stretch = _length(spring_vectors(frames, spring)[0]) - spring.free_length
        total = total + 0.5 * spring.stiffness * stretch * stretch
    return total


def spring_torques(model: RobotModel, springs: Sequence[Spring], q: Array) -> Array:
    """What the actuators must add to hold against springs, ∂V/∂q, (..., N) [N m or N]."""
    frames = world_frames(model, q)
    tau = [np.zeros(q.shape[:-1]) for _ in model.joints]
    for spring in springs:
        d, p, a = spring_vectors(frames, spring)
        # the force is k d (1 - l/|d|), and k d where the free length is 0
        force = spring.stiffness * d
        if spring.free_length:
            force = force - times(spring.stiffness * spring.free_length / _length(d), d)
        for link, end, sign in ((spring.link, p, 1.0), (spring.other, a, -1.0)):
            for j in model.paths[link] if link >= 0 else ():
                z, combine = frames.z[j], model.joints[j].type.combine
                tau[j] = tau[j] + sign * dot(force, combine(z, cross(z, end - frames.O[j])))
    return np.stack(tau, -1)


def _length(d: Array) -> Array:
    return np.sqrt(dot(d, d))
