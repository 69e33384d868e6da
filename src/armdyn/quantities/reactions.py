"""What each link receives at its joint, and the base from the ground."""

from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.joint_wrenches import joint_wrenches, link_motion
from armdyn.formulations.kinematics import WorldFrames, frame_in_world, world_frames
from armdyn.formulations.spatial import dot, rotate, rotate_back
from armdyn.formulations.springs import spring_wrenches
from armdyn.graph.count import count
from armdyn.model.edit import with_turned_links
from armdyn.quantities.loop_reactions import loop_reactions
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.traced_robot import TracedRobot, held_wrench
from armdyn.shorten.canonical.frames import canonical_frames

OWN_AXES = ("joint", "link")
"""Names of axes that are those of each link itself."""


def _reactions(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """Of some ways the shortest.

    The frames on joints are as described, or turned so that they fit each other; forces are summed
    in these frames, or in the world.
    """
    if s.model.loops:
        return loop_reactions(s, q, qd, qdd)
    turns = tuple(frame[:3, :3] for frame in canonical_frames(s.model))
    forms = (
        (s, tuple(np.eye(3) for _ in turns)),
        (replace(s, model=with_turned_links(s.model, turns)), turns),
    )
    sums = (False,) if s.request.frame in OWN_AXES else (True, False)
    ways = (_rows(form, own, world, (q, qd, qdd)) for form, own in forms for world in sums)
    return min(map(s.nodes, ways), key=lambda rows: count(rows.flat).total)


def _rows(
    s: TracedRobot, own: tuple[Array, ...], world: bool, state: tuple[Array, Array, Array]
) -> Array:
    """The rows; `own` are the axes of each link in those of the frame on its joint as described."""
    (model, turning), (q, qd, qdd) = s.standing, state
    at = s.here(q)
    motion = at.q, at.rates(qd), at.accelerations(qd, qdd)
    moving, exerted = link_motion(model, *motion, turning), s.exerted(motion[0])
    if s.request.payload:
        exerted = held_wrench(model, moving, s.vector("payload"), exerted)
    found = joint_wrenches(model, motion[0], moving, exerted, world=world)
    frames = world_frames(model, motion[0])
    rows = [_on_ground(s, found.base, motion[0], world)] if s.request.base_wrench else []
    for i, joint in enumerate(model.joints):
        f, n = found.f[i], found.n[i]
        if s.request.constraint:  # without what the drive gives, so that no work is done
            axis = frames.z[i] if world else joint.axis
            drive = dot(axis, joint.type.combine(f, n)) * axis
            f, n = (f, n - drive) if joint.type.turns else (f - drive, n)
        rows.append((f, n))
    links = range(len(model.links) - len(rows), len(model.links))  # from -1 if the base is in it
    turned = (
        _turned(s, frames, own, world, i, vectors) for i, vectors in zip(links, rows, strict=True)
    )
    return np.stack([np.concatenate(pair) for pair in turned])


def _on_ground(
    s: TracedRobot, found: tuple[Array, Array], q: Array, world: bool
) -> tuple[Array, Array]:
    """What the base receives from the ground, which springs between it and links do not change."""
    if not s.model.springs:
        return found
    own = spring_wrenches(s.plain, s.plain.springs, q)[-1]
    R = s.described.base[:3, :3] if world else np.eye(3)
    return found[0] + rotate(R, own[:3]), found[1] + rotate(R, own[3:])


def _turned(
    s: TracedRobot,
    frames: WorldFrames,
    own: tuple[Array, ...],
    world: bool,
    link: int,
    vectors: tuple[Array, Array],
) -> list[Array]:
    """Vectors of a link, in axes of the world or of the frame on its joint, in those asked for."""
    model, axes = s.described, s.request.frame
    if axes == "joint":
        return [rotate(own[link] if link >= 0 else np.eye(3), v) for v in vectors]
    if axes == "link":
        name = model.links[link].name if link >= 0 else model.base_link.name
        return [rotate_back(model.frame(name).placement[:3, :3], v) for v in vectors]
    found = list(vectors) if world else [rotate(frames.link(link)[0], v) for v in vectors]
    if axes == "world":
        return found
    R = frame_in_world(frames, model.frame(axes))[0]
    return [rotate_back(R, v) for v in found]


REACTIONS = Quantity(
    "reactions",
    "Force and moment that each link receives from its parent, about the origin of the frame on "
    "its joint, in {frame} axes. Rotors and friction act between motor and joint: they are not in "
    "it. Rows for the cut joints of loops follow: what link a receives from link b at frame a.",
    ("q", "qd", "qdd"),
    _reactions,
    symbol="r",
    result="force, then moment, a row for each link and each cut joint [N, N m]",
    shape=("N + L", 6),
    terms=("links", "coriolis", "gravity", "wrench"),
    options=("payload", "gravity", "wrench", "base_motion", "frame", "constraint", "base_wrench"),
    axes=("world", "joint", "link"),
)
