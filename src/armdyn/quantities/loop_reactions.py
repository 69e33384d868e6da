"""What links of a robot with loops receive at their joints and through cut joints."""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames, frame_in_world, world_frames
from armdyn.formulations.spatial import cross, dot, rotate, rotate_back
from armdyn.formulations.springs import spring_wrenches
from armdyn.loops.closure import closure_of
from armdyn.loops.rows import end_frames
from armdyn.loops.standing import StandingClosure, StandingLoops
from armdyn.quantities.traced_robot import TracedRobot


def loop_reactions(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The rows of `reactions` of a robot with loops, those of cut joints last."""
    found = s.recursion(q, qd, qdd, loads=True)
    frames = world_frames(s.described, s.here(q).q)
    cuts = _cut_wrenches(s, q, found.tau, frames)
    found = s.recursion(q, qd, qdd, loads=True, more=_loads(s, frames, cuts))
    rows = []
    if s.request.base_wrench:
        rows.append(_row(s, frames, -1, *_on_base(s, q, frames, found.base, cuts)))
    for i, joint in enumerate(s.model.joints):
        f, n = found.f[i], found.n[i]
        if s.request.constraint:  # without what the drive gives, so that no work is done
            drive = dot(joint.axis, joint.type.combine(f, n)) * joint.axis
            f, n = (f, n - drive) if joint.type.turns else (f - drive, n)
        rows.append(_row(s, frames, i, f, n))
    for loop, (f, m) in zip(s.model.loops, cuts, strict=True):
        R = frames.link(loop.link_a)[0]
        rows.append(_row(s, frames, loop.link_a, rotate_back(R, f), rotate_back(R, m)))
    return np.stack(rows)


Wrenches = list[tuple[Array, Array]]


def _cut_wrenches(s: TracedRobot, q: Array, tau: Array, frames: WorldFrames) -> Wrenches:
    """Force and moment of b on a at frame a of each loop, world axes."""
    here = s.here(q)
    loops = here if isinstance(here, StandingClosure) else StandingLoops(closure_of(s.model), q)
    return loops.cut_wrenches(s.nodes(tau), frames)


def _loads(s: TracedRobot, frames: WorldFrames, cuts: Wrenches) -> Array:
    """What links exert through cut joints, (N, 6), in the frames on their joints."""
    exerted = np.zeros((len(s.model.joints), 6), dtype=object)
    for loop, (f, m) in zip(s.model.loops, cuts, strict=True):
        p = end_frames(frames, loop)[0][:3, 3]
        for sign, link in ((-1.0, loop.link_a), (1.0, loop.link_b)):
            if link >= 0:
                R, O = frames.link(link)
                wrench = sign * f, sign * (m + cross(p - O, f))
                exerted[link] += np.concatenate([rotate_back(R, part) for part in wrench])
    return exerted


def _on_base(
    s: TracedRobot, q: Array, frames: WorldFrames, found: tuple[Array, Array], cuts: Wrenches
) -> tuple[Array, Array]:
    """What the base receives from the ground, with the cut joints and springs that are on it."""
    f_base, n_base = found
    if s.model.springs:
        own = spring_wrenches(s.plain, s.plain.springs, s.here(q).q)[-1]
        f_base, n_base = f_base + own[:3], n_base + own[3:]
    R, O = frames.link(-1)
    for loop, (f, m) in zip(s.model.loops, cuts, strict=True):
        p = end_frames(frames, loop)[0][:3, 3]
        for sign, link in ((-1.0, loop.link_a), (1.0, loop.link_b)):
            if link < 0:
                f_base = f_base + sign * rotate_back(R, f)
                n_base = n_base + sign * rotate_back(R, m + cross(p - O, f))
    return f_base, n_base


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
