"""What a URDF file says its links look like.

A mesh is read only for a file named on the command line, since one that came from the browser could
name any file of this machine, and only from the folders of that file: the one that it stands in and
the one above, with all that is in them, and packages. The package of package://NAME is a folder
NAME beside or above the file that contains the file or has a package.xml.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import DescriptionError, UrdfError, shown
from armdyn.io.attributes import Problems
from armdyn.io.regular import read_regular
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import XmlElement
from armdyn.model.transform import rotation_from_rpy, transform


@dataclass(frozen=True, slots=True, eq=False)
class Visual:
    """A piece of a link."""

    link: str
    """The link of the file, whose frame it is in."""
    placement: Array
    vertices: Array
    """Shape (v, 3) [m]."""
    faces: Array
    """Shape (f, 3)."""
    colour: tuple[int, int, int] | None


MESHES = (".stl", ".obj", ".ply", ".off", ".glb", ".dae")
MAX_MESH_BYTES = 50 * 2**20
"""Size of the largest mesh that is read [bytes]."""
PACKAGE_FOLDERS = 6
"""Number of folders above the file that may hold a package."""


def visuals(path: Path, meshes: bool) -> tuple[list[Visual], list[str]]:
    """The pieces of all links of a URDF, and the names of meshes that are not shown.

    Other files that it names are read only if `meshes` says so.
    """
    described = path.suffix.lower() in (".urdf", ".xacro", ".xml")
    robot = read_robot(path, Problems(path, UrdfError), expand=meshes) if described else None
    if robot is None or robot.tag != "robot":
        return [], []
    colours = {
        material.attributes.get("name", ""): _colour(material) for material in robot.all("material")
    }
    found: list[Visual] = []
    missing: list[str] = []
    for link in robot.all("link"):
        name = link.attributes.get("name", "")
        for element in link.all("visual"):
            colour = None
            for material in element.all("material")[:1]:
                colour = _colour(material) or colours.get(material.attributes.get("name", ""))
            for geometry in element.all("geometry"):
                shape = _shape(geometry, path.parent if meshes else None, missing)
                if shape is not None:
                    piece = _origin(element), shape.vertices, shape.faces
                    found.append(Visual(name, *piece, colour))
    return found, missing


def _shape(geometry: XmlElement, folder: Path | None, missing: list[str]) -> Any:
    """A mesh of the geometry, or None."""
    from trimesh import creation  # noqa: PLC0415 (slow to import)

    for part in geometry.children:
        given = part.attributes
        try:
            match part.tag:
                case "box":
                    return creation.box(_numbers(given["size"], 3))
                case "sphere":
                    return creation.icosphere(3, float(given["radius"]))
                case "cylinder":
                    return creation.cylinder(float(given["radius"]), float(given["length"]))
                case "mesh":
                    mesh = _mesh(given["filename"], folder)
                    if mesh is None:
                        missing.append(PurePosixPath(given["filename"]).name)
                        return None
                    mesh.vertices = mesh.vertices * _numbers(given.get("scale", "1 1 1"), 3)
                    return mesh
        except (KeyError, ValueError):
            return None
    return None


def _mesh(name: str, folder: Path | None) -> Any:
    import trimesh  # noqa: PLC0415 (slow to import)

    try:
        path = None if folder is None else _found(name, folder.resolve())
        if path is None:
            return None
        # from memory: a mesh cannot name other files to be read
        data = BytesIO(read_regular(path, partial(DescriptionError, file=path), MAX_MESH_BYTES))
        mesh = trimesh.load(data, path.suffix[1:].lower(), force="mesh", skip_materials=True)
    except Exception:  # whatever a reader of a broken file, or one without its package, raises
        return None
    return mesh if len(getattr(mesh, "faces", ())) else None


def _found(name: str, folder: Path) -> Path | None:
    """The file of a mesh, if it lies in a folder of the description, links followed."""
    for root, path in _places(name, folder):
        file = Path(os.path.realpath(path))
        if file.suffix.lower() in MESHES and file.is_relative_to(root) and os.path.exists(file):
            return file
    return None


def _places(name: str, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Where a mesh may be: the folder that it must lie in, and its path."""
    if not name.startswith("package://"):
        yield folder.parent, folder / name.removeprefix("file://")
        return
    package, _, rest = name[len("package://") :].partition("/")
    for above in (folder, *folder.parents[:PACKAGE_FOLDERS]):
        root = Path(os.path.realpath(above / package))
        own = folder.is_relative_to(root) and package not in ("", ".", "..")
        if own or os.path.isfile(root / "package.xml"):
            yield root, root / rest


def _origin(element: XmlElement) -> Array:
    for origin in element.all("origin"):
        try:
            rpy, xyz = (_numbers(origin.attributes.get(k, "0 0 0"), 3) for k in ("rpy", "xyz"))
            return transform(rotation_from_rpy(rpy), xyz)
        except ValueError:
            break
    return np.eye(4)


def _colour(material: XmlElement) -> tuple[int, int, int] | None:
    for colour in material.all("color"):
        try:
            r, g, b = np.clip(_numbers(colour.attributes.get("rgba", ""), 4)[:3] * 255, 0, 255)
        except ValueError:
            return None
        return int(r), int(g), int(b)
    return None


def _numbers(text: str, count: int) -> Array:
    values = np.array([float(word) for word in text.split()])
    if len(values) != count or not np.isfinite(values).all():
        raise ValueError(f"expected {count} numbers, got {shown(text)}")
    return values
