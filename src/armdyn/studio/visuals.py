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
from armdyn.errors import ArmdynError, DescriptionError, UrdfError
from armdyn.io.mesh import MESH_ENDINGS, read_mesh
from armdyn.io.urdf.geometry import find_mesh, shape_lengths
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import Place, Problems, XmlElement, read_xml
from armdyn.model.transform import rotation_from_quaternion, transform
from armdyn.studio.uploads import find_in

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
    pieces: list[Visual] = []
    missing: list[NotDrawn] = []
    folder = path.parent if meshes or within is not None else None
    for link in robot.all("link"):
        for element in link.all("visual"):
            colour = None
            for material in element.all("material")[:1]:
                colour = _colour(material) or colours.get(material.attributes.get("name", ""))
            for geometry in element.all("geometry"):
                shape = _shape(geometry, folder, missing, within)
                if shape is not None:
                    place = Place(element, "", Problems(path, UrdfError)).origin()
                    name = link.attributes.get("name", "")
                    pieces.append(Visual(name, place, shape.vertices, shape.faces, colour))
    return pieces, missing


def _shape(
    geometry: XmlElement, folder: Path | None, missing: list[NotDrawn], within: Path | None = None
) -> Any:
    """A mesh of the geometry, or None."""
    problems = Problems(Path(), UrdfError)
    for part in geometry.children[:1]:
        lengths = shape_lengths(Place(part, "", problems))
        name = part.attributes.get("filename")
        if problems.found or (part.tag == "mesh" and name is None):
            return None
        if name is None:
            return _solid(part.tag, **lengths)
        mesh = _mesh(name, folder, within)
        if not isinstance(mesh, NotDrawn):
            mesh.vertices = mesh.vertices * lengths["scale"]
            return mesh
        missing.append(mesh)
    return None


def _solid(kind: str, size: Array | None = None, radius: float = 1.0, length: float = 0.0) -> Any:
    """A mesh of a box, a ball, a cylinder or a capsule about its centre."""
    from trimesh import creation  # noqa: PLC0415 (slow to import)

    if kind == "box":
        return creation.box(size)
    if kind == "sphere":
        return creation.icosphere(3, radius)
    if kind == "cylinder":
        return creation.cylinder(radius, length)
    solid = creation.capsule(length, radius)
    solid.vertices -= solid.bounds.mean(axis=0)
    return solid


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


def _colour(material: XmlElement) -> tuple[int, int, int] | None:
    for colour in material.all("color")[:1]:
        place = Place(colour, "", Problems(Path(), UrdfError))
        rgba = place.parsed("rgba", colour.attributes.get("rgba", ""), 4)
        return None if rgba is None else _rgb(np.array(rgba))
    return None


def _rgb(rgba: Array) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a colour with its opacity, 0 to 1."""
    r, g, b = np.clip(255 * rgba[:3], 0, 255).astype(int).tolist()
    return r, g, b


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
    pieces = []
    for i in drawn:
        shape, colour = _geom_shape(m, i), _geom_colour(m, i)
        if shape is not None and colour[3] > 0:
            place = transform(rotation_from_quaternion(m.geom_quat[i]), m.geom_pos[i])
            pieces.append(Visual(bodies[m.geom_bodyid[i]], place, *shape, _rgb(colour)))
    return pieces


def _geom_shape(m: Any, i: int) -> tuple[Array, Array] | None:
    """Corners and triangles of a geom in its own frame; None where none are drawn."""
    from mujoco import mjtGeom as Kind  # noqa: PLC0415 (an extra)

    size = m.geom_size[i]
    kind = Kind(int(m.geom_type[i]))
    if kind == Kind.mjGEOM_MESH:
        return _geom_mesh(m, int(m.geom_dataid[i]))
    word = kind.name.removeprefix("mjGEOM_").lower()
    if word in ("cylinder", "capsule"):
        solid = _solid(word, radius=size[0], length=2 * size[1])
    elif word in ("box", "sphere"):
        solid = _solid(word, 2 * size, size[0])
    elif word == "ellipsoid":
        solid = _solid("sphere")
        solid.vertices = solid.vertices * size
    else:
        return None
    return np.asarray(solid.vertices), np.asarray(solid.faces)


def _geom_mesh(m: Any, k: int) -> tuple[Array, Array]:
    def own(rows: Array, start: int, count: int) -> Array:
        return np.array(rows[start : start + count])

    corners = own(m.mesh_vert, m.mesh_vertadr[k], m.mesh_vertnum[k])
    return corners.astype(float), own(m.mesh_face, m.mesh_faceadr[k], m.mesh_facenum[k])


def _geom_colour(m: Any, i: int) -> Array:
    """Red, green, blue and opacity, 0 to 1: those of the material, where there is one."""
    material = int(m.geom_matid[i])
    return np.asarray(m.geom_rgba[i] if material < 0 else m.mat_rgba[material])
