"""The geometry of a link of a URDF file as one body: for its inertia, or to compare with it.

Meshes are looked for from the folder of the file. The package of package://NAME is a folder NAME
beside or above the file that contains the file or has a package.xml, or one of that name in
ROS_PACKAGE_PATH or AMENT_PREFIX_PATH.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynError, MeshError, UrdfError
from armdyn.io.mesh import MESH_ENDINGS, read_mesh, solid_triangles
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import Place, Problems, XmlElement
from armdyn.model import Inertia
from armdyn.model.inertia import SHAPES, check_scale, solid_moments

URDF_SHAPES = ("box", "cylinder", "sphere", "capsule")
PACKAGE_FOLDERS = 6
"""Number of folders above the file that may hold a package."""
PACKAGE_MARKS = ("package.xml", "model.config", "model.sdf")
"""Files that make a folder a package, or a model of SDF."""
FOLDER_LISTS = {
    "package": (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")),
    "model": (("GZ_SIM_RESOURCE_PATH", ""), ("GAZEBO_MODEL_PATH", ""), ("SDF_PATH", "")),
}
"""Variables that list where packages and models are, and the folder in each place."""
MAX_MESHES_BYTES, MAX_EXAMINED_BYTES = 500 * 2**20, 100 * 2**20
"""Size of all meshes of a description that are read to load it, and to examine it [bytes]."""
NOT_READ = -1
"""The same of a description that is not trusted: not even an empty file is opened."""


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
    corners: Array | None = None
    """Of a mesh that was read, its corners, (n, 3) [m]."""

    @property
    def sizes(self) -> tuple[float, ...]:
        """The sides of a shape, or its radius and length [m]."""
        return tuple(map(float, np.hstack([*self.lengths.values()])))


def link_pieces(
    link: XmlElement, folder: Path, problems: Problems, tags: tuple[str, ...]
) -> Iterator[Piece]:
    """The pieces of a link in a file of that folder, by the first of the tags that it has."""
    where = f"link {link.attributes.get('name')!r}"
    for element in next(filter(None, map(link.all, tags)), ()):
        place = Place(element, where, problems)
        placement, geometry = place.origin(), place.needed("geometry")
        for shape in () if geometry is None else geometry.element.children[:1]:
            before = len(problems.found)
            here = Place(shape, where, problems)
            lengths, mesh = shape_lengths(here), _mesh_file(here, folder)
            if len(problems.found) == before:
                yield Piece(element, placement, shape, lengths, mesh)


def shape_lengths(shape: Place) -> dict[str, Any]:
    """The numbers of a shape; what is wrong with them is a problem."""
    tag = shape.element.tag
    if tag == "mesh":
        return {"scale": shape.vector("scale", (1.0, 1.0, 1.0))}
    if tag not in URDF_SHAPES:
        names = ", ".join(f"<{known}>" for known in (*URDF_SHAPES, "mesh"))
        shape.add(f"{shape.where}: the geometry <{tag}> is not known; expected {names}")
        return {}
    return {key: shape.vector(key) if key == "size" else shape.number(key) for key in SHAPES[tag]}


def _mesh_file(shape: Place, folder: Path) -> Path | None:
    """The file of a mesh; that there is none is a problem."""
    name = shape.text("filename") if shape.element.tag == "mesh" else None
    file = None if name is None else find_mesh(name, folder)
    if name is not None and file is None:
        shape.add(f"{shape.where}: there is no mesh {name!r}: {_looked_for(name)}")
    return file


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
    for root, path in places_of_file(name, folder):
        file = Path(os.path.realpath(path))
        allowed = not confined or file.is_relative_to(root)
        if allowed and file.suffix.lower() in MESH_ENDINGS and os.path.exists(file):
            return file
    return None


def places_of_file(name: str, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Where a file may be: the folder that a confined one must lie in, and its path."""
    scheme, _, path = name.rpartition("://")
    if scheme not in FOLDER_LISTS:
        if scheme in ("", "file") and "\0" not in name:
            yield folder.parent, folder / path
        return
    package, _, rest = path.partition("/")
    if package in ("", ".", "..") or "\0" in name:
        return
    for above in (folder, *folder.parents[:PACKAGE_FOLDERS]):
        root = Path(os.path.realpath(above / package))
        marked = any(os.path.isfile(root / mark) for mark in PACKAGE_MARKS)
        if marked or folder.is_relative_to(root):
            yield root, root / rest
    for variable, inside in FOLDER_LISTS[scheme]:
        for place in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            root = Path(os.path.realpath(Path(place, inside, package)))
            yield root, root / rest


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

    def geometry(meshes: MeshReader, visual: list[Piece], collision: list[Piece]) -> LinkGeometry:
        points = [meshes.points(piece) for piece in (*visual, *collision)]
        bodies = [meshes.body(piece, 1.0) for piece in visual or collision]
        return LinkGeometry(np.concatenate(points), sum(bodies, Inertia.zero()))

    return _by_link(path, trusted, geometry, ("visual",), ("collision",))


def read_shapes(path: Path, trusted: bool) -> tuple[dict[str, list[Piece]], dict[str, str]]:
    """The pieces of each link, <collision> or else <visual>, and why those of others are not."""

    def shapes(meshes: MeshReader, pieces: list[Piece]) -> list[Piece]:
        return [p if p.mesh is None else replace(p, corners=meshes.corners(p)) for p in pieces]

    return _by_link(path, trusted, shapes, ("collision", "visual"))


def _by_link(
    path: Path, trusted: bool, make: Callable[..., Any], *tags: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What `make` makes of the pieces that each link has by these tags, and why it cannot."""
    problems = Problems(path, UrdfError)
    robot = read_robot(path, problems, trusted)
    meshes = MeshReader(MAX_EXAMINED_BYTES if trusted else NOT_READ, "open")
    found, unread = {}, {}
    for link in robot.all("link"):
        name, before = link.attributes.get("name", ""), len(problems.found)
        folder = path.parent.resolve()
        pieces = [list(link_pieces(link, folder, problems, choice)) for choice in tags]
        try:
            if len(problems.found) > before:
                raise UrdfError(problems.found[-1][2])
            if any(pieces):
                found[name] = make(meshes, *pieces)
        except ArmdynError as error:
            unread[name] = str(error)
    return found, unread


@dataclass(slots=True)
class MeshReader:
    """The meshes of one description, each of them read once."""

    bytes_left: int
    hulls: Literal["none", "open", "all"]
    """Which of them count with their convex hulls: those that bound no volume are open."""
    read: dict[Path, tuple[Array, Array]] = field(default_factory=dict)
    """Corners (n, 3) and triangles (f, 3, 3) of each file, in its own units."""

    def points(self, piece: Piece) -> Array:
        """Points in the frame of the link whose convex hull contains the piece, (n, 3) [m]."""
        points = self.corners(piece)
        return points @ piece.placement[:3, :3].T + piece.placement[:3, 3]

    def corners(self, piece: Piece) -> Array:
        """The corners of a mesh, or of the box around another shape, in its frame, (n, 3) [m]."""
        if piece.mesh is not None:
            return np.asarray(self._mesh(piece.mesh)[0] * check_scale(piece.lengths["scale"]))
        return np.array(list(product((-1.0, 1.0), repeat=3))) * _half_sizes(piece)

    def body(self, piece: Piece, density: float) -> Inertia:
        """The uniform body of a piece, in the frame of the link."""
        if piece.mesh is None:
            solid: Inertia = getattr(Inertia, piece.shape.tag)(**piece.lengths, density=density)
        else:
            triangles = self._mesh(piece.mesh)[1] * check_scale(piece.lengths["scale"])
            solid = Inertia.from_pseudo(density * solid_moments(triangles))
        return solid.moved(piece.placement)

    def _mesh(self, file: Path) -> tuple[Array, Array]:
        if file not in self.read:
            self.bytes_left -= os.stat(file).st_size
            if self.bytes_left < 0:
                raise MeshError("the meshes of this description are too large, or not read here")
            mesh = read_mesh(file)
            try:
                triangles = solid_triangles(mesh, file, hull=self.hulls == "all")
            except MeshError:
                if self.hulls != "open":
                    raise
                triangles = solid_triangles(mesh, file, hull=True)
            self.read[file] = np.asarray(mesh.vertices), triangles
        return self.read[file]


def _half_sizes(piece: Piece) -> Array:
    """Half of the sides of the box around a shape."""
    size, radius, length = (piece.lengths.get(key, 0.0) for key in ("size", "radius", "length"))
    ends = radius if piece.shape.tag in ("capsule", "sphere") else 0.0
    return 0.5 * np.asarray(size) + [radius, radius, 0.5 * length + ends]
