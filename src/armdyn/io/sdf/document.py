"""An SDF file and those that it includes as one tree, which says what it says as today's SDF does.

Files are looked for as the meshes of URDF are, those of model://NAME in folders of that name. What
a <world> includes and is not there is left out with a warning: most often it is a ground or a sun.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from armdyn.errors import SdfError
from armdyn.io.attributes import Problems
from armdyn.io.sdf.frames import MODEL, is_true, word
from armdyn.io.urdf.geometry import places_of_file
from armdyn.io.xml import XmlElement, read_xml

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
            raise SdfError(f"the root is <{root.tag}>; expected <sdf>", file=path, line=root.line)
        text = root.attributes.get("version", "")
        version = re.fullmatch(r"1\.(\d{1,3})", text, re.ASCII)
        if version is None or int(version[1]) < OLDEST:
            raise SdfError(
                f"version {text!r} of SDF is not read; expected 1.{OLDEST} or later, which "
                "`gz sdf -p` makes of older files",
                file=path,
                line=root.line,
            )
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
            raise SdfError(f"it {fault}", file=include.file, line=include.line)
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
