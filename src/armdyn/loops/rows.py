"""The rows of all closures of a robot: residuals, their Jacobian and its rate.

Numbers of any batch shape, or nodes. The rows of a loop stand in the order of its cut joint.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames, velocities, world_frames
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.formulations.spatial import cross, rotate, rotate_back, times
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import FrameMotion, derivative, polynomial


def cut_lines(model: RobotModel, frames: WorldFrames) -> list[tuple[Array, Array]]:
    """From the joint of each link to the cut joint that it has, in world axes."""
    lines = []
    for loop in (loop for loop in model.loops if not loop.couples):
        ends = zip((loop.link_a, loop.link_b), end_frames(frames, loop), strict=True)
        lines += [(frames.link(link)[1], T[:3, 3]) for link, T in ends if link >= 0]
    return lines


def end_frames(frames: WorldFrames, loop: Loop) -> tuple[Array, Array]:
    """Frames a and b of a loop in the world, (..., 4, 4)."""
    ends = []
    for link, T in ((loop.link_a, loop.frame_a), (loop.link_b, loop.frame_b)):
        R, O = frames.link(link)
        ends.append(homogeneous(R @ T[:3, :3], O + rotate(R, T[:3, 3])))
    return ends[0], ends[1]


def cut_loads(
    model: RobotModel, frames: WorldFrames, wrenches: Sequence[tuple[Array, Array]]
) -> Array:
    """What links exert through cut joints, (N + 1, 6) nodes in the frames on joints; the base last.

    The wrenches are those of b on a at frame a of each loop, in world axes.
    """
    exerted = np.zeros((len(model.joints) + 1, 6), dtype=object)
    for loop, (f, m) in zip(model.loops, wrenches, strict=True):
        p = end_frames(frames, loop)[0][:3, 3]
        for sign, link in ((-1.0, loop.link_a), (1.0, loop.link_b)):
            R, O = frames.link(link)
            wrench = sign * f, sign * (m + cross(p - O, f))
            exerted[link] += np.concatenate([rotate_back(R, part) for part in wrench])
    return exerted


def residuals(model: RobotModel, q: Array, known: WorldFrames | None = None) -> Array:
    """What every row misses at positions of all joints, (..., m), whose frames may be known."""
    frames = world_frames(model, q) if known is None else known
    rows = []
    for loop in model.loops:
        if loop.couples:
            leading = polynomial(loop.coefficients, q[..., loop.link_b][()])
            rows.append(q[..., loop.link_a][()] - leading)
            continue
        A, B = end_frames(frames, loop)
        rows += [row.residual(A, B, loop.length) for row in loop.cut.rows]
    return np.stack(rows, -1)


def largest_residuals(model: RobotModel, q: Array) -> Array:
    """The largest of what the rows of each loop miss, (..., loops)."""
    if not model.loops:
        return np.zeros((*q.shape[:-1], 0))
    ends = np.cumsum([loop.conditions for loop in model.loops])[:-1]
    each = np.split(np.abs(residuals(model, q)), ends, -1)
    return np.stack([rows.max(-1) for rows in each], -1)


def closure_matrix(model: RobotModel, q: Array, known: WorldFrames | None = None) -> Array:
    """A of A(q) q̇ = 0, the Jacobian of the residuals, (..., m, N)."""
    frames = world_frames(model, q) if known is None else known
    rows = []
    for loop in model.loops:
        if loop.couples:
            rows.append(_coupling_row(model, loop, q))
            continue
        A, B = end_frames(frames, loop)
        rows += [_row(model, frames, loop, A, *row.wrench(A, B)) for row in loop.cut.rows]
    return np.stack(rows, -2)


def _row(model: RobotModel, frames: WorldFrames, loop: Loop, A: Array, f: Array, m: Array) -> Array:
    """The power of a wrench at p_A on link a, and of its opposite on link b, for each joint."""
    sums: list[Any] = [0.0 * A[..., 0, 3] for _ in model.joints]
    for sign, link in ((1.0, loop.link_a), (-1.0, loop.link_b)):
        for j in model.paths[link] if link >= 0 else ():
            z = frames.z[j]
            arm = A[..., :3, 3] - frames.O[j]
            combine = model.joints[j].type.combine
            sums[j] = sums[j] + sign * combine(
                (f * z).sum(-1), (f * cross(z, arm)).sum(-1) + (m * z).sum(-1)
            )
    return np.stack(sums, -1)


def _coupling_row(model: RobotModel, loop: Loop, q: Array) -> Array:
    """How a coupling changes with each joint."""
    leading = q[..., loop.link_b][()]
    nothing = 0.0 * leading
    row: list[Any] = [nothing for _ in model.joints]
    row[loop.link_a] = nothing + 1.0
    row[loop.link_b] = nothing - polynomial(derivative(loop.coefficients), leading)
    return np.stack(row, -1)


def closure_bias(model: RobotModel, q: Array, qd: Array) -> Array:
    """Ȧ q̇, the second derivative of the residuals at constant rates, (..., m)."""
    frames = world_frames(model, q)
    w, v = velocities(model, frames, qd)
    a, dw = _accelerations(model, frames, qd, v, w)
    still = np.zeros_like(frames.base[1])
    rows = []
    for loop in model.loops:
        if loop.couples:
            curvature = derivative(derivative(loop.coefficients))
            leading, rate = (x[..., loop.link_b][()] for x in (q, qd))
            rows.append(-1.0 * polynomial(curvature, leading) * (rate * rate))
            continue
        ends = []
        for link, T in zip((loop.link_a, loop.link_b), end_frames(frames, loop), strict=True):
            if link < 0:
                ends.append(FrameMotion(T, still, still, still, still))
                continue
            arm = T[..., :3, 3] - frames.O[link]
            turning = cross(w[link], arm)
            speed = v[link] + turning
            force = a[link] + cross(dw[link], arm) + cross(w[link], turning)
            ends.append(FrameMotion(T, speed, w[link], force, dw[link]))
        rows += [row.bias(*ends) for row in loop.cut.rows]
    return np.stack(rows, -1)


def _accelerations(
    model: RobotModel, frames: WorldFrames, qd: Array, v: list[Array], w: list[Array]
) -> tuple[list[Array], list[Array]]:
    """Accelerations of the origins of links and angular ones, for constant rates."""
    a: list[Array] = []
    dw: list[Array] = []
    for i, joint in enumerate(model.joints):
        up, z = joint.parent, frames.z[i]
        a_i = np.zeros_like(frames.O[i])
        dw_i = np.zeros_like(frames.O[i])
        if up >= 0:
            arm = frames.O[i] - frames.O[up]
            a_i = a[up] + cross(dw[up], arm) + cross(w[up], cross(w[up], arm))
            slide = times(joint.type.travel(qd[..., i]), z)
            a_i = a_i + 2.0 * cross(w[up], slide)
            dw_i = dw[up] + cross(w[up], times(joint.type.angle(qd[..., i]), z))
        a.append(a_i)
        dw.append(dw_i)
    return a, dw
