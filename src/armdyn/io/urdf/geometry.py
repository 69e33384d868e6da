"""The shapes of the links of a URDF file, and where the files of their meshes are.

The package of package://NAME is a folder NAME beside or above the file that contains the file or
has a package.xml, or one of that name in ROS_PACKAGE_PATH or AMENT_PREFIX_PATH.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from armdyn.arrays import Array
from armdyn.io.attributes import Problems
from armdyn.io.mesh import MESH_ENDINGS
from armdyn.io.xml import XmlElement
from armdyn.model.shapes import SHAPES

URDF_SHAPES = ("box", "cylinder", "sphere", "capsule")
PACKAGE_FOLDERS = 6
"""Number of folders above the file that may hold a package."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One <collision> or <visual> of a link."""

    element: XmlElement
    placement: Array
    """In the frame of the link, shape (4, 4)."""
    shape: XmlElement
    """Such as <box>."""
    lengths: dict[str, Any]
    """Its attributes as numbers."""
    mesh: Path | None = None
    """The file of a mesh."""


def link_pieces(
    link: XmlElement, folder: Path, problems: Problems, tags: tuple[str, ...]
) -> Iterator[Piece]:
    """The pieces of a link in a file of that folder, by the first of the tags that it has."""
    where = f"link {link.attributes.get('name')!r}"
    for element in next(filter(None, map(link.all, tags)), ()):
        placement = problems.origin(problems.only(element, "origin", where), where)
        geometry = problems.needed(element, "geometry", where)
        for shape in () if geometry is None else geometry.children[:1]:
            before = len(problems.found)
            piece = _piece(element, shape, placement, where, folder, problems)
            if len(problems.found) == before and piece is not None:
                yield piece


def _piece(
    element: XmlElement,
    shape: XmlElement,
    placement: Array,
    where: str,
    folder: Path,
    problems: Problems,
) -> Piece | None:
    if shape.tag in URDF_SHAPES:
        lengths = {
            key: problems.vector(shape, key, where)
            if key == "size"
            else problems.number(shape, key, where)
            for key in signature(SHAPES[shape.tag]).parameters
        }
        return Piece(element, placement, shape, lengths)
    if shape.tag != "mesh":
        names = ", ".join(f"<{tag}>" for tag in (*URDF_SHAPES, "mesh"))
        problems.add(shape, f"{where}: the geometry <{shape.tag}> is not known; expected {names}")
        return None
    name = problems.text(shape, "filename", where)
    file = None if name is None else find_mesh(name, folder)
    if name is not None and file is None:
        problems.add(shape, f"{where}: there is no mesh {name!r}: {_looked_for(name)}")
    scale = problems.vector(shape, "scale", where, (1.0, 1.0, 1.0))
    return Piece(element, placement, shape, {"scale": scale}, file)


def _looked_for(name: str) -> str:
    if Path(name).suffix.lower() not in MESH_ENDINGS:
        return f"the ending must be one of {', '.join(MESH_ENDINGS)}"
    if not name.startswith("package://"):
        return "it is looked for from the folder of this file"
    return (
        "the package is looked for in the folders beside and above this file and in "
        "ROS_PACKAGE_PATH and AMENT_PREFIX_PATH"
    )


def find_mesh(name: str, folder: Path, confined: bool = False) -> Path | None:
    """The file of a mesh that a description in a folder names; None if there is none.

    A confined one lies, links followed, in the folder of the description, the one above or a
    package.
    """
    for root, path in _places(name, folder) if "\0" not in name else ():
        file = Path(os.path.realpath(path))
        if (
            file.suffix.lower() in MESH_ENDINGS
            and (not confined or file.is_relative_to(root))
            and os.path.exists(file)
        ):
            return file
    return None


def _places(name: str, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Where a mesh may be: the folder that a confined one must lie in, and its path."""
    if not name.startswith("package://"):
        yield folder.parent, folder / name.removeprefix("file://")
        return
    package, _, rest = name[len("package://") :].partition("/")
    if package in ("", ".", ".."):
        return
    for above in (folder, *folder.parents[:PACKAGE_FOLDERS]):
        root = Path(os.path.realpath(above / package))
        if folder.is_relative_to(root) or os.path.isfile(root / "package.xml"):
            yield root, root / rest
    for variable, inside in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")):
        for place in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            root = Path(os.path.realpath(Path(place, inside, package)))
            yield root, root / rest
