"""Joints of SDF files: their ends and axes, how they move, and a tree of those that close none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import UnsupportedJointError
from armdyn.io.attributes import Place, Problems, drake_rotor
from armdyn.io.sdf.frames import WORLD, Named, SdfFrames, bound, first, number, numbers
from armdyn.io.xml import XmlElement
from armdyn.model import Connection, FrictionLaw, Limits, Mimic
from armdyn.model.joint_types import described_type
from armdyn.model.transform import frame_along, transform

AXES = dict.fromkeys(("revolute", "continuous", "prismatic", "screw"), 1)
AXES |= {"universal": 2, "revolute2": 2, "fixed": 0, "ball": 0}
"""How many axes each type has."""
SIMPLE = {"prismatic": "prismatic", "screw": "helical", "fixed": "fixed", "ball": "spherical"}
"""The type of the joints that a joint consists of; of others it is revolute."""
CUTS = ("revolute", "continuous", "prismatic", "ball", "fixed")
"""Types that can close a loop."""


@dataclass(frozen=True, slots=True, eq=False)
class SdfJoint:
    """A joint between two links."""

    element: XmlElement
    name: str
    type: str
    parent: str
    child: str
    place: Array
    """Its frame in that of the model, (4, 4)."""
    axes: tuple[Array, ...]
    """Its axes in its frame, (3,) each."""
    motions: tuple[dict[str, Any], ...]
    """Limits, friction and leader of each axis, as a `Connection` takes them."""
    pitch: float | None
    """Of a screw [m/rad]."""

    def connections(self, frames: dict[str, Array], reverse: bool) -> list[Connection]:
        """The joint, or the simple joints it consists of, from the parent to the child."""
        ends = (self.child, self.parent) if reverse else (self.parent, self.child)
        here = frozen(np.linalg.inv(frames[ends[0]]) @ self.place)
        kind = described_type(self.simple, self.pitch)
        parts = list(zip(self.axes, self.motions, strict=True))
        parts = [(-axis, motion) for axis, motion in reversed(parts)] if reverse else parts
        if len(parts) < 2:
            whole = Connection(self.name, kind, *ends, here)
            return [replace(whole, axis=axis, **motion) for axis, motion in parts] or [whole]
        middle = f"{self.name} between"
        return [
            Connection(f"{self.name}_1", kind, ends[0], middle, here, parts[0][0], **parts[0][1]),
            Connection(f"{self.name}_2", kind, middle, ends[1], axis=parts[1][0], **parts[1][1]),
        ]

    @property
    def simple(self) -> str:
        """The type of the joints that it consists of, and of the cut joint in its place."""
        return SIMPLE.get(self.type, "revolute")

    @property
    def cut_frame(self) -> Array:
        """Its frame in that of the model with z along its axis, (4, 4)."""
        return self.place @ transform(frame_along(self.axes[0]) if self.axes else None)


def joint_from_element(name: str, frames: SdfFrames, problems: Problems) -> SdfJoint | None:
    """A joint of the robot; None if there is a problem with it, or if it joins nothing of it."""
    named = frames.named[name]
    element, kind = named.element, named.element.attributes.get("type", "")
    joint = Place(element, f"joint {frames.short(name)!r}", problems)
    links = [frames.link_of(named.said(tag), element) for tag in ("parent", "child")]
    ends = [link for link in links if link is not None]
    if len(ends) < 2 or not any(map(frames.is_inside, ends)):
        return None
    if kind not in AXES:
        text = f"{joint.where} is of type {kind!r}; armdyn reads {', '.join(AXES)}"
        joint.add(text, UnsupportedJointError)
        return None
    for end in (end for end in ends if end != WORLD and not frames.is_inside(end)):
        joint.add(f"{joint.where} joins the robot with {end!r}, which is in another model")
        return None
    if ends[0] == ends[1]:
        joint.add(f"{joint.where} joins the link {frames.short(ends[0])!r} with itself")
        return None
    place = frames.place(name, element)
    axes, motions = [], []
    for tag in ("axis", "axis2")[: AXES[kind]]:
        axis = first(joint, tag)
        if axis is None:
            joint.add(f"{joint.where} of type {kind!r} has no <{tag}>")
            return None
        axes.append(_axis(axis, place, frames, named))
        motions.append(_motion(axis, kind) | {"mimic": _mimic(first(axis, "mimic"), named, frames)})
    inertia, ratio = (_value(joint, f"drake:{word}") for word in ("rotor_inertia", "gear_ratio"))
    if len(motions) == 1:
        motions[0]["rotor"] = drake_rotor(joint, inertia, ratio, motions[0]["limits"].effort)
    elif inertia:
        joint.warn("its rotor is left out: only a joint with one axis has one")
    return SdfJoint(
        element=element,
        name=frames.short(name),
        type=kind,
        parent=frames.short(ends[0]),
        child=frames.short(ends[1]),
        place=place,
        axes=tuple(axes),
        motions=tuple(motions),
        pitch=_pitch(joint) if kind == "screw" else None,
    )


def _axis(axis: Place, place: Array, frames: SdfFrames, named: Named) -> Array:
    """The unit vector of an axis in the frame of its joint."""
    along = first(axis, "xyz")
    values = None if along is None else numbers(along, 3)
    if along is None or values is None:
        return np.array([0.0, 0.0, 1.0])
    size = float(np.linalg.norm(values))
    if size < 1e-9:
        along.add(f"{axis.where}: the axis has no length")
        return np.array([0.0, 0.0, 1.0])
    name = along.attributes.get("expressed_in")
    R = place if not name else frames.place(named.absolute(name), along.element)
    return np.asarray(place[:3, :3].T @ R[:3, :3] @ np.array(values) / size)


def _motion(axis: Place, kind: str) -> dict[str, Any]:
    limit, dynamics, where = first(axis, "limit"), first(axis, "dynamics"), axis.where
    ends = [bound(limit, tag) for tag in ("lower", "upper")]
    if kind == "continuous":
        ends = [-np.inf, np.inf]
    if ends[0] > ends[1]:
        axis.add(f"{where}: its lower limit {ends[0]:g} is above the upper, {ends[1]:g}")
        ends = [-np.inf, np.inf]
    felt = {tag: number(dynamics, tag) for tag in ("damping", "friction")}
    for tag, value in felt.items():
        if value < 0:
            axis.add(f"{where}: <{tag}> cannot be negative, got {value:g}")
    viscous, dry = (max(value, 0.0) for value in felt.values())
    return {
        "limits": Limits(*ends, *(bound(limit, tag) for tag in ("velocity", "effort"))),
        "friction": FrictionLaw(viscous, dry, dry),
    }


def _value(joint: Place, tag: str) -> float | None:
    return number(joint, tag) if joint.element.all(tag) else None


def _mimic(mimic: Place | None, named: Named, frames: SdfFrames) -> Mimic | None:
    """q = multiplier (q_leader - reference) + offset."""
    if mimic is None:
        return None
    ratio = number(mimic, "multiplier", 1.0)
    offset = number(mimic, "offset") - ratio * number(mimic, "reference")
    leader = named.absolute(mimic.attributes.get("joint", ""))
    return Mimic(frames.short(leader), ratio, offset)


def _pitch(joint: Place) -> float:
    """Metres for each radian; the file has metres for each turn."""
    if first(joint, "screw_thread_pitch") is None:
        joint.add(
            f"{joint.where} has no <screw_thread_pitch>, the distance for a turn; what "
            "<thread_pitch> means differs from program to program"
        )
    return number(joint, "screw_thread_pitch", 1.0) / (2 * np.pi)


def spanning_tree(
    root: str, joints: Sequence[SdfJoint]
) -> tuple[list[tuple[SdfJoint, bool]], list[SdfJoint]]:
    """The joints of a tree from the root outward, each with whether it is passed from its child.

    Joints that cannot close a loop are taken first, then those that are passed from the parent, and
    of these the ones nearest to the root. What is left closes loops.
    """
    depth, left = {root: 0}, list(joints)
    found: list[tuple[SdfJoint, bool]] = []

    def cost(j: SdfJoint) -> tuple[bool, bool, int]:
        reverse = j.parent not in depth
        return j.type in CUTS, reverse, depth[j.child if reverse else j.parent]

    while True:
        ready = [j for j in left if (j.parent in depth) != (j.child in depth)]
        if not ready:
            return found, left
        joint = min(ready, key=cost)
        reverse = joint.parent not in depth
        near, far = (joint.child, joint.parent) if reverse else (joint.parent, joint.child)
        depth[far] = depth[near] + 1
        found.append((joint, reverse))
        left.remove(joint)
