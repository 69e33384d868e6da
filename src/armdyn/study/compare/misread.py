"""Ways to misread the joints of a URDF, as changes to the robot that is in it.

The numbers are those of the file: a RobotModel has fixed joints merged and axes of length one.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import UrdfError
from armdyn.io.xml import XmlElement, read_xml
from armdyn.model import Body, Inertia, Joint, RobotModel
from armdyn.model.transform import IDENTITY, rotation_about, rotation_from_rpy, transform
from armdyn.study.compare.explain import Cause, each_body, each_joint


def misreadings(file: Path, model: RobotModel) -> Iterator[Cause]:
    """What a library may make of a URDF that armdyn has read without complaint."""
    if file.suffix.lower() != ".urdf":
        return
    root = read_xml(file, UrdfError)
    given = {joint.attributes["name"]: joint for joint in root.all("joint")}
    axes = {joint.name: _numbers(given.get(joint.name), "axis", "xyz") for joint in model.joints}
    signs = {name: -1.0 if sorted(axis) == [-1, 0, 0] else 1.0 for name, axis in axes.items()}
    places = _fixed_links_in_a_row(root)

    def without_fixed_joints(joint: Joint) -> Joint:
        """The joint where it would be if no fixed joint came before it."""
        known = joint.name in given
        return replace(joint, placement=_origin(given[joint.name])) if known else joint

    def turned(joint: Joint) -> Joint:
        """An axis of several components as z of a frame that is turned about it by its length."""
        axis, length = axes[joint.name], float(np.linalg.norm(axes[joint.name]))
        if np.count_nonzero(axis) < 2:
            return joint
        placement = joint.placement @ transform(rotation_about(axis / length, length))
        return replace(joint, placement=frozen(placement), axis=frozen([0.0, 0.0, 1.0]))

    yield from _spaces_in_numbers(root)
    for name, text, edit in (
        (
            "fixed joints",
            "forgets the fixed joints that come before a moving one",
            each_joint(without_fixed_joints),
        ),
        (
            "fixed links",
            "puts links that are fixed side by side one behind the other",
            each_body(lambda b: replace(b, placement=places.get(b.name, b.placement))),
        ),
        (
            "oblique axes",
            "misreads an axis with several components, as z of a frame turned about it",
            each_joint(turned),
        ),
    ):
        yield Cause(name, text, frozenset({name}), edit, rigid=True)
    yield Cause(
        "negative axes",
        "takes speed and torque of joints with a negative axis the wrong way round",
        frozenset({"signs"}),
        each_joint(lambda joint: replace(joint, axis=frozen(signs[joint.name] * joint.axis))),
        rigid=True,
        signs=np.array(list(signs.values())),
    )


def _fixed_links_in_a_row(root: XmlElement) -> dict[str, Array]:
    """Placements of fixed links as if each stood on the one before, depth first."""
    order = [link.attributes["name"] for link in root.all("link")]
    joints = sorted(root.all("joint"), key=lambda joint: order.index(_end(joint, "child")))
    places: dict[str, Array] = {}

    def put(link: str, place: Array) -> Array:
        """Put what is fixed to a link behind a place; returns the place of the last one."""
        for joint in joints:
            if _end(joint, "parent") == link and joint.attributes["type"] == "fixed":
                place = places[_end(joint, "child")] = frozen(place @ _origin(joint))
                place = put(_end(joint, "child"), place)
        return place

    for joint in joints:
        if joint.attributes["type"] != "fixed":
            put(_end(joint, "child"), IDENTITY)
    return places


def _spaces_in_numbers(root: XmlElement) -> Iterator[Cause]:
    """Inertias that urdfdom drops because of spaces, all of them or the tensor."""
    unread = _unread_inertias(root)

    def dropped(body: Body) -> Body:
        if unread.get(body.name) == "inertia":
            massive = Inertia.from_com(body.inertia.mass, body.inertia.com, np.zeros((3, 3)))
            return replace(body, inertia=massive)
        return replace(body, inertia=Inertia.zero()) if body.name in unread else body

    if unread:
        named = ", ".join(map(repr, list(unread)[:3])) + " and others" * (len(unread) > 3)
        text = f"drops the inertia of {named}: a number in it ends with a space, tab or line break"
        name = "spaces in numbers"
        yield Cause(name, text, frozenset({name}), each_body(dropped), rigid=True)


def _unread_inertias(root: XmlElement) -> dict[str, str]:
    """Links whose inertia urdfdom drops, and the element in it at which it stops.

    It parts the numbers of a vector at spaces, and takes none with a space, tab or line break
    behind it. Its order is origin, mass, inertia; what came before stays only with the last.
    """
    found: dict[str, str] = {}
    for link in root.all("link"):
        parts = {part.tag: part.attributes for i in link.all("inertial") for part in i.children}
        for tag in ("origin", "mass", "inertia"):
            values = parts.get(tag, {}).values()
            numbers = [n for v in values for n in (v.split(" ") if tag == "origin" else [v])]
            if not all(re.fullmatch(r"\s*\S+", number) for number in numbers if number):
                found.setdefault(link.attributes["name"], tag)
    return found


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
