"""The solids of an arm and of what stands around it: capsules, shapes of a URDF file, obstacles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number
from armdyn.errors import ExcitationError, UnknownNameError, shown
from armdyn.io.mesh import read_mesh
from armdyn.io.regular import check_path
from armdyn.io.toml.read import parsed_toml
from armdyn.io.urdf.geometry import read_shapes
from armdyn.model.transform import any_frame, inverse, rotation_from_rpy, transform
from armdyn.robot import Robot

FIXED = -1
"""The link of what does not move."""
RADIUS_SHARE = 0.04
"""Radius of the capsule of a link without geometry, in reaches of the arm."""
SHAPES = {"box": 3, "sphere": 1, "capsule": 2, "cylinder": 2}
"""How many lengths a shape has: sides; radius; radius and length along z (without round ends)."""


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A convex solid on a link, or fixed."""

    name: str
    link: int
    """Index of the link; `FIXED`: it does not move."""
    placement: Array
    """Its centre in the frame that the link is named after, or in the world, (4, 4)."""
    shape: str
    """One of `SHAPES`, "hull" or "halfspace"."""
    lengths: tuple[float, ...] = ()
    points: Array = field(default_factory=lambda: np.zeros((0, 3)), repr=False)
    """Points whose convex hull it is, about its centre, (k, 3) [m]."""
    surrounding: bool = False
    """Whether it is not a part of the robot."""

    @property
    def radius(self) -> float:
        """Of the ball about the centre that it is in [m]."""
        if self.shape == "halfspace":
            return np.inf
        if self.shape == "hull":
            return float(np.linalg.norm(self.points, axis=1).max())
        if self.shape == "box":
            return float(np.linalg.norm(self.lengths)) / 2
        radius, *length = self.lengths
        half = sum(length) / 2
        return float(np.hypot(radius, half)) if self.shape == "cylinder" else radius + half

    def geometry(self, coal: Any) -> Any:
        """The solid as coal has it."""
        if self.shape == "halfspace":
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        if self.shape == "hull":
            corners = coal.StdVec_Vec3s()
            for point in self.points:
                corners.append(point)
            try:
                return coal.Convex.convexHull(corners, False, "Qt")
            except Exception as error:  # qhull's, of no common class
                raise ExcitationError(
                    f"{self.name}: the corners of its mesh have no convex hull: {error}"
                ) from None
        made = {"box": coal.Box, "sphere": coal.Sphere, "capsule": coal.Capsule}
        return (made | {"cylinder": coal.Cylinder})[self.shape](*self.lengths)


# links


def link_solids(
    robot: Robot, geometry: str | Path | None, radius: float | Mapping[str, float] | None
) -> tuple[list[Solid], list[str]]:
    """The solids of all links, by a URDF file where that has some, or else capsules; and notes."""
    drawn, notes = _drawn(robot, geometry) if geometry is not None else ([], [])
    radii = _radii(robot, radius)
    with_geometry = {solid.link for solid in drawn}
    capsules = [
        solid
        for link in range(FIXED, len(robot.model.links))
        if link not in with_geometry
        for solid in _capsules(robot, link, radii[link])
    ]
    if capsules:
        names = dict.fromkeys(solid.name for solid in capsules)
        sizes = {f"{radii[solid.link]:.3g}" for solid in capsules}
        notes.append(f"capsules of radius {', '.join(sorted(sizes))} m for {', '.join(names)}")
    return [*drawn, *capsules], notes


def _drawn(robot: Robot, path: str | Path) -> tuple[list[Solid], list[str]]:
    """The shapes of a URDF file on the links of the same names."""
    shapes, unread = read_shapes(check_path(path), trusted=True)
    known = {frame.name: frame for frame in robot.model.frames}
    solids = []
    for name, pieces in shapes.items():
        if name not in known:
            raise UnknownNameError(f"{path}: link of {robot.name!r} named", name, known)
        frame = known[name]
        for piece in pieces:
            place = _in_named_frame(robot, frame.link, frame.placement @ piece.placement)
            solids.append(
                _hull(name, frame.link, place, piece.points)
                if piece.points is not None
                else Solid(name, frame.link, place, piece.shape, piece.lengths)
            )
    if not solids:
        raise ExcitationError(f"{path}: no link has a <collision> or <visual> that can be read")
    notes = [f"no geometry of {name}: {why}" for name, why in unread.items()]
    return solids, [f"geometry of {Path(path).name}, meshes by their convex hulls", *notes]


def _hull(name: str, link: int, place: Array, points: Array, surrounding: bool = False) -> Solid:
    """The convex hull of points (k, 3), moved so that its centre is amid them."""
    middle = 0.5 * (points.min(0) + points.max(0))
    centred = points - middle
    moved = place @ transform(position=middle)
    return Solid(name, link, moved, "hull", points=centred, surrounding=surrounding)


def _capsules(robot: Robot, link: int, radius: float) -> Iterator[Solid]:
    """Capsules from the origin of a link to its joints and the tool, or to its centre of mass.

    They begin a radius beyond the origin, where the link before ends, and end around the next one.
    """
    model = robot.model
    ends = [joint.placement[:3, 3] for joint in model.joints if joint.parent == link]
    if model.tool_frame.link == link:
        ends.append(model.tool_frame.placement[:3, 3])
    body = model.base_link if link == FIXED else model.links[link]
    far = [end for end in ends if np.linalg.norm(end) > radius / 2]
    if not far and link != FIXED:
        far = [body.inertia.com]
    for end in far:
        whole = float(np.linalg.norm(end))
        length = max(whole - radius, 0.0)
        R = any_frame(end / whole) if length else np.eye(3)
        place = _in_named_frame(robot, link, transform(R, end - R[:, 2] * length / 2))
        round_one = ("capsule", (radius, length)) if length else ("sphere", (radius,))
        yield Solid(body.name, link, place, *round_one)


def _in_named_frame(robot: Robot, link: int, place: Array) -> Array:
    """A place in the frame on the joint of a link, seen from the frame it is named after."""
    model = robot.model
    if link == FIXED:
        return model.base @ place
    return inverse(model.frame(model.links[link].name).placement) @ place


def _radii(robot: Robot, given: float | Mapping[str, float] | None) -> dict[int, float]:
    """The radius of the capsules of each link [m]."""
    model = robot.model
    names = {FIXED: model.base_link.name, **dict(enumerate(link.name for link in model.links))}
    lengths = [float(np.linalg.norm(j.placement[:3, 3])) for j in model.joints]
    reach = max(sum(lengths[i] for i in path) for path in model.paths)
    # an arm whose joints all meet in one point is as long as its tool, or as a forearm
    reach = reach or float(np.linalg.norm(model.tool_frame.placement[:3, 3])) or 1.0
    radii = dict.fromkeys(names, RADIUS_SHARE * reach)
    if isinstance(given, Mapping):
        index = {name: link for link, name in names.items()}
        for name, value in given.items():
            if name not in index:
                raise UnknownNameError(f"radius: link of {robot.name!r} named", name, index)
            radii[index[name]] = check_length(f"radius of {name!r}", value)
    elif given is not None:
        radii = dict.fromkeys(names, check_length("radius", given))
    return radii


# surroundings


def table_solid(height: float) -> Solid:
    """Everything below a height z in the world [m]."""
    at = transform(position=(0, 0, check_number("table", height)))
    return Solid("the table", FIXED, at, "halfspace", surrounding=True)


def obstacle_solids(given: str | Path | Sequence[Mapping[str, Any]] | None) -> list[Solid]:
    """The obstacles of a TOML file, or of mappings with its keys; docs/excitation.md has them."""
    if given is None:
        return []
    where, folder = "obstacle", Path()
    if isinstance(given, str | Path):
        path = check_path(given)
        table, folder, where = parsed_toml(path), path.parent, f"{path}: obstacle"
        if set(table) != {"obstacle"} or not isinstance(table["obstacle"], list):
            raise ExcitationError(f"{path}: expected [[obstacle]] tables and nothing else")
        given = table["obstacle"]
    listed: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(x, Mapping) for x in listed):
        raise ExcitationError(f"obstacles: expected a list of mappings, got {shown(given)}")
    return [_obstacle(f"{where} {k}", x, folder) for k, x in enumerate(listed, 1)]


def _obstacle(where: str, given: Mapping[str, Any], folder: Path) -> Solid:
    kinds = [key for key in (*SHAPES, "mesh") if key in given]
    extra = set(given) - {*kinds, "position", "rpy", "name", "scale"}
    if len(kinds) != 1 or extra:
        what = f"the key {sorted(map(str, extra))[0]!r}" if extra else f"{kinds or 'no shape'}"
        raise ExcitationError(
            f"{where}: expected one of {', '.join((*SHAPES, 'mesh'))} with position, rpy and name "
            f"(and scale of a mesh), got {what}"
        )
    kind, name = kinds[0], str(given.get("name", where.rpartition(": ")[2]))
    position = check_constant(f"{where}: position", given.get("position", (0, 0, 0)), (3,))
    rpy = check_constant(f"{where}: rpy", given.get("rpy", (0, 0, 0)), (3,))
    place = transform(rotation_from_rpy(rpy), position)
    if kind == "mesh":
        corners = np.asarray(read_mesh(folder / str(given["mesh"])).vertices)
        scale = check_length(f"{where}: scale", given.get("scale", 1.0))
        return _hull(name, FIXED, place, scale * corners, surrounding=True)
    sizes = np.atleast_1d(np.asarray(given[kind], dtype=object)).tolist()
    if len(sizes) != SHAPES[kind]:
        raise ExcitationError(
            f"{where}: a {kind} has {SHAPES[kind]} length{'s' * (SHAPES[kind] > 1)}, got "
            f"{shown(given[kind])}"
        )
    lengths = tuple(check_length(f"{where}: {kind}", size) for size in sizes)
    return Solid(name, FIXED, place, kind, lengths, surrounding=True)


def check_length(what: str, value: object) -> float:
    """A positive length [m]."""
    number = check_number(what, value)
    if not 0 < number < np.inf:
        raise ExcitationError(f"{what}: expected a positive length [m], got {shown(value)}")
    return number
