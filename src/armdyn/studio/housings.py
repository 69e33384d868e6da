"""The bodies of an arm without meshes: tapered housings between joints, and a flange."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.studio.shapes import Rod

SIDES = 40
"""Corners of a circle."""
WIDE, TALL = 1.2, 1.75
"""Radius and height of the end of a housing, in radii of its link: within the joint there."""
CHAMFER = 0.28
"""How much of its radius an edge loses."""
SMOOTH_ANGLE = 0.45
"""Faces that meet at less look like one [rad]."""


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """A body as triangles."""

    vertices: Array
    """Shape (v, 3) [m]."""
    faces: Array
    """Shape (f, 3)."""


def housing(rod: Rod) -> Triangles:
    """The hull of both ends of a rod: round about the axis of each joint."""
    radii = rod.radius, rod.radius if rod.radius_b is None else rod.radius_b
    ends = ((rod.a, rod.axis_a), (rod.b, rod.axis_b))
    corners = [
        end + _end(axis, r, rod.b - rod.a) for (end, axis), r in zip(ends, radii, strict=True)
    ]
    return _hull(np.concatenate(corners))


def disc(radius: float, height: float) -> Triangles:
    """A disc about z with broken edges, its upper face in the origin."""
    rings = _rings(radius, height, 0.15 * min(radius, height))
    return _hull(rings - [0.0, 0.0, 0.5 * height])


def _end(axis: Array | None, r: float, along: Array) -> Array:
    """Corners of one end about its point, (k, 3): a drum about an axis, or a ball."""
    if axis is None:
        angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
        rings = [
            _rings(max(r * np.cos(a), 1e-3 * r), 0.0, 0.0) + np.array([0, 0, r * np.sin(a)])
            for a in angles
        ]
        return np.concatenate(rings)
    z = axis / np.linalg.norm(axis)
    x = along - (along @ z) * z  # one corner along the rod, so that both ends fit
    if np.linalg.norm(x) < 1e-6 * np.linalg.norm(along):
        x = np.cross(z, np.eye(3)[int(np.abs(z).argmin())])
    x = x / np.linalg.norm(x)
    drum = _rings(WIDE * r, TALL * r, CHAMFER * r)
    return np.asarray(drum @ np.stack([x, np.cross(z, x), z]))


def _rings(radius: float, height: float, chamfer: float) -> Array:
    """Corners of a drum about z, (k, 3)."""
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    inner, upper = 0.5 * height - chamfer, 0.5 * height
    rings = [
        np.concatenate([radius * circle + [0, 0, s * inner],
                        (radius - chamfer) * circle + [0, 0, s * upper]])
        for s in (-1, 1)
    ]  # fmt: skip
    return np.concatenate(rings)


def _hull(points: Array) -> Triangles:
    """The hull of points, whose corners are shared only where faces meet at a small angle."""
    import trimesh  # noqa: PLC0415 (slow to import)

    cloud: Any = trimesh.PointCloud
    shaded = trimesh.graph.smooth_shade(
        cloud(points).convex_hull, angle=SMOOTH_ANGLE, facet_minarea=None
    )
    return Triangles(np.asarray(shaded.vertices), np.asarray(shaded.faces))
