"""Mesh files, read by trimesh from memory: a mesh cannot name other files to be read."""

import math
import re
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import MeshError, MissingExtraError, check_installed
from armdyn.forks import IMPORTING
from armdyn.io.regular import check_path, read_regular
from armdyn.model.inertia import SHAPE_RANGE, use_reader

MESH_ENDINGS = (".stl", ".obj", ".ply", ".off", ".glb", ".dae")
WELD_DIGITS = 6
"""Digits of the largest coordinate in which corners that are one agree."""
MAX_MESH_BYTES = 50 * 2**20
"""Size of the largest mesh that is read [bytes]."""
_COLLADA_UNIT = re.compile(rb"""<unit\b[^>]*?\bmeter\s*=\s*["']([^"']+)["']""")
REPAIR = (
    "Repair the mesh (MeshLab: 'Close Holes', 'Re-Orient all faces coherently'; trimesh: "
    "trimesh.repair.fill_holes, fix_normals), or take its convex hull with hull=True (--hull)"
)


def read_mesh(given: str | Path) -> Any:
    """The mesh in a file, with corners in one place made one, or a MeshError."""
    path = check_path(given)
    refusal = partial(MeshError, file=path)
    if path.suffix.lower() not in MESH_ENDINGS:
        endings = ", ".join(MESH_ENDINGS)
        raise refusal(f"the ending {path.suffix!r} is of no mesh that is read; it is {endings}")
    data = read_regular(path, refusal, MAX_MESH_BYTES)
    check_installed("trimesh", "mesh", "reading meshes")
    with IMPORTING:
        import trimesh  # noqa: PLC0415 (slow to import)
    if path.suffix.lower() == ".dae" and find_spec("collada") is None:
        raise MissingExtraError("pycollada", "mesh", "reading .dae files")
    try:
        ending = path.suffix[1:].lower()
        load: Any = trimesh.load
        options = {"force": "mesh", "skip_materials": True, "process": False}
        mesh = load(BytesIO(data), ending, **options)
        if ending == "dae" and (unit := _COLLADA_UNIT.search(data)):
            mesh.apply_scale(float(unit[1]))
        if mesh.vertices.shape[1] != 3:
            raise ValueError("its corners do not have three coordinates")
        size = float(np.abs(mesh.vertices).max(initial=0.0))
        if len(mesh.faces) and not SHAPE_RANGE[0] <= size <= SHAPE_RANGE[1]:
            raise ValueError(f"its largest coordinate is {size:g}")
        digits = WELD_DIGITS - math.floor(math.log10(size)) if size else 0
        mesh.merge_vertices(merge_tex=True, merge_norm=True, digits_vertex=digits)
        corners = np.sort(mesh.faces, axis=1)
        mesh.update_faces((corners[:, 0] < corners[:, 1]) & (corners[:, 1] < corners[:, 2]))
    except Exception as reason:  # whatever a reader of a broken file raises
        raise refusal(f"cannot be read as a mesh: {reason or type(reason).__name__}") from reason
    if not len(mesh.faces):
        raise refusal("there are no triangles in this file")
    return mesh


@use_reader
def read_triangles(path: str | Path, hull: bool) -> Array:
    """The triangles that bound a solid, (f, 3, 3), wound so that their normals point out."""
    return solid_triangles(read_mesh(path), Path(path), hull)


def solid_triangles(mesh: Any, path: Path, hull: bool) -> Array:
    """The triangles of a mesh that was read from a path, or a MeshError if they bound no solid."""
    refusal = partial(MeshError, file=path)
    if hull:
        return _hull(np.asarray(mesh.vertices), refusal)
    triangles = mesh.vertices[mesh.faces]
    edges = mesh.edges
    kinds, inverse = np.unique(mesh.edges_sorted, axis=0, return_inverse=True)
    # on the surface of a solid, every edge is run through as often one way as the other
    counts = np.bincount(inverse.ravel())
    ways = np.bincount(inverse.ravel(), np.sign(edges[:, 1] - edges[:, 0]))
    gaps = np.flatnonzero(counts % 2)
    if len(gaps):
        at = ", ".join(f"{x:.4g}" for x in mesh.vertices[kinds[gaps[0]]].mean(0))
        raise refusal(
            f"the mesh is not watertight: {len(gaps)} of its {len(kinds)} edges are at a gap, one "
            f"at ({at}), so that it bounds no volume. {REPAIR}"
        )
    if ways.any():
        raise refusal(
            f"the triangles of the mesh are not consistently wound: across "
            f"{np.count_nonzero(ways)} of its {len(kinds)} edges one normal points out and the "
            f"other in. {REPAIR}"
        )
    centred = triangles - triangles.mean((0, 1))
    volume = np.linalg.det(centred).sum() / 6
    size = np.abs(centred).max()
    if abs(volume) <= 1e-12 * size**3:
        raise refusal(f"the mesh bounds no volume: it is flat, or cancels itself. {REPAIR}")
    if volume < 0:
        raise refusal(
            f"the mesh is inside out: its normals point inwards, and its volume is {volume:.4g}. "
            "Turn its triangles round (MeshLab: 'Invert Faces Orientation'; trimesh: "
            "mesh.invert()), or take its convex hull with hull=True (--hull)"
        )
    return triangles


def _hull(points: Array, refusal: partial[MeshError]) -> Array:
    """The triangles of the convex hull of points."""
    from scipy.spatial import ConvexHull, QhullError  # noqa: PLC0415 (slow to import)

    try:
        triangles: Array = points[ConvexHull(points).simplices]
    except QhullError as reason:
        raise refusal("the mesh is flat, so that its convex hull has no volume") from reason
    inwards = np.linalg.det(triangles - points.mean(0)) < 0
    triangles[inwards] = triangles[inwards, ::-1]
    return triangles
