"""A robot with other inertias and lengths, given in its canonical frames."""

from collections.abc import Mapping
from dataclasses import replace

from armdyn.arrays import Array, frozen
from armdyn.model.inertia import Inertia
from armdyn.model.joint import Joint
from armdyn.model.link import Body, Link
from armdyn.model.robot import RobotModel
from armdyn.shorten.canonical.frames import canonical_frames

NOTHING: Mapping[int, float] = {}


def redesign(
    model: RobotModel,
    pseudo: Mapping[int, Array],
    lengths: Mapping[int, float] = NOTHING,
    offsets: Mapping[int, float] = NOTHING,
) -> RobotModel:
    """The robot with other bodies on some links and with some joints moved.

    A changed link has one body, named as its first one was, with a new pseudo-inertia (4, 4) in its
    canonical frame; payloads are kept as they are. A joint moves by a length along the canonical x
    axis of its parent and by an offset along its own canonical z axis [m].
    """
    frames = canonical_frames(model)

    def moved(i: int, joint: Joint) -> Joint:
        if not lengths.get(i) and not offsets.get(i):
            return joint
        placement = joint.placement.copy()
        if joint.parent >= 0:
            placement[:3, 3] += lengths.get(i, 0.0) * frames[joint.parent][:3, 0]
        placement[:3, 3] += offsets.get(i, 0.0) * (placement[:3, :3] @ frames[i][:3, 2])
        return replace(joint, placement=frozen(placement))

    def loaded(i: int, link: Link) -> Link:
        if i not in pseudo:
            return link
        total = frames[i] @ pseudo[i] @ frames[i].T
        parts = [body for body in link.bodies if not body.payload]
        name = parts[0].name if parts else link.name
        body = Body(name, Inertia.from_pseudo(0.5 * (total + total.T)))
        return Link(link.name, (body, *(body for body in link.bodies if body.payload)))

    return replace(
        model,
        joints=tuple(moved(i, joint) for i, joint in enumerate(model.joints)),
        links=tuple(loaded(i, link) for i, link in enumerate(model.links)),
    )
