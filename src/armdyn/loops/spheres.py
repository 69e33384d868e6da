"""Three rods that meet at a platform on slides, as in a delta robot: where three spheres meet.

A rod hangs at an elbow on two axes that cross at right angles, and ends at a ball. What the slides
move is at x with |x - c_i| = L_i, c_i the elbow less the ball of the platform. With u = c_1 - c_0,
w = c_2 - c_0, n = u × w, N = n·n

    p = (u·u + L_0² - L_1²)/2         r = (w·w + L_0² - L_2²)/2
    α = (p w·w - r u·w)/N             β = (r u·u - p u·w)/N
    D = ±√((L_0² - α p - β r) N)      x = c_0 + α u + β w + (D/N) n

where D is the determinant of the three rods, whose sign is that of the assembly. Then each rod is
turned about its axes a and b, c = b × a, to where it points.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import WorldFrames, world_frames
from armdyn.formulations.spatial import cross, dot, rotate, rotate_back, times
from armdyn.graph.nodes import Node
from armdyn.loops.values import Values, stacked
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.transform import IDENTITY

NORMAL = 1e-12
"""Cosine of the angle of axes that are normal, and distance of those that cross [m]."""


@record(eq=False)
class DeltaRod:
    """A rod on two axes, and where it ends."""

    joints: tuple[int, int]
    axes: Array
    """a, b and c in rows, in the frame on the first joint, (3, 3)."""
    end: Array
    """The ball along these where the second joint is at zero, (3,) [m]."""
    tip: Array
    """The ball in the frame on the second joint, (3,) [m]."""
    ball: Array
    """The ball in the frame on the joint of the platform, (3,) [m]."""
    rows: Array
    """From the axes of the rows of its loop to those of the platform, (3, 3)."""
    sign: float = 1.0
    """On which side of the plane of a and b the rod is in the assembly."""

    @property
    def square(self) -> float:
        """Of its length."""
        return float(self.end @ self.end)

    def angles(self, d: Array) -> tuple[Any, Any]:
        """The positions of its joints where its end is at d in the frame on the first, (..., 3)."""
        m, db, dc = (dot(axis, d) for axis in self.axes)
        ra, rb, rc = self.end.tolist()
        over = ra * ra + rc * rc
        h = self.sign * np.sqrt(over - m * m)
        second = _angle((ra * h - rc * m) / over, (ra * m + rc * h) / over)
        around = 1.0 / (rb * rb + h * h)
        return _angle((h * db - rb * dc) * around, (rb * db + h * dc) * around), second


@record(eq=False)
class Spheres:
    """The joints of three rods and of the slides that carry their platform."""

    model: RobotModel
    """The robot, whose base is where the world is."""
    slides: tuple[int, ...]
    rods: tuple[DeltaRod, ...]
    sign: float = 1.0
    """Of the determinant of the rods in the assembly."""

    @property
    def unknown(self) -> tuple[int, ...]:
        """The joints that follow."""
        return (*self.slides, *(i for rod in self.rods for i in rod.joints))

    def at(self, values: Values) -> None:
        """Write the positions of the joints, where those of all others are known."""
        values[:] = [0.0 * x if i in self.unknown else x for i, x in enumerate(values)]
        frames = world_frames(self.model, stacked(values))
        R, O = frames.link(self.slides[-1])
        centres = [frames.O[x.joints[0]] - (O + rotate(R, x.ball)) for x in self.rods]
        x = self._meeting(centres)
        for k in self.slides:
            values[k] = np.asarray(dot(frames.z[k], x))[()]
        for rod, centre in zip(self.rods, centres, strict=True):
            d = rotate_back(frames.R[rod.joints[0]], x - centre)
            for k, angle in zip(rod.joints, rod.angles(d), strict=True):
                values[k] = angle

    def _meeting(self, centres: Sequence[Array]) -> Array:
        """The point on all spheres, (..., 3)."""
        u, w = centres[1] - centres[0], centres[2] - centres[0]
        n, (L0, L1, L2) = cross(u, w), (rod.square for rod in self.rods)
        uu, ww, uw, over = dot(u, u), dot(w, w), dot(u, w), 1.0 / dot(n, n)
        p, r = 0.5 * (uu + (L0 - L1)), 0.5 * (ww + (L0 - L2))
        alpha, beta = (p * ww - r * uw) * over, (r * uu - p * uw) * over
        height = self.sign * np.sqrt((L0 - alpha * p - beta * r) * over)
        return centres[0] + times(alpha, u) + times(beta, w) + times(height, n)


class RodSystem:
    """The linear system of the rates of rods, which a product along each rod takes apart.

    With the rows a × l φ̇ + b × l ψ̇ - ẋ = v of each rod l, and h = l · (b × a)

        l_i · ẋ = -l_i · v_i      φ̇ = b · (v + ẋ)/h      ψ̇ = -a · (v + ẋ)/h
    """

    def __init__(self, spheres: Spheres, q: Array, columns: Sequence[int]):
        """Stand at positions of all joints, (..., N); the columns are those of these joints."""
        self.spheres, self.columns = spheres, columns
        frames = world_frames(spheres.model, q)
        pairs = [rod.joints for rod in spheres.rods]
        self.turn = frames.link(spheres.slides[-1])[0]
        """From the axes of the platform to those of the base, (..., 3, 3)."""
        self.z = [frames.z[k] for k in spheres.slides]
        self.a, self.b = ([frames.z[pair[k]] for pair in pairs] for k in (0, 1))
        self.l = l = [rotate(frames.R[rod.joints[1]], rod.tip) for rod in spheres.rods]
        self.m = [cross(l[1], l[2]), cross(l[2], l[0]), cross(l[0], l[1])]
        self.over = 1.0 / dot(l[0], self.m[0])
        crossing = (cross(b, a) for a, b in zip(self.a, self.b, strict=True))
        self.h = [1.0 / dot(x, c) for x, c in zip(l, crossing, strict=True)]

    def solve(self, rows: Values) -> Values:
        """The rates for what the rows are, in the order of the columns."""
        v = [
            rotate(self.turn, rotate(rod.rows, stacked(rows[3 * i : 3 * i + 3])))
            for i, rod in enumerate(self.spheres.rods)
        ]
        along = zip(self.l, v, self.m, strict=True)
        x0, x1, x2 = (times(self.over * dot(l, part), m) for l, part, m in along)
        x = -(x0 + x1 + x2)
        found = {k: dot(z, x) for k, z in zip(self.spheres.slides, self.z, strict=True)}
        for i, rod in enumerate(self.spheres.rods):
            first, second = rod.joints
            found[first] = self.h[i] * dot(self.b[i], v[i] + x)
            found[second] = -(self.h[i] * dot(self.a[i], v[i] + x))
        return [np.asarray(found[k])[()] for k in self.columns]

    def solve_transposed(self, torques: Values) -> Values:
        """The forces of the rows that hold these torques, which stand in the order of columns."""
        tau = dict(zip(self.columns, torques, strict=True))
        across = []
        for i, rod in enumerate(self.spheres.rods):
            first, second = (self.h[i] * tau[k] for k in rod.joints)
            across.append(times(first, self.b[i]) - times(second, self.a[i]))
        slides = zip(self.spheres.slides, self.z, strict=True)
        s0, s1, s2 = (times(tau[k], z) for k, z in slides)
        force = -(s0 + s1 + s2 + across[0] + across[1] + across[2])
        found: Values = []
        for rod, part, l, m in zip(self.spheres.rods, across, self.l, self.m, strict=True):
            whole = part + times(self.over * dot(m, force), l)
            on_rows = rotate_back(rod.rows, rotate_back(self.turn, whole))
            found += [on_rows[..., k][()] for k in range(3)]
        return found


def _angle(sine: Any, cosine: Any) -> Any:
    sine, cosine = np.asarray(sine)[()], np.asarray(cosine)[()]
    return sine.graph.angle(sine, cosine) if isinstance(sine, Node) else np.arctan2(sine, cosine)


def spheres_of(
    model: RobotModel, loops: Sequence[Loop], known: set[int], assembly: Array
) -> Spheres | None:
    """Three loops of rods to one platform; None if they are none. `known` joints need nothing."""
    around = [_ends(model, loop) for loop in loops]
    if len(around) != 3 or None in around:
        return None
    ends = [x for x in around if x is not None]
    platform = ends[0][2]
    slides = tuple(i for i in model.paths[platform] if i not in known)
    kinds = [model.joints[i].type for i in slides]
    if len(slides) != 3 or any(kind.turns or kind.slide != 1.0 for kind in kinds):
        return None
    model = replace(model, base=IDENTITY)
    frames = world_frames(model, assembly)
    axes = np.stack([frames.z[i] for i in slides])
    alone = {*slides, *(i for x in ends for i in x[0])}
    if {i for i in range(len(model.joints)) if i not in known} != alone or (
        any(x[2] != platform for x in ends) or np.abs(axes @ axes.T - np.eye(3)).max() > NORMAL
    ):
        return None
    rods = [
        _rod(model, x[0], x[1], x[3], y.frame_b[:3, :3]) for x, y in zip(ends, loops, strict=True)
    ]
    if any(rod is None for rod in rods):
        return None
    return _assembled(Spheres(model, slides, tuple(x for x in rods if x)), frames, assembly)


def _assembled(spheres: Spheres, frames: WorldFrames, assembly: Array) -> Spheres:
    """The same with the signs of the assembly."""
    R, O = frames.link(spheres.slides[-1])
    along = [O + R @ rod.ball - frames.O[rod.joints[0]] for rod in spheres.rods]
    rods = []
    for rod in spheres.rods:
        (ra, _, rc), turn = rod.end.tolist(), assembly[rod.joints[1]]
        rods.append(replace(rod, sign=float(np.sign(ra * np.sin(turn) + rc * np.cos(turn)))))
    return replace(spheres, rods=tuple(rods), sign=float(np.sign(np.linalg.det(along))))


def _ends(model: RobotModel, loop: Loop) -> tuple[tuple[int, int], Array, int, Array] | None:
    """The joints of a rod and its end, and the link and place where it is held, of one loop."""
    if loop.cut is not CUT_JOINTS["spherical"]:
        return None
    path = model.paths[loop.link_a] if loop.link_a >= 0 else ()
    turning = [model.joints[i].type.only_turns and i in model.passive for i in path[-2:]]
    if turning != [True, True] or loop.link_b < 0:
        return None
    return (path[-2], path[-1]), loop.frame_a[:3, 3], loop.link_b, loop.frame_b[:3, 3]


def _rod(
    model: RobotModel, joints: tuple[int, int], end: Array, ball: Array, rows: Array
) -> DeltaRod | None:
    """The rod on two axes; None if these do not cross at right angles."""
    placement = model.joints[joints[1]].placement
    a, b = model.joints[joints[0]].axis, placement[:3, :3] @ model.joints[joints[1]].axis
    if abs(a @ b) > NORMAL or np.abs(placement[:3, 3]).max() > NORMAL:
        return None
    axes = np.stack([a, b, np.cross(b, a)])
    return DeltaRod(joints, axes, axes @ placement[:3, :3] @ end, end, ball, rows)
