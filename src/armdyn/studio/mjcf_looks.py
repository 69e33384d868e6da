"""What an MJCF file says its bodies look like: its geoms, from the model that MuJoCo compiles."""

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import DescriptionError
from armdyn.io.xml import read_xml
from armdyn.model.transform import rotation_from_quaternion, transform
from armdyn.studio.visuals import Visual

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
        shape, colour = _shape(m, i), _colour(m, i)
        if shape is not None and colour[3] > 0:
            place = transform(rotation_from_quaternion(m.geom_quat[i]), m.geom_pos[i])
            rgb = int(colour[0]), int(colour[1]), int(colour[2])
            found.append(Visual(bodies[m.geom_bodyid[i]], place, *shape, rgb))
    return found


def _shape(m: Any, i: int) -> tuple[Array, Array] | None:
    """Corners and triangles of a geom in its own frame; None where none are drawn."""
    from mujoco import mjtGeom as Kind  # noqa: PLC0415 (an extra)
    from trimesh import creation  # noqa: PLC0415 (slow to import)

    size, kind = m.geom_size[i], Kind(int(m.geom_type[i]))
    if kind == Kind.mjGEOM_MESH:
        return _mesh(m, int(m.geom_dataid[i]))
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


def _mesh(m: Any, k: int) -> tuple[Array, Array]:
    corners = slice(m.mesh_vertadr[k], m.mesh_vertadr[k] + m.mesh_vertnum[k])
    triangles = slice(m.mesh_faceadr[k], m.mesh_faceadr[k] + m.mesh_facenum[k])
    return np.array(m.mesh_vert[corners], dtype=float), np.array(m.mesh_face[triangles])


def _colour(m: Any, i: int) -> Array:
    """Red, green, blue and opacity, 0 to 255: those of the material, where there is one."""
    material = int(m.geom_matid[i])
    rgba = m.geom_rgba[i] if material < 0 else m.mat_rgba[material]
    return np.asarray(np.clip(255 * rgba, 0, 255))
