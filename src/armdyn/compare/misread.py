"""Ways to misread the joints of a URDF, as changes to the robot that is in it.

The numbers are those of the file: a RobotModel has fixed joints merged and axes of length one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import UrdfError
from armdyn.io.xml import XmlElement, read_xml
from armdyn.model import Body, Joint, Link, RobotModel
from armdyn.model.transform import IDENTITY, rotation_about, rotation_from_rpy, transform


@dataclass(frozen=True)
class Misread:
    """A URDF that armdyn has read without complaint."""

    file: Path

    def without_fixed_joints(self, model: RobotModel) -> RobotModel:
        """Each moving joint where it would be if no fixed joint came before it."""

        def moved(joint: Joint) -> Joint:
            given = self._joints.get(joint.name)
            return joint if given is None else replace(joint, placement=_origin(given))

        return replace(model, joints=tuple(map(moved, model.joints)))

    def with_fixed_links_in_a_row(self, model: RobotModel) -> RobotModel:
        """The fixed links of each moving one as if each stood on the one before, depth first."""
        places: dict[str, Array] = {}
        for joint in self._joints.values():
            if joint.attributes["type"] != "fixed":
                place = IDENTITY
                for carried in self._carried(_end(joint, "child")):
                    place = frozen(place @ _origin(carried))
                    places[_end(carried, "child")] = place

        def put(body: Body) -> Body:
            return replace(body, placement=places.get(body.name, body.placement))

        links = (Link(link.name, tuple(map(put, link.bodies))) for link in model.links)
        return replace(model, links=tuple(links))

    def with_oblique_axes_turned(self, model: RobotModel) -> RobotModel:
        """An axis of several components as z of a frame that is turned about it by its length."""

        def turned(joint: Joint) -> Joint:
            axis = _numbers(self._joints.get(joint.name), "axis", "xyz")
            if np.count_nonzero(axis) < 2:
                return joint
            length = float(np.linalg.norm(axis))
            turn = transform(rotation_about(axis / length, length))
            z = frozen([0.0, 0.0, 1.0])
            return replace(joint, placement=frozen(joint.placement @ turn), axis=z)

        return replace(model, joints=tuple(map(turned, model.joints)))

    def signs(self, model: RobotModel) -> Array:
        """For each joint -1 if its axis is a negative unit vector, else 1."""
        axes = (_numbers(self._joints.get(joint.name), "axis", "xyz") for joint in model.joints)
        return np.array([-1.0 if sorted(axis) == [-1, 0, 0] else 1.0 for axis in axes])

    def with_axes_reversed(self, model: RobotModel, signs: Array) -> RobotModel:
        """The joints with the axes of opposite sense where the sign is -1."""
        pairs = zip(model.joints, signs, strict=True)
        joints = (replace(joint, axis=frozen(sign * joint.axis)) for joint, sign in pairs)
        return replace(model, joints=tuple(joints))

    @cached_property
    def _root(self) -> XmlElement:
        return read_xml(self.file, UrdfError)

    @cached_property
    def _joints(self) -> dict[str, XmlElement]:
        return {joint.attributes["name"]: joint for joint in self._root.all("joint")}

    def _carried(self, link: str) -> Iterator[XmlElement]:
        """The fixed joints on a link and on what they carry, in the order of the links."""
        order = [element.attributes["name"] for element in self._root.all("link")]
        on = [joint for joint in self._joints.values() if _end(joint, "parent") == link]
        for joint in sorted(on, key=lambda joint: order.index(_end(joint, "child"))):
            if joint.attributes["type"] == "fixed":
                yield joint
                yield from self._carried(_end(joint, "child"))


def _end(joint: XmlElement, tag: str) -> str:
    return joint.all(tag)[0].attributes["link"]


def _origin(joint: XmlElement) -> Array:
    rpy, xyz = (_numbers(joint, "origin", key) for key in ("rpy", "xyz"))
    return frozen(transform(rotation_from_rpy(rpy), xyz))


def _numbers(joint: XmlElement | None, tag: str, key: str) -> Array:
    given = () if joint is None else joint.all(tag)
    default = "1 0 0" if tag == "axis" else "0 0 0"
    text = given[0].attributes.get(key, default) if given else default
    return np.array(text.split(), dtype=float)
