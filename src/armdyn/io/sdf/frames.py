"""Values of SDF elements, which stand in their text, and frames: where each is, on which link."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import check_known
from armdyn.io.attributes import Place, Problems
from armdyn.io.xml import XmlElement
from armdyn.model.transform import rotation_from_quaternion, rotation_from_rpy, transform

UNBOUNDED = 1e15
"""Limits beyond this are none; SDF writes 1e16."""
MODEL, WORLD = "__model__", "world"


def word(parent: XmlElement, tag: str) -> str:
    """The text of the child of that name; empty if there is none."""
    return next((child.text for child in parent.all(tag)), "")


def is_true(text: str) -> bool:
    """Whether a text is that of a true value."""
    return text in ("true", "True", "TRUE", "1")


def numbers(place: Place, count: int) -> list[float] | None:
    """The numbers in the text of an element; a problem if they are not so many finite ones."""
    return place.parsed(f"<{place.element.tag}>", place.element.text, count)


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
    turn = math.pi / 180 if is_true(place.attributes.get("degrees", "")) else 1.0
    return rotation_from_rpy([turn * v for v in values])


@dataclass(frozen=True, slots=True)
class Named:
    """A link, joint, frame or model, and how the names in it are meant."""

    element: XmlElement
    scope: str
    """What its file leaves out before the names that it uses; empty in the world."""
    model: str
    """The frame that it is in if it says nothing else."""
    static: bool
    """Whether it is in a model that does not move, or is one."""

    def absolute(self, name: str) -> str:
        """What it calls by that name."""
        if name in (WORLD, MODEL):
            return WORLD if name == WORLD else self.model
        return scoped(self.scope, name).removesuffix(f"::{MODEL}")

    def said(self, tag: str, key: str = "") -> str:
        """The absolute name in a child, or in an attribute of it; empty if there is none."""
        children = self.element.all(tag)[:1]
        name = next((c.attributes.get(key, "") if key else c.text for c in children), "")
        return self.absolute(name) if name else ""

    @property
    def host(self) -> str:
        """What it is on: of a joint its child, of a frame what it is attached to, or its model."""
        child = self.said("child") if self.element.tag == "joint" else ""
        other = self.element.attributes.get("attached_to")
        return child or (self.absolute(other) if other else self.model)


def scoped(scope: str, name: str) -> str:
    """The name of something in a model."""
    return f"{scope}::{name}" if scope else name


class SdfFrames:
    """Everything that has a name in a file, by its name behind those of the models it is in."""

    def __init__(self, root: XmlElement, problems: Problems):
        self._problems = problems
        self.named: dict[str, Named] = {}
        self.robot = ""
        """The model that is the robot; static ones belong to the world, unless it is one."""
        self._places: dict[str, Array] = {WORLD: np.eye(4)}
        for parent in (root, *root.all("world")):
            self._enter(parent, "", WORLD, static=False)
        problems.raise_if_any()

    def _enter(self, parent: XmlElement, scope: str, model: str, static: bool) -> None:
        for element in (x for x in parent.children if x.tag in ("link", "joint", "frame", "model")):
            name = element.attributes.get("name", "")
            full, before = scoped(scope, name), self.named.get(scoped(scope, name))
            if not name:
                self._problems.add(element, f"a <{element.tag}> has no name")
            elif name in (MODEL, WORLD):
                self._problems.add(element, f"{name!r} is a name that SDF keeps for itself")
            elif before is not None:
                text = f"{full!r} is the name of a <{before.element.tag}> on line"
                self._problems.add(element, f"{text} {before.element.line} already")
            else:
                still = static or (element.tag == "model" and is_true(word(element, "static")))
                self.named[full] = Named(element, scope, model, still)
                if element.tag == "model":
                    self._enter(element, self._inside(full), full, still)

    def choose_robot(self, wish: str | None) -> None:
        """Take a model for the robot: the one that is wished, or that is not static."""
        models = {name: x for name, x in self.named.items() if x.element.tag == "model"}
        if wish is not None:
            check_known(f"model in {self._problems.file} named", wish, models)
            self.robot = wish
            return
        tops = [name for name, x in models.items() if not x.scope]
        moving = [name for name in tops if not models[name].static] or tops
        if len(moving) != 1:
            names = ", ".join(map(repr, moving)) or "none"
            advice = "; name one of them: model=... (--model)" if moving else ""
            text = f"a robot is one <model>, found {len(moving)}: {names}{advice}"
            raise self._problems.error(text, file=self._problems.file)
        self.robot = moving[0]
        for name in (name for name in tops if name not in moving):
            text = "it is static: it counts as a part of the world"
            self._problems.warn(models[name].element, f"model {name!r}", text, "note")

    def _inside(self, model: str) -> str:
        """The scope of the names in a model; one that is merged has that which it is in."""
        named = self.named[model]
        return named.scope if is_true(named.element.attributes.get("merge", "")) else model

    def place(self, name: str, user: XmlElement, places: dict[str, Array] | None = None) -> Array:
        """A frame in the world, (4, 4), or in the one of `places`; a problem if there is none."""
        places = self._places if places is None else places
        chain: dict[str, Named] = {}
        while name not in places:
            named = self.named.get(name)
            if named is None or name in chain:
                fault = "refers to itself" if named else f"is not among {self._names}"
                self._problems.add(user, f"the frame {self.short(name)!r} {fault}")
                return np.eye(4)
            chain[name] = named
            name = named.said("pose", "relative_to") or named.host
        place = places[name]
        for name, named in reversed(chain.items()):
            place = places[name] = place @ self._pose(name, named)
        return place

    def _pose(self, name: str, named: Named) -> Array:
        """The pose in an element; of a model that of its frame."""
        element = named.element
        T = pose(Place(element, f"{element.tag} {name!r}", self._problems))
        if frame := element.attributes.get("placement_frame"):
            inside = scoped(self._inside(name), frame)
            T = T @ np.linalg.inv(self.place(inside, element, {name: np.eye(4)}))
        return T

    def link_of(self, name: str, user: XmlElement) -> str | None:
        """The link that a frame is on; a problem of its user if there is none."""
        seen: list[str] = []
        while name not in seen:
            seen.append(name)
            if name == WORLD:
                return name
            if (named := self.named.get(name)) is None:
                break
            if named.static and not self.named[self.robot].static:
                return WORLD
            if named.element.tag == "link":
                return name
            name = self._canonical(name) if named.element.tag == "model" else named.host
        fault = "is on itself" if name in self.named else f"is not among {self._names}"
        self._problems.add(user, f"the link or frame {self.short(name)!r} {fault}")
        return None

    def _canonical(self, model: str) -> str:
        """The link that a model is on, or else the model in it that is on one."""
        element, scope = self.named[model].element, self._inside(model)
        inner = (
            x.attributes.get("name", "") for x in (*element.all("link"), *element.all("model"))
        )
        return scoped(scope, element.attributes.get("canonical_link") or next(inner, ""))

    def is_inside(self, name: str) -> bool:
        """Whether something is a part of the robot."""
        still = name in self.named and self.named[name].static and not self.named[self.robot].static
        return name.startswith(f"{self.robot}::") and not still

    def short(self, name: str) -> str:
        """What something is called in the robot."""
        return name.removeprefix(f"{self.robot}::")

    @property
    def _names(self) -> str:
        return ", ".join(repr(self.short(name)) for name in list(self.named)[:12]) or "none"
