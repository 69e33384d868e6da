"""Distances between the links of an arm, and to what stands around it, with their slopes.

Distances and nearest points are those of coal. With the nearest points on two links and the unit
normal from the first to the second, the distance changes by the velocities of these points along
the normal, so its slope follows from the Jacobians of the links.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ExcitationError, MissingExtraError
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.identification.excitation.shapes import (
    FIXED,
    Solid,
    check_length,
    link_solids,
    obstacle_solids,
    table_solid,
)
from armdyn.robot import Robot

INFLUENCE, LEAST_INFLUENCE = 2.0, 0.02
"""Distances that are so many clearances, and so much [m], beyond the clearance are not felt."""
UNCHANGED = 1e-9
"""A distance that changes by less over all poses is one that no joint changes [m]."""
TRIED_POSES = 200
"""Random poses by which it is found which pairs are always near."""
FAR_POSES = 0.01
"""Share of these poses that may be ever so far, as poses with folded joints are."""


@dataclass(frozen=True, slots=True, eq=False)
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
        self._check_surroundings(touching & varies)
        looked_at = np.flatnonzero(varies & ~touching)
        self.pairs = tuple(self.pairs[k] for k in looked_at)
        self.kept = kept[looked_at]

    def _check_surroundings(self, touching: Array) -> None:
        """An ExcitationError if a link touches what is around in every pose."""
        for k in np.flatnonzero(touching).tolist():
            if any(self.solids[i].surrounding for i in self.pairs[k]):
                raise ExcitationError(
                    f"{self.words(k)} touch in every one of {TRIED_POSES} poses; is it where it "
                    "should be? Move it, place the base elsewhere, or give a smaller radius"
                )

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
        moved: dict[tuple[int, int], Any] = {}

        def placed(pose: int, solid: int) -> Any:
            if (pose, solid) not in moved:
                T = places[pose, solid]
                moved[pose, solid] = coal.Transform3s(T[:3, :3], T[:3, 3])
            return moved[pose, solid]

        request, result, limits = coal.DistanceRequest(), coal.DistanceResult(), self.kept + within
        rows: list[Any] = []
        for pose, pair in np.argwhere(self._culled(places, limits)).tolist():
            i, j = self.pairs[pair]
            one, other = self._geometries[i], self._geometries[j]
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
        near, slope = self.near(q, self.influence), np.zeros_like(q)
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
        J, T = self.robot.link_jacobians(q[poses]), self.robot.link_frames(q[poses])
        links = np.array([solid.link for solid in self.solids])[np.array(self.pairs)[near.pair]]
        result = np.zeros((len(near.pose), q.shape[-1]))
        for side, sign in enumerate((-1.0, 1.0)):
            link = links[:, side]
            jacobian, at = J[row, link], T[row, link, :3, 3]
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

    def check(self, q: Array, what: str) -> None:
        """An ExcitationError if a pose (n,) is nearer to something than it may be."""
        if fault := self.fault(q):
            raise ExcitationError(
                f"{what} is in collision or too near: {fault}; choose another start, a smaller "
                "clearance or radius, or give the geometry of the links"
            )

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
        frames = self.robot.link_frames(q)
        places = np.empty((len(q), len(self.solids), 4, 4))
        for k, solid in enumerate(self.solids):
            T = solid.placement
            places[:, k] = T if solid.link == FIXED else frames[:, solid.link] @ T
        return places

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
    parents = robot.model.parents
    found = []
    for i, one in enumerate(solids):
        for j, other in enumerate(solids[i + 1 :], i + 1):
            if one.link == other.link:
                continue
            joined = one.link >= 0 and parents[one.link] == other.link
            joined |= other.link >= 0 and parents[other.link] == one.link
            if joined and not (one.surrounding or other.surrounding):
                continue
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
