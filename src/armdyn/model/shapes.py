"""Uniform bodies of simple shapes: the volume, the centre of mass and the spread of each.

The spread of a body along x is ∫ (x - c)² dm / m, c being its centre of mass. Three spreads along
the principal axes give the tensor: Ixx = m (spread_y + spread_z), and so on. A shape with an axis
has it along z. All are centred at the origin, but a cone stands on it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, check_number
from armdyn.errors import ModelError, is_one_of, shown
from armdyn.model.ranges import MASS_RANGE, SHAPE_RANGE

AXES = "zxy"
"""Names of the axes; the index is the number of cyclic steps that take z there."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A uniform body of any mass."""

    name: str
    spread: tuple[float, float, float]
    """Mean squared distance from the centre of mass along x, y and z [m²]."""
    volume: float = 0.0
    """Volume [m³]; 0 for a body that has none."""
    centre: float = 0.0
    """Height of the centre of mass above the origin [m]."""

    def pseudo(self, mass: float | None, density: float | None, axis: str = "z") -> Array:
        """The 4x4 pseudo-inertia ∫ r̄ r̄ᵀ dm of a body with a mass [kg] or a density [kg/m³]."""
        if not is_one_of(axis, tuple(AXES)):
            raise ModelError(f"{self.name}: axis must be 'x', 'y' or 'z', got {shown(axis)}")
        m = given_mass(self.name, mass, density, self.volume)
        steps = AXES.index(axis)
        centre = np.append(np.roll([0.0, 0.0, self.centre], steps), 1.0)
        return m * (np.diag([*np.roll(self.spread, steps), 0.0]) + np.outer(centre, centre))


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
    if number <= 0:
        raise ModelError(f"{what}: expected a positive number, got {shown(value)}")
    return number


def _length(what: str, value: object) -> float:
    return _within(what, _positive(what, value), "m", SHAPE_RANGE)


def _three(what: str, value: npt.ArrayLike) -> list[float]:
    return [_length(what, length) for length in check_constant(what, value, (3,))]


def box(size: npt.ArrayLike) -> Shape:
    """A box with the lengths `size` along x, y and z [m]."""
    a, b, c = _three("box: size", size)
    return Shape("box", (a**2 / 12, b**2 / 12, c**2 / 12), a * b * c)


def ellipsoid(radii: npt.ArrayLike) -> Shape:
    """An ellipsoid with the half axes `radii` along x, y and z [m]."""
    a, b, c = _three("ellipsoid: radii", radii)
    return Shape("ellipsoid", (a**2 / 5, b**2 / 5, c**2 / 5), 4 / 3 * math.pi * a * b * c)


def sphere(radius: float) -> Shape:
    """A ball."""
    r = _length("sphere: radius", radius)
    return Shape("sphere", (r**2 / 5,) * 3, 4 / 3 * math.pi * r**3)


def cylinder(radius: float, length: float) -> Shape:
    """A cylinder about z."""
    r = _length("cylinder: radius", radius)
    h = _length("cylinder: length", length)
    return Shape("cylinder", (r**2 / 4, r**2 / 4, h**2 / 12), math.pi * r**2 * h)


def tube(radius: float, inner_radius: float, length: float) -> Shape:
    """A hollow cylinder about z, open at both ends."""
    r = _length("tube: radius", radius)
    i = _length("tube: inner_radius", inner_radius)
    h = _length("tube: length", length)
    if i >= r:
        raise ModelError(f"tube: inner_radius {i:g} m must be less than radius {r:g} m")
    across = (r**2 + i**2) / 4
    return Shape("tube", (across, across, h**2 / 12), math.pi * (r - i) * (r + i) * h)


def capsule(radius: float, length: float) -> Shape:
    """A cylinder about z, `length` without its two half balls."""
    r, h = _length("capsule: radius", radius), _length("capsule: length", length)
    middle, ends = math.pi * r**2 * h, 4 / 3 * math.pi * r**3
    volume = middle + ends
    across = (middle * r**2 / 4 + ends * r**2 / 5) / volume
    # of half a ball on its flat side, the mean height is 3r/8, the mean squared height r²/5
    along = (middle * h**2 / 12 + ends * (h**2 / 4 + 3 * h * r / 8 + r**2 / 5)) / volume
    return Shape("capsule", (across, across, along), volume)


def cone(radius: float, length: float) -> Shape:
    """A cone with its base around the origin and its tip at z = `length`."""
    r, h = _length("cone: radius", radius), _length("cone: length", length)
    across = 3 * r**2 / 20
    return Shape("cone", (across, across, 3 * h**2 / 80), math.pi * r**2 * h / 3, h / 4)


def rod(length: float) -> Shape:
    """A thin rod along z, without volume."""
    return Shape("rod", (0.0, 0.0, _length("rod: length", length) ** 2 / 12))


def point() -> Shape:
    """A mass at one point, without volume."""
    return Shape("point", (0.0, 0.0, 0.0))


SHAPES: dict[str, Callable[..., Shape]] = {
    make.__name__: make
    for make in (box, cylinder, tube, sphere, capsule, cone, ellipsoid, rod, point)
}
"""Every shape by its name; the parameters of its function are its lengths."""
