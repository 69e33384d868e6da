"""SDF files as one tree with those that they include, the values and the frames in it.

The tree says what it says as today's SDF does; values stand in the text of elements, and a frame is
somewhere on a link. Files are looked for as the meshes of URDF are, those of model://NAME in
folders of that name. What a <world> includes and is not there is left out with a warning: most
often it is a ground or a sun.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SdfError, check_known
from armdyn.io.urdf.geometry import places_of_file
from armdyn.io.xml import Place, Problems, XmlElement, read_xml
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
    """The one child of that name; None if there is none. Another one that differs is a problem."""
    return None if place is None else place.only(tag)


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
            full = scoped(scope, name)
            before = self.named.get(scoped(scope, name))
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


OLDEST, SCOPES = 3, ("sdf", "world", "model")
"""The first version of SDF that is read is 1.3; elements that may include others."""
MAX_INCLUDES = 500
"""Most files in one description, counted as often as they are included."""


@dataclass(slots=True)
class SdfDocuments:
    """Reads a file with what it includes."""

    problems: Problems
    trusted: bool
    """Whether other files may be read."""
    files_left: int = MAX_INCLUDES

    def read(self, path: Path, above: tuple[Path, ...] = ()) -> XmlElement:
        """The root of a file, which those above it include."""
        root = read_xml(path, SdfError)
        if root.tag != "sdf":
            raise root.refusal(SdfError, f"the root is <{root.tag}>; expected <sdf>")
        text = root.attributes.get("version", "")
        version = re.fullmatch(r"1\.(\d{1,3})", text, re.ASCII)
        if version is None or int(version[1]) < OLDEST:
            text = f"version {text!r} of SDF is not read; expected 1.{OLDEST} or later"
            raise root.refusal(SdfError, f"{text}, which `gz sdf -p` makes of older files")
        return self._whole(_as_today(root, int(version[1])), (*above, path.resolve()))

    def _whole(self, element: XmlElement, files: tuple[Path, ...]) -> XmlElement:
        """An element of the last of the files with the models that it includes."""
        children: list[XmlElement] = []
        for child in element.children:
            if child.tag == "include":
                children += self._included(child, files, needed=element.tag == "model")
            else:
                children.append(self._whole(child, files) if child.tag in SCOPES else child)
        return replace(element, children=tuple(children))

    def _included(
        self, include: XmlElement, files: tuple[Path, ...], needed: bool
    ) -> Iterator[XmlElement]:
        """The model that is included; none if there is a problem, or if it is a light."""
        uri, self.files_left = word(include, "uri"), self.files_left - 1
        file = _file(uri, files[-1].parent) if self.trusted and uri else None
        if file is None:
            places = "it is looked for beside and above this file and in GZ_SIM_RESOURCE_PATH"
            reason = places if self.trusted else "other files are not read here"
            text = f"there is no file {uri!r} to include: {reason}"
            if needed:
                self.problems.add(include, text)
            else:
                self.problems.warn(include, "<include>", f"{text}. It is left out")
            return
        if file in files or self.files_left < 0:
            fault = "includes itself" if file in files else f"has more than {MAX_INCLUDES} files"
            raise include.refusal(SdfError, f"it {fault}")
        root = self.read(file, files)
        models = root.all("model")
        if len(models) == 1:
            yield _overridden(models[0], include)
        elif models or not (root.all("light") or root.all("actor")):
            self.problems.add(include, f"{uri!r} has {len(models)} models; it can include one")


def _file(uri: str, folder: Path) -> Path | None:
    """The file that is included; of a folder what its model.config names, or model.sdf."""
    for _, place in places_of_file(uri, folder):
        config = place / "model.config"
        names = read_xml(config, SdfError).all("sdf") if config.is_file() else ()
        newest = max(names, key=lambda x: x.attributes.get("version", ""), default=None)
        main = "model.sdf" if newest is None else newest.text
        file = place / main if place.is_dir() else place
        if file.is_file():
            return file.resolve()
    return None


def _overridden(model: XmlElement, include: XmlElement) -> XmlElement:
    """A model with the name, pose and so on that its <include> gives it."""
    words = {key: word(include, key) for key in ("name", "placement_frame")}
    words["merge"] = include.attributes.get("merge", "")
    others = tuple(x for x in include.children if x.tag in ("pose", "static"))
    tags = [x.tag for x in others]
    kept = tuple(x for x in model.children if x.tag not in tags)
    attributes = {**model.attributes, **{key: text for key, text in words.items() if text}}
    return replace(model, attributes=attributes, children=(*kept, *others))


def _as_today(element: XmlElement, version: int) -> XmlElement:
    """An element of an older version as today's says the same.

    An axis was in the frame of the model before 1.5, and if it said so until 1.6; until then the
    `frame` of a pose was what it is relative to, and gravity stood in <physics> until 1.5.
    """
    children = tuple(_as_today(child, version) for child in element.children)
    attributes = dict(element.attributes)
    if version < 7 and element.tag == "pose" and "frame" in attributes:
        attributes["relative_to"] = attributes.pop("frame")
    if version < 7 and element.tag in ("axis", "axis2"):
        in_model = version < 5 or is_true(word(element, "use_parent_model_frame"))
        words = {"expressed_in": MODEL} if in_model else {}
        children = tuple(
            replace(x, attributes={**x.attributes, **words}) if x.tag == "xyz" else x
            for x in children
            if x.tag != "use_parent_model_frame"
        )
    if version < 6 and element.tag == "world":
        children += tuple(g for x in element.all("physics") for g in x.all("gravity"))
    return replace(element, attributes=attributes, children=children)
