"""Joints of SDF files: their ends and axes, how they move, and a tree of those that close none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import UnsupportedJointError
from armdyn.io.attributes import Problems
from armdyn.io.sdf.frames import MODEL, SdfFrames, bound, number, numbers, word
from armdyn.io.xml import XmlElement
from armdyn.model import Connection, FrictionLaw, Limits, Mimic
from armdyn.model.joint_types import JointType, joint_type
from armdyn.model.transform import frame_along

AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "universal": 2, "revolute2": 2}
"""How many axes the types have that have any."""
OTHERS = ("fixed", "ball")
CUTS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "spherical",
    "fixed": "fixed",
}
"""The cut joint of each type that can close a loop."""


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
    pitch: float
    """Of a screw [m/rad]."""

    def connections(self, frames: dict[str, Array], reverse: bool) -> list[Connection]:
        """The joint, or the simple joints it consists of, from the parent to the child."""
        ends = (self.child, self.parent) if reverse else (self.parent, self.child)
        here = frozen(np.linalg.inv(frames[ends[0]]) @ self.place)
        if self.type in OTHERS:
            name = "spherical" if self.type == "ball" else "fixed"
            return [Connection(self.name, name, *ends, here)]
        parts = list(zip(self.axes, self.motions, strict=True))
        parts = [(-axis, motion) for axis, motion in reversed(parts)] if reverse else parts
        kind = self._simple
        if len(parts) == 1:
            axis, motion = parts[0]
            return [Connection(self.name, kind, *ends, here, axis, **motion)]
        middle = f"{self.name} between"
        return [
            Connection(f"{self.name}_1", kind, ends[0], middle, here, parts[0][0], **parts[0][1]),
            Connection(f"{self.name}_2", kind, middle, ends[1], axis=parts[1][0], **parts[1][1]),
        ]

    @property
    def _simple(self) -> JointType:
        if self.type == "screw":
            return joint_type("helical", self.pitch)
        return joint_type("prismatic" if self.type == "prismatic" else "revolute")

    @property
    def cut_frame(self) -> Array:
        """Its frame in that of the model with z along its axis, (4, 4)."""
        turned = np.eye(4)
        turned[:3, :3] = frame_along(self.axes[0]) if self.axes else np.eye(3)
        return self.place @ turned


def joint_from_element(
    element: XmlElement, frames: SdfFrames, version: int, problems: Problems
) -> SdfJoint | None:
    """A joint; None if there is a problem with it."""
    name, kind = element.attributes.get("name", ""), element.attributes.get("type", "")
    where = f"joint {name!r}"
    if kind not in (*AXES, *OTHERS):
        problems.add(
            element,
            f"{where} is of type {kind!r}; armdyn reads {', '.join((*AXES, *OTHERS))}",
            UnsupportedJointError,
        )
        return None
    ends = [frames.link_of(word(element, tag), element) for tag in ("parent", "child")]
    place = frames.place(name, element)
    if ends[0] is None or ends[1] is None:
        return None
    if ends[0] == ends[1]:
        problems.add(element, f"{where} joins the link {ends[0]!r} with itself")
        return None
    axes, motions = [], []
    for tag in ("axis", "axis2")[: AXES.get(kind, 0)]:
        found = element.all(tag)
        if not found:
            problems.add(element, f"{where} of type {kind!r} has no <{tag}>")
            return None
        axes.append(_axis(found[0], place, frames, version, problems, where))
        motions.append(_motion(found[0], kind, problems, where))
    return SdfJoint(
        element=element,
        name=name,
        type=kind,
        parent=ends[0],
        child=ends[1],
        place=place,
        axes=tuple(axes),
        motions=tuple(motions),
        pitch=_pitch(element, problems, where) if kind == "screw" else 0.0,
    )


def _axis(
    axis: XmlElement,
    place: Array,
    frames: SdfFrames,
    version: int,
    problems: Problems,
    where: str,
) -> Array:
    """The unit vector of an axis in the frame of its joint."""
    for element in axis.all("xyz")[:1]:
        values = numbers(element, 3, problems, where)
        size = 0.0 if values is None else float(np.linalg.norm(values))
        if size < 1e-9:
            if values is not None:
                problems.add(element, f"{where}: the axis has no length")
            break
        in_model = version < 5 or word(axis, "use_parent_model_frame") in ("true", "1")
        name = element.attributes.get("expressed_in") or (MODEL if in_model else "")
        R = place if not name else frames.place(name, element)
        found: Array = place[:3, :3].T @ R[:3, :3] @ np.array(values) / size
        return found
    return np.array([0.0, 0.0, 1.0])


def _motion(axis: XmlElement, kind: str, problems: Problems, where: str) -> dict[str, Any]:
    limit, dynamics = (next(iter(axis.all(tag)), None) for tag in ("limit", "dynamics"))
    ends = [bound(limit, tag, problems, where) for tag in ("lower", "upper")]
    if kind == "continuous":
        ends = [-np.inf, np.inf]
    if ends[0] > ends[1]:
        problems.add(axis, f"{where}: its lower limit {ends[0]:g} is above the upper, {ends[1]:g}")
        ends = [-np.inf, np.inf]
    more = [bound(limit, tag, problems, where) for tag in ("velocity", "effort")]
    viscous, dry = (number(dynamics, tag, problems, where) for tag in ("damping", "friction"))
    stiff = number(dynamics, "spring_stiffness", problems, where)
    if stiff:
        problems.warn(axis, where, f"its spring of {stiff:g} is left out of the torques")
    for name, value in (("damping", viscous), ("friction", dry)):
        if value < 0:
            problems.add(axis, f"{where}: <{name}> cannot be negative, got {value:g}")
    return {
        "limits": Limits(*ends, *more),
        "friction": FrictionLaw(max(viscous, 0.0), max(dry, 0.0), max(dry, 0.0)),
        "mimic": _mimic(axis, problems, where),
    }


def _mimic(axis: XmlElement, problems: Problems, where: str) -> Mimic | None:
    """q = multiplier (q_leader - reference) + offset."""
    for element in axis.all("mimic")[:1]:
        ratio = number(element, "multiplier", problems, where, 1.0)
        reference = number(element, "reference", problems, where)
        offset = number(element, "offset", problems, where) - ratio * reference
        return Mimic(element.attributes.get("joint", ""), ratio, offset)
    return None


def _pitch(element: XmlElement, problems: Problems, where: str) -> float:
    """Metres for each radian; the file has metres for each turn."""
    if not element.all("screw_thread_pitch"):
        problems.add(
            element,
            f"{where} has no <screw_thread_pitch>, the distance for a turn; what <thread_pitch> "
            "means differs from program to program",
        )
    return number(element, "screw_thread_pitch", problems, where, 1.0) / (2 * np.pi)


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
