"""Frames of an SDF model: where each is, and on which link."""

import numpy as np

from armdyn.arrays import Array
from armdyn.io.attributes import Problems
from armdyn.io.sdf.words import pose, word
from armdyn.io.xml import XmlElement

MODEL, WORLD = "__model__", "world"


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
        self.model_pose = pose(model, problems, "the model")
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
            own = pose(element, self._problems, f"{element.tag} {each!r}")
            place = self._places[each] = place @ own
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
