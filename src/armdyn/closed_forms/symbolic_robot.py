"""A robot whose numbers are symbols and whose angles are angles of a ring.

Fed to a formulation, it gives that formulation's result as trigonometric polynomials. Along axes
that stay parallel the angles of the ring are sums, φ3 = q1 + q2 + q3, because these are the angles
of the links; so C1 C2 - S1 S2 becomes C12 by itself.
"""

import math
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen
from armdyn.closed_forms.letters import Letters, fitting
from armdyn.errors import ArmdynWarning
from armdyn.forks import cached_property
from armdyn.formulations.rotors import rotor_matrix
from armdyn.graph.ring import Coefficients, Harmonic, Ring, Trig, evaluate
from armdyn.model import RobotModel
from armdyn.model.transform import inverse
from armdyn.shorten.canonical.frames import (
    CanonicalLink,
    CanonicalRobot,
    canonical,
    canonical_frames,
    is_quarter,
)
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.canonical.parameters import ENTRIES, link_numbers, parameters

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
    """What is added to q in every angle that has it, by number of the joint; no quarter turns
    [rad]."""
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
            sum(r * q[..., at[j]] + r * self.offsets.get(j, 0.0) for j, r in self.sums[k])
            if k in self.sums
            else np.full(q.shape[:-1], self.values[name])
            for k, name in enumerate(self.ring.angles)
        ]
        return evaluate(value, angles, symbols, q.shape[:-1])


TOOL = ("xt", "yt", "zt")
"""The position of the tool in the canonical frame of the link that carries it [m]."""
_TOOL_ROUNDING = 1e-12
"""A smaller coordinate of the tool is rounding [m]."""


def symbolise(
    model: RobotModel, letters: Mapping[str, str] | None = None, variables: Collection[str] = ()
) -> SymbolicRobot:
    """The robot in symbols: zeros and quarter turns stay numbers, everything else gets a name.

    Without letters those of the model are used, as far as they still fit it, with a warning about
    the others. Variables are symbols although their value is zero.
    """
    robot = canonical(model)
    known = parameters(model, robot)
    gravity = dict(_gravity(robot))
    known |= {name: abs(value) for name, value in gravity.values() if value}
    known |= _tool(model)
    if letters is None:
        spoken, reasons = fitting(model.letters, known, variables)
        if reasons:
            warnings.warn(
                f"robot {model.name!r}: some of its letters do not fit it any more and are left "
                f"out: {'; '.join(reasons)}",
                ArmdynWarning,
                stacklevel=2,
            )
    else:
        spoken = Letters(letters, known, variables)
    made = _Symboliser(model, robot, spoken, known, frozenset(variables), gravity)
    return made.symbolic_robot()


def _tool(model: RobotModel) -> dict[str, float]:
    """Where the tool is, if a moving link carries it."""
    tool = model.tool_frame
    if tool.link < 0:
        return {}
    position = (inverse(canonical_frames(model)[tool.link]) @ tool.placement)[:3, 3]
    named = zip(TOOL, position, strict=True)
    return {name: 0.0 if abs(p) < _TOOL_ROUNDING else float(p) for name, p in named}


def _gravity(robot: CanonicalRobot) -> Iterator[tuple[tuple[int, int], tuple[str, float]]]:
    """For each joint on the base and each axis the name and the value of gravity."""
    roots = [i for i, link in enumerate(robot.links) if link.parent < 0]
    alone = all(np.count_nonzero(robot.links[i].gravity) <= 1 for i in roots)
    for i in roots:
        for axis, value in enumerate(robot.links[i].gravity):
            name = f"g{'xyz'[axis]}" + (str(i + 1) if len(roots) > 1 else "")
            yield (i, axis), ("g" if alone else name, float(value))


@dataclass(frozen=True, eq=False)
class _Symboliser:
    model: RobotModel
    robot: CanonicalRobot
    letters: Letters
    known: dict[str, float]
    variables: frozenset[str]
    gravity: dict[tuple[int, int], tuple[str, float]]

    def symbolic_robot(self) -> SymbolicRobot:
        links, places = self.robot.links, self._places
        sums: list[Sum] = []  # for each joint that of joints on parallel axes that ends with it
        for i, link in enumerate(links):
            before = sums[link.parent] if self._continues(link) else ()
            sums.append((*before, (i + 1, link.sign)) if link.type.turns else before)
        values = self.letters.values | self._constant_angles
        names = (*self._ring.symbols, *self._constant_angles)
        count = len(self.model.joints) + len(self.model.drives)
        rotors = [self._number(f"Ia{i + 1}") for i in range(count)]
        shifted = {i: links[i] for i in places if not is_quarter(links[i].theta)}
        return SymbolicRobot(
            self._ring,
            self._parts(),
            [self._position(i) for i in range(len(links))],
            {place: sums[i] for i, place in places.items()},
            rotor_matrix(self.model, np.array(rotors, dtype=object)),
            {name: values[name] for name in names if name in values},
            {i + 1: link.sign * float(link.theta) for i, link in shifted.items()},
            _vector(self._number(name) for name in TOOL),
        )

    @cached_property
    def _constant_angles(self) -> dict[str, float]:
        """Angles between joints that are no quarter turns, by name."""
        named: dict[str, Any] = {}
        ups = link_numbers(self.robot)
        for i, (link, up) in enumerate(zip(self.robot.links, ups, strict=True), 1):
            named |= {f"alpha{up}": link.alpha, f"gamma{up}": link.gamma}
            named[f"phi{i}"] = 0.0 if link.type.turns else link.theta
        return {name: float(angle) for name, angle in named.items() if not is_quarter(angle)}

    @cached_property
    def _places(self) -> dict[int, int]:
        """The places that the revolute joints have among the angles of the ring."""
        moving = (i for i, link in enumerate(self.robot.links) if link.type.turns)
        return {i: place for place, i in enumerate(moving)}

    @cached_property
    def _ring(self) -> Ring:
        """The ring; its symbols are nonzero parameters, gravity, sliding positions and rates."""
        wanted = [s for s, v in self.known.items() if v or s in self.variables]
        names = {name: None for s in wanted for name in self.letters.symbols(s)}
        slides = [f"q{i + 1}" for i, link in enumerate(self.robot.links) if link.type.slides]
        n = range(1, len(self.robot.links) + 1)
        rates = [f"{name}{i}" for name in ("qd", "qdd") for i in n]
        angles = [*(f"phi{i + 1}" for i in self._places), *self._constant_angles]
        return Ring(angles, [*names, *slides, *rates])

    def _angle(self, name: str, otherwise: float) -> Any:
        """The angle of the ring with a name, or a number if there is none."""
        if name not in self._constant_angles:
            return otherwise
        return Angle(self._ring, {self._ring.angles.index(name): 1})

    @staticmethod
    def _continues(link: CanonicalLink) -> bool:
        """Whether angles go on from the parent: parallel axes, and no turn between by a number."""
        turned = not link.type.turns and not is_quarter(link.theta)
        return link.parent >= 0 and link.alpha == 0 and link.gamma == 0 and not turned

    def _position(self, i: int) -> Any:
        link = self.robot.links[i]
        if not link.type.turns:
            return self._ring.symbol(f"q{i + 1}")
        before = link.parent
        while self._continues(link) and not self.robot.links[before].type.turns:
            link = self.robot.links[before]
            before = link.parent
        sign = self.robot.links[i].sign
        minus = {self._places[before]: -sign} if self._continues(link) and before >= 0 else {}
        slides = self.robot.links[i].type.slides
        position = self._ring.symbol(f"q{i + 1}") if slides else None
        return Angle(self._ring, {self._places[i]: sign, **minus}, position)

    def _link(self, i: int, link: CanonicalLink, up: str) -> CanonicalLink:
        n, number = i + 1, self._number
        m = number(f"m{n}")
        inertia = np.empty((3, 3), dtype=object)
        for key, a, b in ENTRIES:
            inertia[a, b] = inertia[b, a] = number(f"I{key}{n}")
        moments = f"mx{n}" in self.known
        com = _vector(number(f"{'m' * moments}{axis}{n}") for axis in "xyz")
        J = np.trace(inertia) / 2 * np.eye(3, dtype=int) - inertia
        lies_in_angle = link.type.turns and not is_quarter(link.theta)
        across = _vector(number(f"{a}{up}") for a in ("a", "ay", "az"))
        weights = [self.gravity.get((i, axis), ("g", 0.0)) for axis in range(3)]
        pitch: Any = number(f"p{n}")
        return replace(
            link,
            type=replace(link.type, slide=pitch) if link.type.pitched else link.type,
            alpha=self._angle(f"alpha{up}", link.alpha),
            gamma=self._angle(f"gamma{up}", link.gamma),
            theta=self._angle(f"phi{n}", 0.0 if lies_in_angle else link.theta),
            across=across if link.parent >= 0 else link.across,
            r=number(f"d{n}"),
            J=frozen(J if moments else J + m * np.outer(com, com)),
            u=com if moments else _vector(m * x for x in com),
            M=m,
            gravity=_vector(number(name) * int(np.sign(value)) for name, value in weights),
        )

    def _number(self, symbol: str) -> Trig:
        zero = not self.known.get(symbol) and symbol not in self.variables
        return self._ring.number(0) if zero else self.letters.polynomial(self._ring, symbol)

    def _parts(self) -> list[tuple[list[int], RobotModel]]:
        """A model for each joint on the base, with the indices of its joints."""
        ups = link_numbers(self.robot)
        names = [link.name for link in self.robot.links]
        links = (self._link(i, link, ups[i]) for i, link in enumerate(self.robot.links))
        return [
            ([names.index(link.name) for link in part.links], model_from_canonical(part))
            for part in branches(replace(self.robot, links=tuple(links)))
        ]


def _vector(values: Iterator[Trig]) -> Array:
    result = np.empty(3, dtype=object)
    result[:] = list(values)
    return frozen(result)
