"""Constructors of uniform bodies, which `Inertia` offers as its own."""

from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_constant, check_truth
from armdyn.model import mesh, shapes


class UniformBodies:
    """A body of each shape, of a mass [kg] or a density [kg/m³]."""

    __slots__ = ()

    @classmethod
    def from_pseudo(cls, pseudo: Array) -> Self:
        """A body from its 4x4 pseudo-inertia."""
        raise NotImplementedError

    @classmethod
    def box(
        cls, size: ArrayLike, *, mass: float | None = None, density: float | None = None
    ) -> Self:
        """A box centred at the origin, with the lengths `size` along x, y and z [m]."""
        return cls.from_pseudo(shapes.box(size).pseudo(mass, density))

    @classmethod
    def ellipsoid(
        cls, radii: ArrayLike, *, mass: float | None = None, density: float | None = None
    ) -> Self:
        """An ellipsoid centred at the origin, with the half axes `radii` along x, y and z [m]."""
        return cls.from_pseudo(shapes.ellipsoid(radii).pseudo(mass, density))

    @classmethod
    def sphere(
        cls, radius: float, *, mass: float | None = None, density: float | None = None
    ) -> Self:
        """A ball centred at the origin, radius [m]."""
        return cls.from_pseudo(shapes.sphere(radius).pseudo(mass, density))

    @classmethod
    def cylinder(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        axis: str = "z",
    ) -> Self:
        """A cylinder centred at the origin [m], along the axis "x", "y" or "z"."""
        return cls.from_pseudo(shapes.cylinder(radius, length).pseudo(mass, density, axis))

    @classmethod
    def tube(
        cls,
        radius: float,
        inner_radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        axis: str = "z",
    ) -> Self:
        """A hollow cylinder without lids, centred at the origin; `radius` is the outer one [m]."""
        return cls.from_pseudo(
            shapes.tube(radius, inner_radius, length).pseudo(mass, density, axis)
        )

    @classmethod
    def capsule(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        axis: str = "z",
    ) -> Self:
        """A cylinder with round ends, centred at the origin; `length` is without the ends [m]."""
        return cls.from_pseudo(shapes.capsule(radius, length).pseudo(mass, density, axis))

    @classmethod
    def cone(
        cls,
        radius: float,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        axis: str = "z",
    ) -> Self:
        """A cone with its base around the origin and its tip at `length` on the axis [m]."""
        return cls.from_pseudo(shapes.cone(radius, length).pseudo(mass, density, axis))

    @classmethod
    def rod(
        cls,
        length: float,
        *,
        mass: float | None = None,
        density: float | None = None,
        axis: str = "z",
    ) -> Self:
        """A thin rod centred at the origin [m]; it has no volume and takes a mass alone."""
        return cls.from_pseudo(shapes.rod(length).pseudo(mass, density, axis))

    @classmethod
    def point(
        cls,
        position: ArrayLike = (0, 0, 0),
        *,
        mass: float | None = None,
        density: float | None = None,
    ) -> Self:
        """A mass at a position [m]; it has no volume and takes a mass alone."""
        r = (*check_constant("point: position", position, (3,)), 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # a robot refuses what is not finite
            return cls.from_pseudo(shapes.point().pseudo(mass, density)[3, 3] * np.outer(r, r))

    @classmethod
    def mesh(
        cls,
        path: str | Path,
        *,
        mass: float | None = None,
        density: float | None = None,
        scale: ArrayLike = 1.0,
        units: str = "m",
        hull: bool = False,
    ) -> Self:
        """The solid that a mesh file bounds: .stl, .obj, .ply, .off, .glb or .dae (trimesh).

        Args:
            path: The file.
            mass: Mass [kg]; or else density.
            density: Density [kg/m³].
            scale: A factor for the numbers of the file, or three; negative ones mirror the solid.
            units: In what the file is drawn: "m", "dm", "cm", "mm", "in" or "ft".
            hull: Whether the convex hull is meant, which any mesh has.

        Raises:
            MeshError: The file cannot be read, or its triangles bound no volume.
        """
        factors = mesh.check_scale(scale, units)
        triangles = mesh.read_triangles(path, check_truth("hull", hull))
        moments = mesh.solid_moments(triangles * factors)
        volume = float(moments[3, 3])
        m = shapes.given_mass(f"mesh {path}", mass, density, volume)
        return cls.from_pseudo(m / volume * moments)
