"""Solids bounded by triangles: their second moments, and the reader that gets them from a file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant
from armdyn.errors import ModelError, check_known, shown
from armdyn.model.ranges import SHAPE_RANGE
from armdyn.model.transform import transform

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
"""Length of each unit in which a mesh may be drawn [m]."""

TriangleReader = Callable[[str | Path, bool], Array]
"""The corners of the triangles of a mesh file, (f, 3, 3), wound so that their normals point out;
the flag asks for the convex hull. Anything else that a file may have in it is an error."""
_readers: list[TriangleReader] = []


def use_reader(reader: TriangleReader) -> TriangleReader:
    """Let `Inertia.mesh` read files by this function; reading belongs to the room `io`."""
    _readers[:] = [reader]
    return reader


def read_triangles(path: str | Path, hull: bool) -> Array:
    """The triangles of a mesh file, by the reader in use."""
    return _readers[0](path, hull)


def check_scale(scale: npt.ArrayLike, units: str = "m") -> Array:
    """Factors from the numbers of a mesh to metres along x, y and z; negative ones mirror it."""
    check_known("unit of length", units, UNITS)
    given = check_constant(
        "scale", np.broadcast_to(scale, 3) if np.ndim(scale) == 0 else scale, (3,)
    )
    factors = given * UNITS[units]
    least, most = SHAPE_RANGE
    if not np.all((np.abs(factors) >= least) & (np.abs(factors) <= most)):
        raise ModelError(
            f"scale: expected sizes from {least:g} to {most:g}, got {shown(given.tolist())}"
        )
    return factors


def solid_moments(triangles: Array) -> Array:
    """∫ r̄ r̄ᵀ dV with r̄ = (r, 1) over the solid that triangles bound, (4, 4).

    It is the sum over the tetrahedra from one point to every triangle, with the sign of their
    volumes. The point is amid the triangles, so that no digits are lost far from the origin. All
    normals point out, or all point in, as those of a mirrored solid do.
    """
    amid = triangles.mean((0, 1))
    r = triangles - amid
    six = np.linalg.det(r)
    ends = np.concatenate([r, r.sum(1, keepdims=True)], axis=1)  # three corners, and their sum
    squares = (six[:, None, None] * ends).reshape(-1, 3).T @ ends.reshape(-1, 3)
    first, volume = six @ ends[:, 3] / 24, six.sum() / 6
    moments = np.block([[squares / 120, first[:, None]], [first, volume]])
    back = transform(position=amid)
    moved = np.sign(volume) * back @ moments @ back.T
    return 0.5 * (moved + moved.T)
