"""Torques of a robot whose joints all turn in one plane, in axes of the base.

Each link has its absolute rate Ω and a vector V along it, which the closures have as well, so
nothing is turned from link to link, and the first moment is p = α V + β V':

    A_child = A + Ω̇ V' - Ω² V      F = m A + Ω̇ p' - Ω² p + Σ F_child
    N = J Ω̇ + p × A + Σ (N_child + V × F_child)          τ = ε N

A is the acceleration of the joint's origin less gravity.
"""

from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.loops.plane import PARALLEL_AXES, Path, angle_of, normal_axes, zero_frames
from armdyn.loops.standing import StandingLoops
from armdyn.loops.values import Pair, across, added, entries, outer, scaled, stacked
from armdyn.model import RobotModel


def is_planar(model: RobotModel) -> bool:
    """Whether all joints are revolute, with parallel axes."""
    frames = zero_frames(model)
    axes = [frames[i][:3, :3] @ joint.axis for i, joint in enumerate(model.joints)]
    turning = all(j.type.only_turns for j in model.joints)
    return turning and all(np.linalg.norm(np.cross(axes[0], z)) < PARALLEL_AXES for z in axes)


def planar_torques(
    model: RobotModel, at: StandingLoops, qd: Array, qdd: Array, weight: bool = True
) -> Array:
    """Torques at all joints of a planar robot of nodes, (N,)."""
    frames = zero_frames(model)
    z = frames[0][:3, :3] @ model.joints[0].axis
    x, y = normal_axes(z)
    number = at.q[0].graph.number
    g = model.base[:3, :3].T @ model.gravity if weight else np.zeros(3)
    rates = entries(at.rates(qd))
    changes = entries(at.accelerations(qd, qdd))
    N = len(model.joints)
    paths: list[Path] = []
    A: list[Pair] = []
    vectors: list[dict[int, Pair]] = []
    for i, joint in enumerate(model.joints):
        up = joint.parent
        sign = float(np.sign(z @ (frames[i][:3, :3] @ joint.axis)))
        paths.append((*(paths[up] if up >= 0 else ()), (i, sign)))
        vectors.append({})
        if up < 0:
            A.append((number(-float(g @ x)), number(-float(g @ y))))
            continue
        step = frames[up][:3, :3] @ joint.placement[:3, 3]
        V = at.vector(paths[up], (float(step @ x), float(step @ y)))
        vectors[up][i] = V
        w, dw = angle_of(rates, paths[up]), angle_of(changes, paths[up])
        A.append(added(A[up], added(scaled(dw, across(V)), scaled(-(w * w), V))))
    tau: list[Any] = [0.0] * N
    moments: list[Any] = [0.0] * N
    forces: list[Pair] = [(0.0, 0.0)] * N
    for i in reversed(range(N)):
        inertia = model.links[i].inertia
        R = frames[i][:3, :3]
        u = R @ inertia.first_moment
        axis = model.joints[i].axis
        w = angle_of(rates, paths[i])
        dw = angle_of(changes, paths[i])
        p = at.along(paths[i], (float(u @ x), float(u @ y)))
        moment = number(float(axis @ inertia.moment @ axis)) * dw + outer(p, A[i])
        force = added(scaled(dw, across(p)), scaled(-(w * w), p))
        force = added(force, scaled(number(inertia.mass), A[i]))
        moments[i] = moments[i] + moment
        forces[i] = added(forces[i], force)
        tau[i] = paths[i][-1][1] * moments[i]
        up = model.joints[i].parent
        if up >= 0:
            moments[up] = moments[up] + (moments[i] + outer(vectors[up][i], forces[i]))
            forces[up] = added(forces[up], forces[i])
    return stacked(tau)
