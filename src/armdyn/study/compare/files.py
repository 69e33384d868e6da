"""A robot as the files that other libraries read.

Everybody gets the file as it is, except that pictures, collision bodies and armdyn's own words are
left out of a URDF: they have no part in inverse dynamics, and meshes are seldom at hand. A robot
that is in another format is written as a URDF first.
"""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from armdyn.errors import TomlError, UrdfError
from armdyn.io.atomic import write_text
from armdyn.io.catalog import catalog_names, catalog_path
from armdyn.io.files import read_model, save_model
from armdyn.io.regular import read_regular
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import Problems, XmlElement, read_xml, text_from_element
from armdyn.loading import load
from armdyn.model import JointSpring, RobotModel
from armdyn.model.validate import Physical
from armdyn.robot import Robot

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
    other_convention: tuple[str, str, RobotModel] | None
    """For a DH table its convention, the other one, and the robot read in that one."""


@contextmanager
def sources(source: str | Path | Robot, physical: Physical = "error") -> Iterator[Sources]:
    """The files of a robot, which last as long as the block."""
    with TemporaryDirectory(prefix="armdyn-compare-") as temporary:
        folder = Path(temporary)
        formats = {}
        other = None
        urdf = folder / "given.urdf"
        if isinstance(source, Robot):
            robot, name = source, source.name
        else:
            robot, name = load(source, physical=physical), str(source)
            path = catalog_path(name) if name in catalog_names() else Path(source)
            kind = path.suffix.lower()
            if kind == ".toml":
                other = _other_convention(path, folder)
            elif kind in (".urdf", ".xacro") or read_xml(path, UrdfError).tag == "robot":
                urdf = path
            else:
                formats["mjcf"] = Material(path, robot.model, robot.model)
        if not urdf.exists():
            left = tuple(x for x in robot.model.springs if not isinstance(x, JointSpring))
            save_model(replace(robot.model, springs=left), urdf)
        formats["urdf"] = _stripped(urdf, folder / "robot.urdf", robot.model)
        yield Sources(name, robot, formats, other)


def _stripped(file: Path, to: Path, given: RobotModel) -> Material:
    """The file without what libraries do not need, of a robot whose springs it cannot hold."""

    def kept(element: XmlElement) -> XmlElement:
        unread = UNREAD.get(element.tag, ())
        children = tuple(kept(child) for child in element.children if child.tag not in unread)
        return XmlElement(element.tag, element.attributes, children, element.line)

    root = read_robot(file, Problems(file, UrdfError), line_breaks=True)
    write_text(to, text_from_element(kept(root)))
    model, plain = (read_model(path, physical="ignore")[0] for path in (file, to))
    return Material(to, replace(model, springs=given.springs), plain)


def _other_convention(path: Path, folder: Path) -> tuple[str, str, RobotModel] | None:
    text = read_regular(path, partial(TomlError, file=path)).decode()
    convention = tomllib.loads(text).get("convention")
    if not convention:
        return None
    other = "modified" if convention == "standard" else "standard"
    copy = folder / "other.toml"
    write_text(copy, _CONVENTION.sub(rf'\1"{other}"', text, count=1))
    return convention, other, read_model(copy, physical="ignore")[0]
