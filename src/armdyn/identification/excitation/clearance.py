"""The solids of an arm and of what stands around it, and the distances between them.

Solids are capsules, shapes of a URDF file and obstacles. Distances and nearest points are those of
coal. With the nearest points on two links and the unit normal from the first to the second, the
distance changes by the velocities of these points along the normal, so its slope follows from the
Jacobians of the links.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number, record
from armdyn.errors import ExcitationError, MissingExtraError, UnknownNameError, require, shown
from armdyn.identification.excitation.limits import MotionLimits
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


@record(eq=False)
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
        return getattr(coal, self.shape.capitalize())(*self.lengths)


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
            solid = Solid(name, frame.link, place, piece.shape.tag, piece.sizes)
            solids.append(solid if piece.corners is None else _hull(solid, piece.corners))
    if not solids:
        raise ExcitationError(f"{path}: no link has a <collision> or <visual> that can be read")
    notes = [f"no geometry of {name}: {why}" for name, why in unread.items()]
    return solids, [f"geometry of {Path(path).name}, meshes by their convex hulls", *notes]


def _hull(solid: Solid, points: Array) -> Solid:
    """A solid as the convex hull of points (k, 3), moved so that its centre is amid them."""
    middle = 0.5 * (points.min(0) + points.max(0))
    moved = solid.placement @ transform(position=middle)
    return replace(solid, placement=moved, shape="hull", lengths=(), points=points - middle)


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
        table = parsed_toml(path)
        folder = path.parent
        where = f"{path}: obstacle"
        if set(table) != {"obstacle"} or not isinstance(table["obstacle"], list):
            raise ExcitationError(f"{path}: expected [[obstacle]] tables and nothing else")
        given = table["obstacle"]
    listed: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    sound = all(isinstance(x, Mapping) for x in listed)
    require(sound, "obstacles", "a list of mappings", given, ExcitationError)
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
    kind = kinds[0]
    name = str(given.get("name", where.rpartition(": ")[2]))
    position = check_constant(f"{where}: position", given.get("position", (0, 0, 0)), (3,))
    rpy = check_constant(f"{where}: rpy", given.get("rpy", (0, 0, 0)), (3,))
    place = transform(rotation_from_rpy(rpy), position)
    solid = Solid(name, FIXED, place, kind, surrounding=True)
    if kind == "mesh":
        corners = np.asarray(read_mesh(folder / str(given["mesh"])).vertices)
        return _hull(solid, check_length(f"{where}: scale", given.get("scale", 1.0)) * corners)
    sizes = np.atleast_1d(np.asarray(given[kind], dtype=object)).tolist()
    if len(sizes) != SHAPES[kind]:
        raise ExcitationError(
            f"{where}: a {kind} has {SHAPES[kind]} length{'s' * (SHAPES[kind] > 1)}, got "
            f"{shown(given[kind])}"
        )
    return replace(solid, lengths=tuple(check_length(f"{where}: {kind}", x) for x in sizes))


def check_length(what: str, value: object) -> float:
    """A positive length [m]."""
    number = check_number(what, value)
    require(number > 0, what, "a positive length [m]", value, ExcitationError)
    return number


# distances

INFLUENCE, LEAST_INFLUENCE = 2.0, 0.02
"""Distances that are so many clearances, and so much [m], beyond the clearance are not felt."""
UNCHANGED = 1e-9
"""A distance that changes by less over all poses is one that no joint changes [m]."""
TRIED_POSES = 200
"""Random poses by which it is found which pairs are always near."""
FAR_POSES = 0.01
"""Share of these poses that may be ever so far, as poses with folded joints are."""


@record(eq=False)
class Near:
    """The k pairs of solids that are near each other at some poses."""

    pose: Array
    """Index of the pose, (k,)."""
    pair: Array
    """Index of the pair, (k,)."""
    distance: Array
    """(k,) [m]; negative where solids are in each other."""
    points: Array
    """The nearest points of both, world axes, (2, k, 3) [m]."""
    normal: Array
    """From the first to the second, (k, 3)."""


@dataclass(slots=True, eq=False)
class Clearance:
    """The solids of an arm and of its surroundings, and the pairs that must keep a distance."""

    robot: Robot
    solids: tuple[Solid, ...]
    least: float
    """The distance that is kept [m]."""
    pairs: tuple[tuple[int, int], ...] = ()
    kept: Array = field(default_factory=lambda: np.zeros(0))
    """The distance that each pair keeps: `least`, or less for those that are always nearer [m]."""
    left_out: tuple[str, ...] = ()
    """Pairs that touch by construction and are not looked at, in words."""
    _geometries: list[Any] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls, robot: Robot, solids: Sequence[Solid], least: float, ranges: Array, seed: int
    ) -> "Clearance":
        """The pairs of solids on links that are not neighbours, and of links and surroundings."""
        try:
            import coal  # noqa: PLC0415 (an extra)
        except ImportError:
            raise MissingExtraError("coal", "collision", "keeping a clearance") from None
        found = cls(robot, tuple(solids), least)
        found._geometries = [solid.geometry(coal) for solid in solids]
        found.pairs = tuple(_candidates(robot, found.solids))
        found.kept = np.full(len(found.pairs), least)
        found._look_at_poses(ranges, seed)
        return found

    def scaled(self, factor: float) -> "Clearance":
        """The same pairs with other distances to keep."""
        return replace(self, least=factor * self.least, kept=factor * self.kept)

    def _look_at_poses(self, ranges: Array, seed: int) -> None:
        """Leave out pairs that touch by construction, and lower what always near ones keep.

        Links that are joined by a short one are near each other in every pose; half of the
        distance that they can have is what they keep then.
        """
        low, high = ranges.T
        poses = np.random.default_rng(seed).uniform(low, high, (TRIED_POSES, self.robot.n))
        apart = np.full((TRIED_POSES, len(self.pairs)), np.inf)
        near = self.near(poses, self.influence)
        apart[near.pose, near.pair] = near.distance
        farthest = np.quantile(apart, 1 - FAR_POSES, axis=0, method="lower")
        touching = farthest <= 0
        self.left_out = tuple(self.words(k) for k in np.flatnonzero(touching).tolist())
        kept = np.where(farthest < self.least, farthest / 2, self.least)
        # what no joint changes needs no watching; what is far in some pose does change
        far = ~np.isfinite(apart).all(0)
        varies = far | (np.ptp(np.where(far, 0.0, apart), axis=0) > UNCHANGED)
        for k in np.flatnonzero(touching & varies).tolist():
            if any(self.solids[i].surrounding for i in self.pairs[k]):
                raise ExcitationError(
                    f"{self.words(k)} touch in every one of {TRIED_POSES} poses; is it where it "
                    "should be? Move it, place the base elsewhere, or give a smaller radius"
                )
        looked_at = np.flatnonzero(varies & ~touching)
        self.pairs = tuple(self.pairs[k] for k in looked_at)
        self.kept = kept[looked_at]

    def words(self, pair: int) -> str:
        """The names of a pair."""
        first, second = (self.solids[i].name for i in self.pairs[pair])
        return f"{first} and {second}"

    @property
    def influence(self) -> float:
        """How far beyond the clearance a distance is felt [m]."""
        return max(INFLUENCE * self.least, LEAST_INFLUENCE)

    @property
    def lowered(self) -> tuple[str, ...]:
        """The pairs that keep less than the others, with what they keep."""
        some = np.flatnonzero(self.kept < self.least).tolist()
        return tuple(f"{self.words(k)} ({self.kept[k]:.2g} m)" for k in some)

    def near(self, q: Array, within: float = 0.0) -> Near:
        """The pairs that are nearer than what they keep and this, at poses (m, n)."""
        import coal  # noqa: PLC0415 (an extra)

        places = self._places(q)

        @cache
        def placed(pose: int, solid: int) -> Any:
            T = places[pose, solid]
            return coal.Transform3s(T[:3, :3], T[:3, 3])

        request = coal.DistanceRequest()
        result = coal.DistanceResult()
        limits = self.kept + within
        rows = []
        for pose, pair in np.argwhere(self._culled(places, limits)).tolist():
            i, j = self.pairs[pair]
            one = self._geometries[i]
            other = self._geometries[j]
            result.clear()
            distance = coal.distance(one, placed(pose, i), other, placed(pose, j), request, result)
            if distance < limits[pair]:
                points = result.getNearestPoint1(), result.getNearestPoint2()
                rows.append((pose, pair, distance, *points[0], *points[1], *result.normal))
        table = np.array(rows).reshape(-1, 12)
        pose_of, pair_of = table[:, :2].astype(int).T
        vectors = np.moveaxis(table[:, 3:].reshape(-1, 3, 3), 1, 0)
        return Near(pose_of, pair_of, table[:, 2], vectors[:2], vectors[2])

    def barrier(self, q: Array) -> tuple[float, Array] | None:
        """Σ -(1 - u)² log u of the shares u of the influence that are left, and its slope (m, n).

        None where a pair is nearer than the clearance.
        """
        near = self.near(q, self.influence)
        slope = np.zeros_like(q)
        u = (near.distance - self.kept[near.pair]) / self.influence
        if not u.min(initial=1.0) > 0:
            return None
        logs = np.log(u)
        change = (2 * (1 - u) * logs - (1 - u) ** 2 / u) / self.influence
        np.add.at(slope, near.pose, change[:, None] * self.slopes(q, near))
        return float(-((1 - u) ** 2 * logs).sum()), slope

    def slopes(self, q: Array, near: Near) -> Array:
        """How distances change with the positions, (k, n)."""
        poses, row = np.unique(near.pose, return_inverse=True)
        J = self.robot.link_jacobians(q[poses])
        T = self.robot.link_frames(q[poses])
        links = np.array([solid.link for solid in self.solids])[np.array(self.pairs)[near.pair]]
        result = np.zeros((len(near.pose), q.shape[-1]))
        for side, sign in enumerate((-1.0, 1.0)):
            link = links[:, side]
            jacobian = J[row, link]
            at = T[row, link, :3, 3]
            turned = np.cross(near.points[side] - at, near.normal)
            both = np.concatenate([near.normal, turned], -1)
            change = np.einsum("ki,kij->kj", both, jacobian)
            result += np.where((link == FIXED)[:, None], 0.0, sign * change)
        return result

    def distances(self, q: Array) -> Array:
        """The least distance at each pose, (m,) [m]; at most the clearance and the influence.

        Of pairs that keep less than the clearance it is that plus what they have more than it.
        """
        least = np.full(len(q), self.least + self.influence)
        near = self.near(q, self.influence)
        np.minimum.at(least, near.pose, near.distance + self.least - self.kept[near.pair])
        return least

    def fault(self, q: Array) -> str:
        """Which pair is too near at a pose (n,), in words; empty if none is."""
        near = self.near(q[None])
        if not len(near.pair):
            return ""
        worst = int(near.distance.argmin())
        pair = near.pair[worst]
        return (
            f"{self.words(pair)} are {near.distance[worst]:.3g} m from each other, and must keep "
            f"{self.kept[pair]:.3g} m"
        )

    # where solids are

    def _places(self, q: Array) -> Array:
        """The solids in the world, (m, solids, 4, 4)."""
        still = np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))
        frames = np.concatenate([self.robot.link_frames(q), still], axis=1)  # FIXED: the last
        links = [solid.link for solid in self.solids]
        return frames[:, links] @ np.array([solid.placement for solid in self.solids])

    def _culled(self, places: Array, limits: Array) -> Array:
        """Which pairs may be nearer than their limits, by the balls around solids, (m, pairs)."""
        centres = places[:, :, :3, 3]
        radii = np.array([solid.radius for solid in self.solids])
        i, j = np.array(self.pairs, dtype=int).reshape(-1, 2).T
        apart = np.linalg.norm(centres[:, i] - centres[:, j], axis=-1) - radii[i] - radii[j]
        for k in np.flatnonzero(np.isinf(radii)):  # below a plane, whose normal is its z axis
            height = (centres - centres[:, k : k + 1]) @ places[0, k, :3, 2] - radii
            for pair in np.flatnonzero((i == k) | (j == k)):
                apart[:, pair] = height[:, i[pair] + j[pair] - k]
        return np.asarray(apart < limits)


def _candidates(robot: Robot, solids: Sequence[Solid]) -> list[tuple[int, int]]:
    """Pairs of solids that can come near each other and are not joined by a joint."""
    parents, found = robot.model.parents, []
    for (i, one), (j, other) in combinations(enumerate(solids), 2):
        ways = (one.link, other.link), (other.link, one.link)
        joined = any(link >= 0 and parents[link] == parent for link, parent in ways)
        if one.link != other.link and (one.surrounding or other.surrounding or not joined):
            found.append((i, j))
    return found


CLEARANCE = 0.05
"""Clearance where there are surroundings or a geometry and none is given [m]."""

Obstacles = str | Path | Sequence[Mapping[str, Any]] | None
"""Shapes that stand around, or a TOML file of them."""
Radius = float | Mapping[str, float] | None
"""Radius of capsules, one for all links or some by name [m]."""


def surroundings(
    robot: Robot,
    limits: MotionLimits,
    seed: int,
    *,
    clearance: float | None,
    table: float | None,
    obstacles: Obstacles,
    geometry: str | Path | None,
    radius: Radius,
) -> tuple[Clearance | None, tuple[str, ...]]:
    """The pairs that keep a distance, None if none do, and what is to be said of them.

    The arguments are those of `excite`.
    """
    if all(x is None for x in (clearance, table, obstacles, geometry)):
        if radius is not None:
            raise ExcitationError(
                "radius: it is that of links which keep a distance; give clearance= or table= too"
            )
        return None, ("distances between links, and to what is around, are not looked at",)
    least = CLEARANCE if clearance is None else check_length("clearance", clearance)
    links, notes = link_solids(robot, geometry, radius)
    around = [] if table is None else [table_solid(table)]
    solids = [*links, *around, *obstacle_solids(obstacles)]
    ranges = np.stack([limits.lower, limits.upper], -1)
    found = Clearance.of(robot, solids, least, ranges, seed)
    if found.left_out:
        pairs = "; ".join(found.left_out)
        notes.append(f"touch by construction and are not looked at: {pairs}")
    if found.lowered:
        notes.append(f"always near each other, and keep less: {'; '.join(found.lowered)}")
    return found, tuple(notes)
