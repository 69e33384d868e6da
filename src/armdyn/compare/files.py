"""A robot as the files that other libraries read.

Everybody gets the file as it is, except that pictures, collision bodies and armdyn's own words are
left out of a URDF: they have no part in inverse dynamics, and meshes are seldom at hand. A robot
that is in another format is written as a URDF first.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from armdyn.dynamics import Robot
from armdyn.errors import UrdfError
from armdyn.io.atomic import write_text
from armdyn.io.catalog import catalog_names, catalog_path
from armdyn.io.files import read_model, save_model
from armdyn.io.xml import XmlElement, read_xml, text_from_element
from armdyn.loading import load
from armdyn.model import RobotModel
from armdyn.model.validate import Physical

UNREAD = {
    "robot": ("armdyn", "gazebo", "material", "transmission"),
    "link": ("armdyn", "collision", "visual"),
    "joint": ("armdyn",),
}
"""What is left out of each element of a URDF."""
_CONVENTION = re.compile(r"""^(\s*convention\s*=\s*)["'](standard|modified)["']""", re.MULTILINE)


@dataclass(frozen=True)
class Material:
    """A file for other libraries, and what armdyn reads in it."""

    file: Path
    model: RobotModel
    plain: RobotModel
    """The same without armdyn's own words."""


@dataclass(frozen=True)
class Sources:
    """A robot in every format it can be had in."""

    name: str
    """The file, or the name of the robot."""
    robot: Robot
    formats: dict[str, Material]
    """By "urdf" and, if that is what it comes from, "mjcf"."""
    otherwise: RobotModel | None
    """The DH table read in the other convention; None for what is no DH table."""
    convention: str
    """The convention of the table, or nothing."""

    def material(self, formats: Sequence[str]) -> Material:
        """The first of these formats that there is."""
        return next(self.formats[kind] for kind in formats if kind in self.formats)


@contextmanager
def sources(source: str | Path | Robot, physical: Physical = "error") -> Iterator[Sources]:
    """The files of a robot, which last as long as the block."""
    robot = source if isinstance(source, Robot) else load(source, physical=physical)
    name = robot.name if isinstance(source, Robot) else str(source)
    path = None if isinstance(source, Robot) else _path(source)
    with TemporaryDirectory(prefix="armdyn-compare-") as folder:
        formats, otherwise, convention = {}, None, ""
        if path is not None and path.suffix.lower() == ".toml":
            otherwise, convention = _other_convention(path, Path(folder))
        urdf = Path(folder) / "given.urdf"
        if path is not None and _is_urdf(path):
            urdf = path
        else:
            save_model(robot.model, urdf)
        if path is not None and path.suffix.lower() != ".toml" and urdf != path:
            formats["mjcf"] = Material(path, robot.model, robot.model)
        formats["urdf"] = _stripped(urdf, Path(folder) / "robot.urdf")
        yield Sources(name, robot, formats, otherwise, convention)


def _path(source: str | Path) -> Path:
    return catalog_path(str(source)) if str(source) in catalog_names() else Path(source)


def _is_urdf(path: Path) -> bool:
    kind = path.suffix.lower()
    return kind == ".urdf" or (kind != ".toml" and read_xml(path, UrdfError).tag == "robot")


def _stripped(file: Path, to: Path) -> Material:
    robot = read_xml(file, UrdfError)
    write_text(to, text_from_element(_without(robot)))
    model, plain = (read_model(path, physical="ignore")[0] for path in (file, to))
    return Material(to, model, plain)


def _without(element: XmlElement) -> XmlElement:
    kept = tuple(c for c in element.children if c.tag not in UNREAD.get(element.tag, ()))
    return XmlElement(element.tag, element.attributes, tuple(map(_without, kept)), element.line)


def _other_convention(path: Path, folder: Path) -> tuple[RobotModel | None, str]:
    """A DH table read in the convention it is not in, and the one it is in."""
    text = path.read_text(encoding="utf-8")
    convention = tomllib.loads(text).get("convention", "")
    if not convention:
        return None, ""
    other = "modified" if convention == "standard" else "standard"
    copy = folder / "other.toml"
    write_text(copy, _CONVENTION.sub(rf'\1"{other}"', text, count=1))
    return read_model(copy, physical="ignore")[0], convention
