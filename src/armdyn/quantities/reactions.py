"""What each link receives at its joint and through cut joints, and the base from the ground."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.joint_wrenches import JointWrenches, joint_wrenches, link_motion
from armdyn.formulations.kinematics import WorldFrames, frame_in_world, world_frames
from armdyn.formulations.newton_euler import NewtonEuler
from armdyn.formulations.rotors import spin_loads
from armdyn.formulations.spatial import dot, rotate, rotate_back
from armdyn.formulations.springs import spring_wrenches
from armdyn.graph.count import count
from armdyn.loops.rows import cut_loads
from armdyn.model import RobotModel
from armdyn.model.edit import with_turned_links
from armdyn.quantities.quantity import quantity
from armdyn.quantities.traced_robot import TracedRobot, held_wrench
from armdyn.shorten.canonical.frames import canonical_frames

Row = tuple[int, list[Array]]
"""A link, -1 being the base, with force and moment."""
OWN_AXES = ("joint", "link")
"""Names of axes that are those of each link itself."""


@quantity(
    symbol="r",
    result="force, then moment, a row for each link and each cut joint [N, N m]",
    shape=("N + L", 6),
    terms=("links", "coriolis", "gravity", "wrench"),
    options=("payload", "gravity", "wrench", "base_motion", "frame", "constraint", "base_wrench"),
    axes=("world", "joint", "link"),
)
def _reactions(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """Force and moment that each link receives from its parent, in {frame} axes.

    They are about the origin of the frame on its joint. Friction, and inertia behind gears, act
    between motor and joint: they are not in it, but rotors that spin load their carriers. Rows for
    the cut joints of loops follow: what link a receives from link b at frame a.
    """
    # of some ways the shortest: the frames on joints are as described, or turned so that they fit
    # each other; forces are summed in these frames, or in the world
    described = tuple(np.eye(3) for _ in s.model.links)
    if s.model.loops:
        return _loop_rows(s, described, q, qd, qdd)
    turns = tuple(frame[:3, :3] for frame in canonical_frames(s.model))
    forms = (s, described), (replace(s, model=with_turned_links(s.model, turns)), turns)
    sums = (False,) if s.request.frame in OWN_AXES else (True, False)
    ways = (_rows(form, own, world, (q, qd, qdd)) for form, own in forms for world in sums)
    return min(map(s.nodes, ways), key=lambda rows: count(rows.flat).total)


def _rows(
    s: TracedRobot, own: tuple[Array, ...], world: bool, state: tuple[Array, Array, Array]
) -> Array:
    """The rows; `own` are the axes of each link in those of the frame on its joint as described."""
    (model, turning), (q, qd, qdd) = s.standing, state
    motion = s.here(q).motion(qd, qdd)
    moving, exerted = link_motion(model, *motion, turning), s.exerted(motion)
    if s.request.payload:
        exerted = held_wrench(model, moving, s.vector("payload"), exerted)
    found = joint_wrenches(model, motion[0], moving, exerted, world=world)
    frames = world_frames(model, motion[0])
    on_base, axes = _spins_on_base(s, motion), frames.z if world else None
    rows = list(_received(s, model, motion[0], found, on_base, axes))
    return _in_axes(s, frames, own, world, rows)


def _loop_rows(s: TracedRobot, own: tuple[Array, ...], q: Array, qd: Array, qdd: Array) -> Array:
    """The rows of a robot with loops, those of cut joints last."""
    found = s.recursion(q, qd, qdd, loads=True)
    here = s.here(q)
    frames = world_frames(s.described, here.q)
    cuts = here.cut_wrenches(s.nodes(found.tau), frames)
    *loads, on_base = cut_loads(s.model, frames, cuts)
    on_base = on_base + _spins_on_base(s, here.motion(qd, qdd))
    found = s.recursion(q, qd, qdd, loads=True, more=np.stack(loads))
    at_cuts = (
        (loop.link_a, [rotate_back(frames.link(loop.link_a)[0], v) for v in wrench])
        for loop, wrench in zip(s.model.loops, cuts, strict=True)
    )
    at_joints = _received(s, s.model, here.q, found, on_base)
    return _in_axes(s, frames, own, False, chain(at_joints, at_cuts))


def _spins_on_base(s: TracedRobot, motion: tuple[Array, Array, Array]) -> Array:
    """What the rotors that the base carries need of it, in its axes."""
    if not s.model.spins:
        return np.zeros(6)
    model, turning = s.standing
    return np.concatenate([np.zeros(3), spin_loads(model, *motion, s.momenta, turning).base])


def _received(
    s: TracedRobot,
    model: RobotModel,
    q: Array,
    found: NewtonEuler | JointWrenches,
    on_base: Array,
    world: list[Array] | None = None,
) -> Iterator[Row]:
    """What the base receives from the ground, if that is asked, and each link from its parent.

    Springs and loads on the base are not among what was found; `world` are the axes of joints in
    the world, if that is where it was found.
    """
    if s.request.base_wrench:
        if s.model.springs:
            on_base = on_base + spring_wrenches(s.plain, s.plain.springs, q)[-1]
        R = np.eye(3) if world is None else s.described.base[:3, :3]
        loads = rotate(R, on_base[:3]), rotate(R, on_base[3:])
        yield -1, [v + load for v, load in zip(found.base, loads, strict=True)]
    for i, joint in enumerate(model.joints):
        f, n = found.f[i], found.n[i]
        if s.request.constraint:  # without what the drive gives, so that no work is done
            axis = joint.axis if world is None else world[i]
            drive = dot(axis, joint.type.combine(f, n)) * axis
            f, n = (f, n - drive) if joint.type.turns else (f - drive, n)
        yield i, [f, n]


def _in_axes(
    s: TracedRobot, frames: WorldFrames, own: tuple[Array, ...], world: bool, rows: Iterable[Row]
) -> Array:
    """The rows in the axes asked for, from those of the world or of the frames on joints."""
    model, axes = s.described, s.request.frame

    def turned(link: int, vectors: list[Array]) -> list[Array]:
        if axes == "joint":
            return [rotate(own[link] if link >= 0 else np.eye(3), v) for v in vectors]
        if axes == "link":
            name = model.links[link].name if link >= 0 else model.base_link.name
            return [rotate_back(model.frame(name).placement[:3, :3], v) for v in vectors]
        in_world = vectors if world else [rotate(frames.link(link)[0], v) for v in vectors]
        if axes == "world":
            return in_world
        R = frame_in_world(frames, model.frame(axes))[0]
        return [rotate_back(R, v) for v in in_world]

    return np.stack([np.concatenate(turned(*row)) for row in rows])
