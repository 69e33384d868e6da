"""A robot with other inertias and lengths, given in its canonical frames."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.model.inertia import Inertia
from armdyn.model.joint import Joint
from armdyn.model.link import Body, Link
from armdyn.model.robot import RobotModel
from armdyn.shorten.canonical.frames import canonical_frames
from armdyn.shorten.canonical.parameters import about_com

SHORT_DECIMAL = 12
"""Digits of a decimal that is short."""
DECIMAL_ROUNDING = 4e-15
"""How near it is, relative to the largest of the values."""
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
        T = frames[i] @ pseudo[i] @ frames[i].T
        mass, com, tensor = about_com(T[:3, :3], T[:3, 3], T.item(3, 3))
        total = Inertia.from_com(mass, _plain(com), _plain(0.5 * (tensor + tensor.T)))
        parts = [body for body in link.bodies if not body.payload]
        name = parts[0].name if parts else link.name
        return Link(link.name, (Body(name, total), *(body for body in link.bodies if body.payload)))

    return replace(
        model,
        joints=tuple(moved(i, joint) for i, joint in enumerate(model.joints)),
        links=tuple(loaded(i, link) for i, link in enumerate(model.links)),
    )


def _plain(values: Array) -> Array:
    """The values with short decimals in place of their rounding, such as 0.3 for 0.1 + 0.2."""
    near = DECIMAL_ROUNDING * np.abs(values).max(initial=0.0)
    decimals = np.vectorize(lambda x: float(f"{x:.{SHORT_DECIMAL}g}"))(values)
    return np.where(np.abs(decimals - values) <= near, decimals, values)
