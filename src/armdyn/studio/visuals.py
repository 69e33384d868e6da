"""What a URDF file says its links look like.

A mesh is read only for a file named on the command line, since one that came from the browser could
name any file of this machine, and only from the folders of that file: the one that it stands in and
the one above, with all that is in them, and packages.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynError, UrdfError, shown
from armdyn.io.attributes import Problems
from armdyn.io.mesh import read_mesh
from armdyn.io.urdf.geometry import find_mesh
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
    path = None if folder is None else find_mesh(name, folder.resolve(), confined=True)
    try:
        return None if path is None else read_mesh(path)
    except ArmdynError:
        return None


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
