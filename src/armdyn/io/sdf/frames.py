"""Values of SDF elements, which stand in their text, and frames: where each is, on which link."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.io.attributes import Place, Problems
from armdyn.io.xml import XmlElement
from armdyn.model.transform import rotation_from_quaternion, rotation_from_rpy, transform

UNBOUNDED = 1e15
"""Limits beyond this are none; SDF writes 1e16."""
MODEL, WORLD = "__model__", "world"


def word(parent: XmlElement, tag: str) -> str:
    """The text of the child of that name; empty if there is none."""
    return next((child.text for child in parent.all(tag)), "")


def numbers(place: Place, count: int) -> list[float] | None:
    """The numbers in the text of an element; a problem if they are not so many finite ones."""
    text, tag = place.element.text, place.element.tag
    try:
        values = [float(part) for part in text.split()]
    except ValueError:
        values = []
    if len(values) != count or not all(map(math.isfinite, values)):
        place.add(f"{place.where}: <{tag}> takes {count} finite numbers, got {text!r}")
        return None
    return values


def first(place: Place | None, tag: str) -> Place | None:
    """The first child of that name; None if there is none."""
    found = () if place is None else place.element.all(tag)
    return replace(place, element=found[0]) if place and found else None


def number(place: Place | None, tag: str, default: float = 0.0) -> float:
    """The number in the child of that name."""
    child = first(place, tag)
    values = None if child is None else numbers(child, 1)
    return default if values is None else values[0]


def bound(place: Place | None, tag: str) -> float:
    """A limit; infinite where there is none, or a number that stands for none."""
    child, none = first(place, tag), -math.inf if tag == "lower" else math.inf
    text = "" if child is None else child.element.text
    if not text or text.lstrip("+-").lower() in ("inf", "infinity"):
        return none
    value = number(place, tag)
    return (
        none if abs(value) >= UNBOUNDED or (tag in ("effort", "velocity") and value < 0) else value
    )


def pose(parent: Place) -> Array:
    """The transform in <pose>, (4, 4); the identity if there is none."""
    place = first(parent, "pose")
    if place is None or not place.element.text:
        return np.eye(4)
    quaternion = place.attributes.get("rotation_format", "euler_rpy") == "quat_xyzw"
    values = numbers(place, 7 if quaternion else 6)
    return np.eye(4) if values is None else transform(_rotation(values[3:], place), values[:3])


def _rotation(values: Sequence[float], place: Place) -> Array:
    if len(values) == 4:
        size = math.hypot(*values)
        if size < 1e-6:
            place.add(f"{place.where}: the quaternion in <pose> is zero")
            return np.eye(3)
        x, y, z, w = (v / size for v in values)
        return rotation_from_quaternion(np.array([w, x, y, z]))
    turn = math.pi / 180 if place.attributes.get("degrees") in ("true", "1") else 1.0
    return rotation_from_rpy([turn * v for v in values])


class SdfFrames:
    """Links, joints and frames of a model by name."""

    def __init__(self, model: XmlElement, problems: Problems):
        self._problems = problems
        self._model = model
        self.elements: dict[str, XmlElement] = {}
        for tag in ("link", "joint", "frame"):
            for element in model.all(tag):
                self._enter(element)
        self._places: dict[str, Array] = {MODEL: np.eye(4)}
        self.model_pose = pose(Place(model, "the model", problems))
        self._places[WORLD] = np.linalg.inv(self.model_pose)

    def _enter(self, element: XmlElement) -> None:
        name = element.attributes.get("name", "")
        if not name:
            self._problems.add(element, f"a <{element.tag}> has no name")
        elif name in (MODEL, WORLD):
            self._problems.add(element, f"{name!r} is a name that SDF keeps for itself")
        elif name in self.elements:
            first = self.elements[name]
            self._problems.add(
                element, f"{name!r} is the name of a <{first.tag}> on line {first.line} already"
            )
        else:
            self.elements[name] = element

    def place(self, name: str, user: XmlElement) -> Array:
        """A frame in that of the model, (4, 4); a problem of its user if there is none."""
        chain: list[str] = []
        while name not in self._places:
            element = self.elements.get(name)
            if element is None or name in chain:
                fault = "refers to itself" if element else f"is not among {self._names}"
                self._problems.add(user, f"the frame {name!r} {fault}")
                return np.eye(4)
            chain.append(name)
            name = self._base_of(element)
        place = self._places[name]
        for each in reversed(chain):
            element = self.elements[each]
            own = Place(element, f"{element.tag} {each!r}", self._problems)
            place = self._places[each] = place @ pose(own)
        return place

    def _base_of(self, element: XmlElement) -> str:
        """What the pose of a link, joint or frame is given in."""
        given = [p.attributes.get("relative_to", "") for p in element.all("pose")]
        if given and given[0]:
            return given[0]
        if element.tag == "joint":
            return word(element, "child") or MODEL
        return element.attributes.get("attached_to") or MODEL

    def link_of(self, name: str, user: XmlElement) -> str | None:
        """The link that a frame is on; a problem of its user if there is none."""
        seen: list[str] = []
        while name not in seen:
            seen.append(name)
            if name == WORLD:
                return name
            if name == MODEL:
                links = self._model.all("link")
                name = self._model.attributes.get("canonical_link") or (
                    links[0].attributes.get("name", "") if links else ""
                )
                continue
            element = self.elements.get(name)
            if element is None:
                break
            if element.tag == "link":
                return name
            ahead = word(element, "child") if element.tag == "joint" else None
            name = ahead or element.attributes.get("attached_to") or MODEL
        fault = "is on itself" if name in self.elements else f"is not among {self._names}"
        self._problems.add(user, f"the link or frame {name!r} {fault}")
        return None

    @property
    def _names(self) -> str:
        return ", ".join(map(repr, list(self.elements)[:12])) or "none"
