"""The geometry of every link of a URDF file as one body, to hold its inertia against."""

import os
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynError, MeshError, UrdfError
from armdyn.io.attributes import Problems
from armdyn.io.mesh import read_mesh, solid_triangles
from armdyn.io.urdf.geometry import Piece, link_pieces
from armdyn.io.urdf.macros import read_robot
from armdyn.model import Inertia
from armdyn.model.mesh import check_scale, solid_moments

MAX_MESHES_BYTES = 100 * 2**20
"""Size of all meshes of a description that are read to examine it [bytes]."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkGeometry:
    """All pieces of a link together, in its frame."""

    points: Array
    """Points whose convex hull contains every <visual> and <collision>, (n, 3) [m]."""
    body: Inertia
    """The uniform body of density 1 of its <visual>, or else of its <collision>. Of a mesh that
    bounds no volume it has the convex hull."""


def read_geometry(path: Path, trusted: bool) -> tuple[dict[str, LinkGeometry], dict[str, str]]:
    """The geometry of each link that has some, and why that of others is not read.

    Meshes are read only from a file that is trusted.
    """
    problems = Problems(path, UrdfError)
    robot = read_robot(path, problems, trusted)
    meshes = _Meshes(MAX_MESHES_BYTES if trusted else 0)
    found, unread = {}, {}
    for link in robot.all("link"):
        before, folder = len(problems.found), path.parent.resolve()
        visual, collision = (
            list(link_pieces(link, folder, problems, (tag,))) for tag in ("visual", "collision")
        )
        try:
            if len(problems.found) > before:
                raise UrdfError(problems.found[-1][1])
            if visual or collision:
                points = [meshes.points(piece) for piece in (*visual, *collision)]
                body = sum(map(meshes.body, visual or collision), Inertia.zero())
                found[link.attributes.get("name", "")] = LinkGeometry(np.concatenate(points), body)
        except ArmdynError as error:
            unread[link.attributes.get("name", "")] = str(error)
    return found, unread


@dataclass(slots=True)
class _Meshes:
    """The meshes of one description, each of them read once."""

    bytes_left: int
    read: dict[Path, tuple[Array, Array]] = field(default_factory=dict)
    """Corners (n, 3) and triangles (f, 3, 3) of each file, in its own units."""

    def points(self, piece: Piece) -> Array:
        """Points in the frame of the link whose convex hull contains the piece, (n, 3) [m]."""
        if piece.mesh is not None:
            points = self._mesh(piece.mesh)[0] * check_scale(piece.lengths["scale"])
        else:
            points = np.array(list(product((-1.0, 1.0), repeat=3))) * _half_sizes(piece)
        return points @ piece.placement[:3, :3].T + piece.placement[:3, 3]

    def body(self, piece: Piece) -> Inertia:
        """The uniform body of density 1 of a piece, in the frame of the link."""
        if piece.mesh is None:
            return piece.body(1.0)
        triangles = self._mesh(piece.mesh)[1] * check_scale(piece.lengths["scale"])
        return Inertia.from_pseudo(solid_moments(triangles)).moved(piece.placement)

    def _mesh(self, file: Path) -> tuple[Array, Array]:
        if file not in self.read:
            self.bytes_left -= os.stat(file).st_size
            if self.bytes_left < 0:
                raise MeshError("the meshes of this description are too large, or not read here")
            mesh = read_mesh(file)
            try:
                triangles = solid_triangles(mesh, file, hull=False)
            except MeshError:
                triangles = solid_triangles(mesh, file, hull=True)
            self.read[file] = np.asarray(mesh.vertices), triangles
        return self.read[file]


def _half_sizes(piece: Piece) -> Array:
    """Half of the sides of the box around a shape."""
    size, radius, length = (piece.lengths.get(key, 0.0) for key in ("size", "radius", "length"))
    ends = radius if piece.shape.tag in ("capsule", "sphere") else 0.0
    return 0.5 * np.asarray(size) + [radius, radius, 0.5 * length + ends]
