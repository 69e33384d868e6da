"""Inertia: the ten numbers of a rigid body, with the point and the axes they were given in.

Uniform bodies of simple shapes have theirs from a volume, a centre of mass and spreads. The spread
of a body along x is ∫ (x - c)² dm / m, c being its centre of mass. Three spreads along the
principal axes give the tensor: Ixx = m (spread_y + spread_z), and so on. A shape with an axis has
it along z. All are centred at the origin, but a cone stands on it. Solids bounded by triangles have
their second moments from these, which a reader gets from a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_choice, check_constant, check_number, check_truth, frozen
from armdyn.errors import InertiaError, ModelError, check_known, require, shown
from armdyn.model.transform import check_transform, transform

MASS_RANGE = 1e-60, 1e60
"""Masses, besides none [kg]."""
LARGEST_LENGTH = 1e30
"""Longest offset of a joint, a body or a centre of mass, and the largest gravity [m, m/s²]."""
SHAPE_RANGE = 1e-30, LARGEST_LENGTH
"""Lengths of a shape [m]."""
MOMENT_RANGE = 1e-120, 1e120
"""Moments of inertia of rotors and of bodies without mass, besides none [kg m²]. The solution with
a mass matrix multiplies two of them, which stays within the range of floating-point numbers."""
AXES = "zxy"
"""Names of the axes; the index is the number of cyclic steps that take z there."""


def uniform_pseudo(
    name: str,
    spread: tuple[float, float, float],
    volume: float,
    mass: float | None,
    density: float | None,
    axis: str = "z",
    centre: float = 0.0,
) -> Array:
    """The 4x4 pseudo-inertia ∫ r̄ r̄ᵀ dm of a uniform body.

    Args:
        name: What it is called in errors.
        spread: Mean squared distance from the centre of mass along x, y and z [m²].
        volume: Volume [m³]; 0 for a body that has none.
        mass: Mass [kg]; or else density.
        density: Density [kg/m³].
        axis: Where z of the shape points.
        centre: Height of the centre of mass above the origin [m].
    """
    check_choice(f"{name}: axis", axis, sorted(AXES))
    m = given_mass(name, mass, density, volume)
    steps = AXES.index(axis)
    middle = np.append(np.roll([0.0, 0.0, centre], steps), 1.0)
    return m * (np.diag([*np.roll(spread, steps), 0.0]) + np.outer(middle, middle))


def given_mass(what: str, mass: float | None, density: float | None, volume: float) -> float:
    """The mass of a body [kg], of which the mass or the density [kg/m³] is given."""
    if density is not None and not volume:
        raise ModelError(f"{what}: it has no volume and thus no density; give its mass [kg]")
    if (mass is None) == (density is None):
        found = "neither" if mass is None else "both"
        expected = "mass [kg] or density [kg/m³]" if volume else "mass [kg]"
        raise ModelError(f"{what}: give {expected}, one of them; got {found}")
    key, given = ("density", density) if mass is None else ("mass", mass)
    value = _positive(f"{what}: {key}", given)
    m = value if density is None else value * volume
    return _within(f"{what}: its mass", m, "kg", MASS_RANGE)


def _within(what: str, number: float, unit: str, bounds: tuple[float, float]) -> float:
    least, most = bounds
    if not least <= number <= most:
        raise ModelError(
            f"{what} is {number:g} {unit}; {least:g} to {most:g} can be computed with. Check the "
            "units"
        )
    return number


def _positive(what: str, value: object) -> float:
    number = check_number(what, value)
    require(number > 0, what, "a positive number", value, ModelError)
    return number


def check_lengths(shape: str, **given: object) -> list[float]:
    """The lengths of a shape by their names, or a ModelError; `size` and `radii` are three."""
    checked = []
    for key, value in given.items():
        what, three = f"{shape}: {key}", key in ("size", "radii")
        each = check_constant(what, value, (3,)) if three else (value,)  # type: ignore[arg-type]
        checked += [_within(what, _positive(what, one), "m", SHAPE_RANGE) for one in each]
    return checked


SHAPES: dict[str, tuple[str, ...]] = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "tube": ("radius", "inner_radius", "length"),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "cone": ("radius", "length"),
    "ellipsoid": ("radii",),
    "rod": ("length",),
    "point": (),
}
"""Every shape by its name, with the names of its lengths."""
VOLUMELESS = ("rod", "point")
"""Those without a volume."""
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


def check_scale(scale: ArrayLike, units: str = "m") -> Array:
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


DIGITS_TOLERANCE = 1e-6
"""Relative violation that is taken for rounding of the printed digits."""
MOMENT_ROUNDING = 1e-13
"""Relative error of a moment of inertia after it has been carried to another point."""
_AXES = frozen(np.eye(3))


class Principal(NamedTuple):
    """The principal moments of a body and their axes."""

    moments: Array
    """Moments about the centre of mass, the least first, shape (3,) [kg m²]."""
    axes: Array
    """Their axes as columns in the frame of the body, right-handed, shape (3, 3)."""


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Mass, first moment and moment of inertia of a rigid body in one frame.

    `box`, `cylinder`, `tube`, `sphere`, `capsule`, `cone`, `ellipsoid`, `rod`, `point` and `mesh`
    make uniform bodies, from their mass [kg] or their density [kg/m³]; `from_com` and `from_origin`
    take the ten numbers themselves. `moved` and `rotated` put a body elsewhere, `+` joins two and
    `-` cuts a hole.

    Warning:
        `moment` is about the origin of the frame, not about the centre of mass, so that all ten
        numbers enter the torques linearly; `moment_about_com` and `about` give others. Off-diagonal
        entries are tensor entries: minus the integrals of xy dm.

    Example:
        >>> plate = Inertia.box((0.2, 0.1, 0.01), density=2700)
        >>> hole = Inertia.cylinder(0.03, 0.01, density=2700).moved((0.05, 0, 0))
        >>> round((plate - hole).mass, 4)
        0.4637
    """

    mass: float
    """Mass [kg]."""
    first_moment: Array
    """Mass times the position of the centre of mass, shape (3,) [kg m]."""
    moment: Array
    """Inertia tensor about the origin of the frame, shape (3, 3) [kg m²]."""
    given_about: Literal["com", "origin"] = "com"
    """The point about which the tensor was given."""
    given_axes: Array = field(default_factory=lambda: _AXES)
    """The axes in which the tensor was given, as a rotation from them to the frame."""

    @classmethod
    def from_com(
        cls, mass: float, com: ArrayLike, tensor: ArrayLike, axes: ArrayLike | None = None
    ) -> Inertia:
        """Inertia from a tensor about the centre of mass.

        Args:
            mass: Mass [kg].
            com: Centre of mass in the frame, shape (3,) [m].
            tensor: Inertia tensor about the centre of mass, shape (3, 3) [kg m²].
            axes: Rotation from the axes of the tensor to those of the frame; None: the same axes.
        """
        _floats("mass", mass, ())
        c, A = _floats("com", com, (3,)), _AXES
        if axes is not None:
            A = frozen(_floats("axes", axes, (3, 3)))
        with np.errstate(over="ignore", invalid="ignore"):
            centred = A @ _floats("tensor", tensor, (3, 3)) @ A.T
            moment = centred + mass * ((c @ c) * np.eye(3) - np.outer(c, c))
            return cls(mass, frozen(mass * c), frozen(moment), "com", A)

    @classmethod
    def from_origin(cls, mass: float, first_moment: ArrayLike, tensor: ArrayLike) -> Inertia:
        """Inertia from first moment [kg m] and a tensor about the origin of the frame."""
        h, moment = (np.asarray(given) for given in (first_moment, tensor))
        if object not in (h.dtype, moment.dtype):
            h = _floats("first_moment", h, (3,))
            moment = _floats("tensor", moment, (3, 3))
        return cls(mass, frozen(h), frozen(moment), "origin")

    @classmethod
    def from_pseudo(cls, pseudo: Array) -> Self:
        """Inertia from its 4x4 pseudo-inertia (see `pseudo`)."""
        sigma = pseudo[:3, :3]
        moment = np.trace(sigma) * np.eye(3) - sigma
        return cls(pseudo.item(3, 3), frozen(pseudo[:3, 3]), frozen(moment))

    @classmethod
    def zero(cls) -> Inertia:
        """No inertia at all."""
        return cls(0.0, frozen(np.zeros(3)), frozen(np.zeros((3, 3))))

    @classmethod
    def box(
        cls, size: ArrayLike, *, mass: float | None = None, density: float | None = None
    ) -> Self:
        """A box centred at the origin, with the lengths `size` along x, y and z [m]."""
        a, b, c = check_lengths("box", size=size)
        spread = a**2 / 12, b**2 / 12, c**2 / 12
        return cls.from_pseudo(uniform_pseudo("box", spread, a * b * c, mass, density))

    @classmethod
    def ellipsoid(
        cls, radii: ArrayLike, *, mass: float | None = None, density: float | None = None
    ) -> Self:
        """An ellipsoid centred at the origin, with the half axes `radii` along x, y and z [m]."""
        a, b, c = check_lengths("ellipsoid", radii=radii)
        spread, volume = (a**2 / 5, b**2 / 5, c**2 / 5), 4 / 3 * math.pi * a * b * c
        return cls.from_pseudo(uniform_pseudo("ellipsoid", spread, volume, mass, density))

    @classmethod
    def sphere(
        cls, radius: float, *, mass: float | None = None, density: float | None = None
    ) -> Self:
        """A ball centred at the origin, radius [m]."""
        (r,) = check_lengths("sphere", radius=radius)
        spread, volume = (r**2 / 5, r**2 / 5, r**2 / 5), 4 / 3 * math.pi * r**3
        return cls.from_pseudo(uniform_pseudo("sphere", spread, volume, mass, density))

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
        r, h = check_lengths("cylinder", radius=radius, length=length)
        spread, volume = (r**2 / 4, r**2 / 4, h**2 / 12), math.pi * r**2 * h
        return cls.from_pseudo(uniform_pseudo("cylinder", spread, volume, mass, density, axis))

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
        given = {"radius": radius, "inner_radius": inner_radius, "length": length}
        r, i, h = check_lengths("tube", **given)
        if i >= r:
            raise ModelError(f"tube: inner_radius {i:g} m must be less than radius {r:g} m")
        across, volume = (r**2 + i**2) / 4, math.pi * (r - i) * (r + i) * h
        spread = across, across, h**2 / 12
        return cls.from_pseudo(uniform_pseudo("tube", spread, volume, mass, density, axis))

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
        r, h = check_lengths("capsule", radius=radius, length=length)
        middle, ends = math.pi * r**2 * h, 4 / 3 * math.pi * r**3
        volume = middle + ends
        across = (middle * r**2 / 4 + ends * r**2 / 5) / volume
        # of half a ball on its flat side, the mean height is 3r/8, the mean squared height r²/5
        along = (middle * h**2 / 12 + ends * (h**2 / 4 + 3 * h * r / 8 + r**2 / 5)) / volume
        spread = across, across, along
        return cls.from_pseudo(uniform_pseudo("capsule", spread, volume, mass, density, axis))

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
        r, h = check_lengths("cone", radius=radius, length=length)
        spread, volume = (3 * r**2 / 20, 3 * r**2 / 20, 3 * h**2 / 80), math.pi * r**2 * h / 3
        return cls.from_pseudo(uniform_pseudo("cone", spread, volume, mass, density, axis, h / 4))

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
        (h,) = check_lengths("rod", length=length)
        spread = 0.0, 0.0, h**2 / 12
        return cls.from_pseudo(uniform_pseudo("rod", spread, 0.0, mass, density, axis))

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
        m = given_mass("point", mass, density, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # a robot refuses what is not finite
            return cls.from_pseudo(m * np.outer(r, r))

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
        factors = check_scale(scale, units)
        triangles = read_triangles(path, check_truth("hull", hull))
        moments = solid_moments(triangles * factors)
        volume = float(moments[3, 3])
        m = given_mass(f"mesh {path}", mass, density, volume)
        return cls.from_pseudo(m / volume * moments)

    @property
    def com(self) -> Array:
        """Centre of mass [m], shape (3,); the origin if there is no mass."""
        return np.zeros(3) if self._massless else self.first_moment / self.mass

    @property
    def has_com(self) -> bool:
        """Whether there is a centre of mass: a first moment without mass has none."""
        moments = (h for h in self.first_moment if isinstance(h, int | float))
        return not (self._massless and any(moments))

    @property
    def _massless(self) -> bool:
        return isinstance(self.mass, int | float) and self.mass == 0

    @property
    def moment_about_com(self) -> Array:
        """Inertia tensor about the centre of mass, axes of the frame, shape (3, 3) [kg m²]."""
        c = self.com  # parallel axis theorem
        return self.moment - self.mass * ((c @ c) * np.eye(3) - np.outer(c, c))

    @property
    def tensor_as_given(self) -> Array:
        """The tensor about the point and in the axes it was given in."""
        tensor = self.moment_about_com if self.given_about == "com" else self.moment
        return self.given_axes.T @ tensor @ self.given_axes

    @property
    def pseudo(self) -> Array:
        """The 4x4 matrix J = ∫ r̄ r̄ᵀ dm with r̄ = (r, 1); a body can exist iff J ⪰ 0."""
        sigma = 0.5 * np.trace(self.moment) * np.eye(3) - self.moment
        h = self.first_moment[:, None]
        return np.block([[sigma, h], [h.T, np.array([[self.mass]])]])

    @property
    def is_finite(self) -> bool:
        """Whether all ten numbers are finite, and the centre of mass; symbols count as finite."""
        if self.moment.dtype == object:
            return True
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            parts = self.mass, *self.first_moment, *self.com, *self.moment_about_com.flat
        return bool(np.isfinite([*parts, *self.moment.flat]).all())

    @property
    def is_zero(self) -> bool:
        """Whether the body has neither mass nor inertia."""
        return bool(self.mass == 0 and not self.first_moment.any() and not self.moment.any())

    @property
    def fault(self) -> str | None:
        """Why no body can have these ten numbers; None if one can."""
        m, I = self.mass, self.moment_about_com
        # I is a difference of moments about the origin, which leave their rounding in it
        slack = DIGITS_TOLERANCE * float(np.abs(I).max()) + MOMENT_ROUNDING * float(
            np.abs(self.moment).max()
        )
        if m < 0:
            return f"the mass is {m:g} kg; it must be positive"
        if np.abs(I - I.T).max() > slack:
            return f"the inertia tensor {I.tolist()} is not symmetric"
        if m == 0:
            return None
        # the moments of a body that exists are sums of pairs of its spreads, which are positive
        least, middle, largest = np.linalg.eigvalsh(I)
        if least < -slack:
            return (
                "the inertia tensor about the centre of mass is not positive definite: its "
                f"principal moments are {least:.6g}, {middle:.6g}, {largest:.6g} kg m²"
            )
        if largest > (least + middle) * (1 + DIGITS_TOLERANCE) + slack:
            return (
                "the triangle inequality is violated: the largest principal moment about the "
                f"centre of mass, {largest:.6g}, exceeds the sum of the others, {least:.6g} + "
                f"{middle:.6g} kg m² (pseudo-inertia not positive semidefinite); was the tensor "
                "given about another point?"
            )
        return None

    @property
    def principal(self) -> Principal:
        """Principal moments about the centre of mass, and their axes."""
        moments, axes = np.linalg.eigh(self.moment_about_com)
        # eigenvectors have no sign: the largest entry of the first two is made positive
        largest = np.abs(axes).argmax(0)
        axes = axes * np.where(axes[largest, range(3)] < 0, -1.0, 1.0)
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
        return Principal(moments, axes)

    def about(self, point: ArrayLike) -> Array:
        """The inertia tensor about a point of the frame [m], axes of the frame, (3, 3) [kg m²]."""
        return self.moved(-check_constant("point", point, (3,))).moment

    def rotated(self, R: ArrayLike) -> Inertia:
        """The body turned about the origin by a rotation, shape (3, 3)."""
        return self.moved(transform(check_constant("rotation", R, (3, 3))))

    def moved(self, T: ArrayLike) -> Inertia:
        """The same body seen from frame A, where T = T_AB and this inertia is in frame B.

        In other words, the body moved by T, a transform of shape (4, 4), or a displacement [m] of
        shape (3,).
        """
        placed = np.asarray(T)
        if placed.shape == (3,):
            placed = transform(position=check_constant("displacement", T, (3,)))
        elif placed.dtype != object or placed.shape != (4, 4):
            placed = check_transform("transform", placed)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = Inertia.from_pseudo(placed @ self.pseudo @ placed.T)
        axes = frozen(placed[:3, :3] @ self.given_axes)
        return Inertia(self.mass, moved.first_moment, moved.moment, self.given_about, axes)

    def __add__(self, other: Inertia) -> Inertia:
        if not isinstance(other, Inertia):
            return NotImplemented
        return Inertia(
            self.mass + other.mass,
            frozen(self.first_moment + other.first_moment),
            frozen(self.moment + other.moment),
        )

    def __radd__(self, other: Any) -> Inertia:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum() begins so

    def __sub__(self, hole: Inertia) -> Inertia:
        if not isinstance(hole, Inertia):
            return NotImplemented
        rest = self + Inertia(-hole.mass, -hole.first_moment, -hole.moment)
        why = rest.fault if rest.mass > DIGITS_TOLERANCE * self.mass else "no mass is left"
        if why is not None:
            raise InertiaError(
                f"a body of {hole.mass:g} kg cannot be cut out of one of {self.mass:g} kg: {why}. "
                "Is the hole inside the body, and of the same density?"
            )
        return rest

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, Inertia)
            and self.mass == other.mass
            and np.array_equal(self.first_moment, other.first_moment)
            and np.array_equal(self.moment, other.moment)
        )

    __hash__ = None  # type: ignore[assignment]


def _floats(what: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Floating-point numbers of that shape, or a ModelError."""
    try:
        given = np.asarray(value)
        known = given.dtype.kind in "iufO" and None not in given.ravel().tolist()
        array = given.astype(float) if known else np.zeros(0)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    require(array.shape == shape, what, f"numbers of shape {shape}", value, ModelError)
    return array
