"""What each link receives at its joint, and the base from the ground."""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames, frame_in_world, world_frames
from armdyn.formulations.spatial import dot, rotate, rotate_back
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _reactions(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    found = s.recursion(q, qd, qdd, loads=True)
    frames = world_frames(s.described, s.here(q).q)
    rows = [_row(s, frames, -1, *found.base)] if s.request.base_wrench else []
    for i, joint in enumerate(s.model.joints):
        f, n = found.f[i], found.n[i]
        if s.request.constraint:  # without what the drive gives, so that no work is done
            drive = dot(joint.axis, joint.type.combine(f, n)) * joint.axis
            f, n = (f, n - drive) if joint.type.turns else (f - drive, n)
        rows.append(_row(s, frames, i, f, n))
    return np.stack(rows)


def _row(s: TracedRobot, frames: WorldFrames, link: int, f: Array, n: Array) -> Array:
    """Force and moment on a link, given in the axes of its joint frame, in those of the request."""
    axes = s.request.frame
    if axes == "link":
        name = s.model.links[link].name if link >= 0 else s.model.base_link.name
        R = s.plain.frame(name).placement[:3, :3]
        f, n = rotate_back(R, f), rotate_back(R, n)
    elif axes != "joint":
        R = frames.link(link)[0]
        f, n = rotate(R, f), rotate(R, n)
        if axes != "world":
            R = frame_in_world(frames, s.plain.frame(axes))[0]
            f, n = rotate_back(R, f), rotate_back(R, n)
    return np.concatenate([f, n])


REACTIONS = Quantity(
    "reactions",
    "Force and moment that each link receives from its parent, about the origin of the frame on "
    "its joint, in {frame} axes. Rotors and friction act between motor and joint: they are not in "
    "it.",
    ("q", "qd", "qdd"),
    _reactions,
    symbol="r",
    result="force, then moment, a row for each link [N, N m]",
    shape=("N", 6),
    terms=("links", "coriolis", "gravity", "wrench"),
    options=("payload", "gravity", "wrench", "base_motion", "frame", "constraint", "base_wrench"),
    axes=("world", "joint", "link"),
)
