"""A robot in symbols, as data."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.graph.ring import Coefficients, Harmonic, Ring, Trig, evaluate
from armdyn.model import RobotModel

CANCELLATION_TOLERANCE = 1e-13
"""A sum that is smaller, relative to its terms, is zero."""
Sum = tuple[tuple[int, int], ...]
"""An angle as a sum of joints: (joint number from 1, sign) from the first to the last."""


@dataclass(frozen=True, slots=True)
class Angle:
    """A whole combination of the angles of a ring, which has a cosine and a sine."""

    ring: Ring
    multiples: Mapping[int, int]
    position: Trig | None = None
    """The position of a helical joint as a symbol; None for other joints."""

    def cos(self) -> Trig:
        """The cosine; `np.cos` calls it."""
        return self.ring.cos(self.multiples)

    def sin(self) -> Trig:
        """The sine; `np.sin` calls it."""
        return self.ring.sin(self.multiples)

    def __mul__(self, pitch: Trig) -> Trig:
        """The distance that a helical joint slides."""
        assert self.position is not None
        return self.position * pitch


@dataclass(frozen=True, eq=False)
class SymbolicRobot:
    """The robot in symbols."""

    ring: Ring
    parts: list[tuple[list[int], RobotModel]]
    """One model for each joint on the base, with the joints that it has."""
    q: list[Any]
    """Each joint's position: an Angle, or a symbol where it slides."""
    sums: dict[int, Sum]
    """The joints that an angle of the ring sums up, by its place; constant angles have none."""
    rotors: Array
    """What rotors add to the mass matrix, (N, N)."""
    values: dict[str, float]
    """Values of symbols and of constant angles."""
    offsets: dict[int, float]
    """Constant that is added to q before its cosine is taken, by joint; no quarter turns [rad]."""
    tool: Array
    """Position of the tool in the canonical frame of its link, (3,)."""
    numbers: tuple[int, ...] = ()
    """The numbers of the joints that are coordinates; none: all of them are."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.q)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The number of the joint of each coordinate, from 1."""
        return self.numbers or tuple(range(1, self.n + 1))

    @property
    def shifts(self) -> dict[int, float]:
        """What is added to the position of a joint in every sum that has it, by its number."""
        if self.numbers:
            return {i + 1: x for i, x in self.offsets.items()}
        signs = {j: s for sums in self.sums.values() for j, s in sums}
        return {i + 1: signs[i + 1] * x for i, x in self.offsets.items()}

    def positions(self, joints: Sequence[int]) -> Array:
        """The positions of some joints, an object array."""
        return np.array([self.q[i] for i in joints], dtype=object)

    def slope(self, value: Trig, joint: int) -> Trig:
        """The derivative by a coordinate, counted from 0."""
        number = self.coordinates[joint]
        total, name = self.ring.number(0), f"q{number}"
        if name in self.ring.place:
            total = value.slope_of_symbol(name)
        for place, angles in self.sums.items():
            if sign := dict(angles).get(number, 0):
                total = total + sign * value.slope_of_angle(place)
        return total

    def numeric(self, value: Trig) -> Trig:
        """The polynomial with the values of all parameters and constant angles put in."""
        sums: dict[tuple[Harmonic, int], Fraction] = defaultdict(Fraction)
        sizes: dict[tuple[Harmonic, int], Fraction] = defaultdict(Fraction)
        for harmonic, packed, coefficient in value:
            number, exponents = coefficient, self.ring.exponents(packed)
            for name in exponents.keys() & self.values.keys():
                number *= Fraction(self.values[name]) ** exponents.pop(name)
            for place, w in enumerate(harmonic):
                if w and place not in self.sums:
                    angle = self.values[self.ring.angles[place]]
                    number *= Fraction(math.cos(w * angle) if w > 0 else math.sin(-w * angle))
            moving = tuple(w if place in self.sums else 0 for place, w in enumerate(harmonic))
            key = moving, self.ring.monomial(exponents)
            sums[key] += number
            sizes[key] += abs(number)
        terms: dict[Harmonic, Coefficients] = defaultdict(dict)
        for (harmonic, packed), number in sums.items():
            if abs(number) > CANCELLATION_TOLERANCE * sizes[harmonic, packed]:
                terms[harmonic][packed] = number
        return Trig(self.ring, dict(terms))

    def evaluate(
        self,
        value: Any,
        q: npt.ArrayLike,
        qd: npt.ArrayLike | None = None,
        qdd: npt.ArrayLike | None = None,
    ) -> Array:
        """The numbers that polynomials of any shape (...) are at a state, (batch..., ...).

        Positions [rad or m], velocities and accelerations are (batch..., N); without these two the
        robot is at rest.
        """
        q = np.asarray(q, float)
        symbols: dict[str, Any] = dict(self.values)
        for name, given in (("q", q), ("qd", qd), ("qdd", qdd)):
            rates = np.zeros_like(q) if given is None else np.broadcast_to(given, q.shape)
            symbols |= {f"{name}{j}": rates[..., i] for i, j in enumerate(self.coordinates)}
        at = {j: i for i, j in enumerate(self.coordinates)}
        angles = [
            sum(sign * q[..., at[j]] + self._offset(j, sign) for j, sign in self.sums[k])
            if k in self.sums
            else np.full(q.shape[:-1], self.values[name])
            for k, name in enumerate(self.ring.angles)
        ]
        return evaluate(value, angles, symbols, q.shape[:-1])

    def _offset(self, joint: int, ratio: int) -> float:
        """What an angle has of the offset of a joint: of a coordinate as often as it has this."""
        offset = self.offsets.get(joint - 1, 0.0)
        return ratio * offset if self.numbers else offset
