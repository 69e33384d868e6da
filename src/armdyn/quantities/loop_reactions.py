"""What links of a robot with loops receive at their joints and through cut joints."""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames, frame_in_world, world_frames
from armdyn.formulations.spatial import dot, rotate, rotate_back
from armdyn.formulations.springs import spring_wrenches
from armdyn.loops.closure import closure_of
from armdyn.loops.rows import cut_loads
from armdyn.loops.standing import StandingClosure, StandingLoops
from armdyn.quantities.traced_robot import TracedRobot


def loop_reactions(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The rows of `reactions` of a robot with loops, those of cut joints last."""
    found = s.recursion(q, qd, qdd, loads=True)
    frames = world_frames(s.described, s.here(q).q)
    here = s.here(q)
    loops = here if isinstance(here, StandingClosure) else StandingLoops(closure_of(s.model), q)
    cuts = loops.cut_wrenches(s.nodes(found.tau), frames)
    *loads, on_base = cut_loads(s.model, frames, cuts)
    found = s.recursion(q, qd, qdd, loads=True, more=np.stack(loads))
    rows = []
    if s.request.base_wrench:
        rows.append(_row(s, frames, -1, *_on_base(s, q, found.base, on_base)))
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


def _on_base(
    s: TracedRobot, q: Array, found: tuple[Array, Array], load: Array
) -> tuple[Array, Array]:
    """What the base receives from the ground, with the cut joints and springs that are on it."""
    if s.model.springs:
        load = load + spring_wrenches(s.plain, s.plain.springs, s.here(q).q)[-1]
    return found[0] + load[:3], found[1] + load[3:]


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
