"""What a description says its links look like: URDF, or the geoms that MuJoCo compiles of MJCF.

A mesh is read only for a file named on the command line, since one that came from the browser could
name any file of this machine, and only from the folders of that file: the one that it stands in and
the one above, with all that is in them, and packages.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynError, DescriptionError, UrdfError, shown
from armdyn.io.attributes import Problems
from armdyn.io.mesh import MESH_ENDINGS, read_mesh
from armdyn.io.urdf.geometry import find_mesh
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import XmlElement, read_xml
from armdyn.model.transform import rotation_from_quaternion, rotation_from_rpy, transform
from armdyn.studio.archive import find_in

FROM_BROWSER = "a file that comes from the browser alone brings no meshes; send a zip with them"
NOT_IN_ARCHIVE = "there is no such file in the archive that was sent"
NOT_FOUND = "not found in the folders of the description, nor in a package"


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


@dataclass(frozen=True, slots=True)
class NotDrawn:
    """A mesh that is not drawn."""

    name: str
    reason: str


def visuals(
    path: Path, meshes: bool, within: Path | None = None
) -> tuple[list[Visual], list[NotDrawn]]:
    """The pieces of all links of a URDF, and the meshes that are not drawn.

    Other files that it names are read only if `meshes` says so, or from the folder `within`.
    """
    described = path.suffix.lower() in (".urdf", ".xacro", ".xml")
    robot = read_robot(path, Problems(path, UrdfError), expand=meshes) if described else None
    if robot is None or robot.tag != "robot":
        return [], []
    colours = {
        material.attributes.get("name", ""): _colour(material) for material in robot.all("material")
    }
    found: list[Visual] = []
    missing: list[NotDrawn] = []
    for link in robot.all("link"):
        name = link.attributes.get("name", "")
        for element in link.all("visual"):
            colour = None
            for material in element.all("material")[:1]:
                colour = _colour(material) or colours.get(material.attributes.get("name", ""))
            for geometry in element.all("geometry"):
                folder = path.parent if meshes or within is not None else None
                shape = _shape(geometry, folder, missing, within)
                if shape is not None:
                    piece = _origin(element), shape.vertices, shape.faces
                    found.append(Visual(name, *piece, colour))
    return found, missing


def _shape(
    geometry: XmlElement, folder: Path | None, missing: list[NotDrawn], within: Path | None = None
) -> Any:
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
                    mesh = _mesh(given["filename"], folder, within)
                    if isinstance(mesh, NotDrawn):
                        missing.append(mesh)
                        return None
                    mesh.vertices = mesh.vertices * _numbers(given.get("scale", "1 1 1"), 3)
                    return mesh
        except (KeyError, ValueError):
            return None
    return None


def _mesh(given: str, folder: Path | None, within: Path | None) -> Any:
    """The mesh of a name in a description, or the reason why it is not drawn."""
    name = PurePosixPath(given).name
    if folder is None:
        return NotDrawn(name, FROM_BROWSER)
    if within is None:
        path = find_mesh(given, folder.resolve(), confined=True)
    else:
        path = find_in(given, folder, within)
    if path is None:
        ending = PurePosixPath(given).suffix.lower()
        if ending not in MESH_ENDINGS:
            return NotDrawn(name, f"no mesh that ends in {ending!r} is read")
        return NotDrawn(name, NOT_FOUND if within is None else NOT_IN_ARCHIVE)
    try:
        return read_mesh(path)
    except ArmdynError as error:
        return NotDrawn(name, str(error).removeprefix(f"{path}: "))


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


SEEN_GROUPS = 3
"""Geoms of the first groups are seen, as in MuJoCo's own viewer; others are for contacts."""


def is_mjcf(path: Path) -> bool:
    """Whether a file is MJCF."""
    by_tag = path.suffix.lower() in (".xml", ".mjcf")
    return by_tag and read_xml(path, DescriptionError).tag == "mujoco"


def mjcf_visuals(path: Path) -> list[Visual]:
    """The geoms of all bodies, but for planes and fields of heights."""
    from armdyn.io.mjcf.compile import compiled  # noqa: PLC0415 (needs MuJoCo)

    m, _ = compiled(path)
    bodies = [m.body(i).name or f"body{i}" for i in range(m.nbody)]
    drawn = [i for i in range(m.ngeom) if m.geom_group[i] < SEEN_GROUPS] or range(m.ngeom)
    found = []
    for i in drawn:
        shape, colour = _geom_shape(m, i), _geom_colour(m, i)
        if shape is not None and colour[3] > 0:
            place = transform(rotation_from_quaternion(m.geom_quat[i]), m.geom_pos[i])
            rgb = int(colour[0]), int(colour[1]), int(colour[2])
            found.append(Visual(bodies[m.geom_bodyid[i]], place, *shape, rgb))
    return found


def _geom_shape(m: Any, i: int) -> tuple[Array, Array] | None:
    """Corners and triangles of a geom in its own frame; None where none are drawn."""
    from mujoco import mjtGeom as Kind  # noqa: PLC0415 (an extra)
    from trimesh import creation  # noqa: PLC0415 (slow to import)

    size, kind = m.geom_size[i], Kind(int(m.geom_type[i]))
    if kind == Kind.mjGEOM_MESH:
        return _geom_mesh(m, int(m.geom_dataid[i]))
    if kind == Kind.mjGEOM_BOX:
        made = creation.box(2 * size)
    elif kind == Kind.mjGEOM_CYLINDER:
        made = creation.cylinder(size[0], 2 * size[1])
    elif kind == Kind.mjGEOM_CAPSULE:
        made = creation.capsule(2 * size[1], size[0])
        made.vertices -= made.bounds.mean(axis=0)
    elif kind in (Kind.mjGEOM_SPHERE, Kind.mjGEOM_ELLIPSOID):
        made = creation.icosphere(3, 1.0)
        made.vertices = made.vertices * (size[0] if kind == Kind.mjGEOM_SPHERE else size)
    else:
        return None
    return np.asarray(made.vertices), np.asarray(made.faces)


def _geom_mesh(m: Any, k: int) -> tuple[Array, Array]:
    corners = slice(m.mesh_vertadr[k], m.mesh_vertadr[k] + m.mesh_vertnum[k])
    triangles = slice(m.mesh_faceadr[k], m.mesh_faceadr[k] + m.mesh_facenum[k])
    return np.array(m.mesh_vert[corners], dtype=float), np.array(m.mesh_face[triangles])


def _geom_colour(m: Any, i: int) -> Array:
    """Red, green, blue and opacity, 0 to 255: those of the material, where there is one."""
    material = int(m.geom_matid[i])
    rgba = m.geom_rgba[i] if material < 0 else m.mat_rgba[material]
    return np.asarray(np.clip(255 * rgba, 0, 255))
