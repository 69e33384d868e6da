"""Wrenches on the arm, of the environment and of a base that turns, as formulations take them."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.formulations.kinematics import Turning, frame_in_world, velocities, world_frames
from armdyn.formulations.spatial import cross, rotate, rotate_back
from armdyn.model import RobotModel

Wrench = npt.ArrayLike | Mapping[str, npt.ArrayLike]
"""A wrench (..., 6) of the environment on the arm, or one for each of several links."""


def exerted_wrench(model: RobotModel, q: Array, on: Mapping[str, Array], axes: str) -> Array:
    """What each link exerts on the environment, (..., N, 6), in the frame on its joint.

    On the arm acts a wrench (force, moment), (..., 6), at the origin of each frame named in `on`,
    in the axes of the world or of a frame.
    """
    frames = world_frames(model, q)
    batch = np.broadcast_shapes(q.shape[:-1], *(w.shape[:-1] for w in on.values()))
    rows = [np.zeros((*batch, 6)) for _ in model.joints]
    for name, given in on.items():
        frame = model.frame(name)
        if frame.link < 0:
            continue  # the base does not move, so nothing acts through the joints
        f, n = -given[..., :3], -given[..., 3:]
        if axes != "world":
            R = frame_in_world(frames, model.frame(axes))[0]
            f, n = rotate(R, f), rotate(R, n)
        R = frames.R[frame.link]
        f, n = rotate_back(R, f), rotate_back(R, n)
        moment = n + cross(np.broadcast_to(frame.placement[:3, 3], f.shape), f)
        rows[frame.link] = rows[frame.link] + np.concatenate([f, moment], -1)
    return np.stack(rows, -2)


def carried_wrench(model: RobotModel, q: Array, qd: Array, turning: Turning) -> Array:
    """What each link exerts because its base turns, (..., N, 6), as `exerted_wrench` has it.

    With ω and v of a link against the base, the acceleration of its origin and its angular one are
    larger by ω̇_0×r + ω_0×(ω_0×r) + 2 ω_0×v and by ω̇_0 + ω_0×ω: those of Euler, the centrifugal
    ones and those of Coriolis.
    """
    frames, rows = world_frames(model, q), []
    w, v = velocities(model, frames, qd)
    w0, wd0 = frames.of_base(turning)
    for link, R, O, w_i, v_i in zip(model.links, frames.R, frames.O, w, v, strict=True):
        r = O - frames.base[1]
        a = cross(wd0, r) + cross(w0, cross(w0, r)) + 2.0 * cross(w0, v_i)
        vectors = (a, wd0 + cross(w0, w_i), w_i, w0 + w_i)
        a, wd, own, whole = (rotate_back(R, x) for x in vectors)
        h = np.broadcast_to(link.inertia.first_moment, a.shape)
        I = link.inertia.moment
        F = cross(whole, cross(whole, h)) - cross(own, cross(own, h))
        N = cross(whole, rotate(I, whole)) - cross(own, rotate(I, own))
        F = F + link.inertia.mass * a + cross(wd, h)
        rows.append(np.concatenate([F, N + rotate(I, wd) + cross(h, a)], -1))
    return np.stack(rows, -2)
