"""A robot whose numbers are symbols and whose angles are angles of a ring.

Fed to a formulation, it gives that formulation's result as trigonometric polynomials. Along axes
that stay parallel the angles of the ring are sums, φ3 = q1 + q2 + q3, because these are the angles
of the links; so C1 C2 - S1 S2 becomes C12 by itself.
"""

import math
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, frozen
from armdyn.closed_forms.letters import Letters, fitting
from armdyn.errors import ArmdynWarning
from armdyn.forks import cached_property
from armdyn.formulations.rotors import Spin, rotor_matrix, spin_momenta, spins
from armdyn.graph.ring import Coefficients, Harmonic, Ring, Trig, evaluate
from armdyn.loops.closure import closure_of
from armdyn.model import RobotModel
from armdyn.model.edit import exact_near
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
    """The position of a helical joint in symbols; None for other joints."""
    quarters: int = 0
    """Quarter turns on top."""

    def cos(self) -> Trig:
        """The cosine; `np.cos` calls it."""
        return self._cosine(self.quarters)

    def sin(self) -> Trig:
        """The sine; `np.sin` calls it."""
        return self._cosine(self.quarters - 1)

    def _cosine(self, quarters: int) -> Trig:
        """The cosine of the combination and quarter turns."""
        value = (self.ring.sin if quarters % 2 else self.ring.cos)(self.multiples)
        return -value if quarters % 4 in (1, 2) else value

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
    joints: list[Any]
    """Each joint's position: an Angle, or a polynomial where it slides."""
    q: list[Any]
    """The positions of those that are coordinates."""
    sums: dict[int, Sum]
    """The joints that an angle of the ring sums up, by its place; constant angles have none."""
    rotors: Array
    """What rotors add to the mass matrix, without their spin, (N, N)."""
    values: dict[str, float]
    """Values of symbols and of constant angles."""
    offsets: dict[int, float]
    """What is added to q in every angle that has it, by number of the joint; no quarter turns
    [rad]."""
    tool: Array
    """Position of the tool in the canonical frame of its link, (3,)."""
    numbers: tuple[int, ...] = ()
    """The numbers of the joints that are coordinates; none: all of them are."""
    K: Array | None = None
    """The rate of each joint for a unit rate of each coordinate; None: all are coordinates."""
    spins: tuple[tuple[Spin, Trig], ...] = ()
    """The rotors that spin, axes in the canonical frames of the carriers, with their momenta."""

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
        return np.array([self.joints[i] for i in joints], dtype=object)

    def slope(self, value: Trig, joint: int) -> Trig:
        """The derivative by a coordinate, counted from 0."""
        number = self.coordinates[joint]
        total = self.ring.number(0)
        name = f"q{number}"
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
    the others. Variables are symbols although their value is zero. Where loops let joints follow
    linearly from the coordinates, it is the robot in these.
    """
    robot = canonical(model)
    known = parameters(model, robot)
    gravity = dict(_gravity(robot))
    known |= {name: abs(value) for name, value in gravity.values() if value}
    known |= _tool(model) | _spinning(model)
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
    linear, n = closure_of(model).linear if model.loops else None, len(model.joints)
    every = np.eye(n), np.zeros(n), range(n)
    moved = every if linear is None else (*linear, model.independent)
    made = _Symboliser(model, robot, spoken, known, frozenset(variables), gravity, *moved)
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


SAME_ANGLE = 1e-12
"""Largest difference of angles that are the same but for rounding [rad]."""


@dataclass(slots=True)
class _RingAngles:
    """The angles of a ring, and what those of the joints that turn are among them."""

    offsets: dict[int, float]
    """What is added to a coordinate, by its number [rad]."""
    sums: dict[str, Sum] = field(default_factory=dict)
    """Angles that move."""
    constants: dict[str, float] = field(default_factory=dict)
    """Angles that do not, with their values [rad]."""
    turns: dict[int, tuple[dict[str, int], int]] = field(default_factory=dict)
    """By joint whole multiples of angles, and quarter turns on top."""

    def turn(self, joint: int, angle: Sum, rest: float) -> None:
        """Let the angle of a joint be a sum of coordinates and a rest [rad]."""
        rest -= sum(ratio * self.offsets.get(j, 0.0) for j, ratio in angle)
        quarters, more = _split(rest)
        multiples: dict[str, int] = {}
        if angle:
            sign = 1 if angle[0][1] > 0 else -1
            upright = tuple((j, sign * ratio) for j, ratio in angle)
            new = f"phi_{'_'.join(str(j) for j, _ in upright)}_{len(self.sums) + 1}"
            name = next((name for name, same in self.sums.items() if same == upright), new)
            self.sums[name] = upright
            multiples[name] = sign
        if more:
            near = (name for name, x in self.constants.items() if abs(x - more) < SAME_ANGLE)
            constant = next(near, f"beta{len(self.turns) + 1}")
            self.constants[constant] = more
            multiples[constant] = 1
        self.turns[joint] = multiples, quarters


def _split(angle: float) -> tuple[int, float]:
    """Whole quarter turns, and the rest if there is one [rad]."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * math.pi / 2) < SAME_ANGLE:
        return quarters, 0.0
    return 0, float(Fraction(angle))


@dataclass(frozen=True, eq=False)
class _Symboliser:
    model: RobotModel
    robot: CanonicalRobot
    letters: Letters
    known: dict[str, float]
    variables: frozenset[str]
    gravity: dict[tuple[int, int], tuple[str, float]]
    K: Array
    """With k: positions of all joints are K q + k."""
    k: Array
    coordinates: Sequence[int]
    """The joints that are coordinates, from 0."""

    def symbolic_robot(self) -> SymbolicRobot:
        angles, joints = self._angles, [self._position(i) for i in range(len(self.robot.links))]
        values = self.letters.values | angles.constants
        names = (*self._ring.symbols, *angles.constants)
        count = len(self.model.joints) + len(self.model.drives)
        rotors = [self._number(f"Ia{i + 1}") for i in range(count)]
        reduced = len(self._numbers) < len(joints)
        return SymbolicRobot(
            self._ring,
            self._parts(),
            joints,
            [joints[j - 1] for j in self._numbers],
            dict(enumerate(angles.sums.values())),
            rotor_matrix(self.model, np.array(rotors, dtype=object)),
            {name: values[name] for name in names if name in values},
            angles.offsets,
            _vector(self._number(name) for name in TOOL),
            self._numbers if reduced else (),
            np.vectorize(Fraction, otypes=[object])(self.K) if reduced else None,
            tuple(
                (
                    replace(
                        spin, axis=_vector(self._direction(n, k) for n, k in _named_axis(spin))
                    ),
                    self._number(f"Js{spin.place + 1}"),
                )
                for spin in canonical_spins(self.model)
            ),
        )

    def _direction(self, name: str, value: float) -> Trig:
        """A component of an axis: a symbol unless the axis is one of the frame."""
        return self._number(name) if name in self.known else self._ring.number(round(value))

    @property
    def _numbers(self) -> tuple[int, ...]:
        """The numbers of the joints that are coordinates."""
        return tuple(i + 1 for i in self.coordinates)

    @cached_property
    def _angles(self) -> _RingAngles:
        """The angles of the ring: sums of joints on parallel axes, each ending with another."""
        links = self.robot.links
        sums: list[Sum] = []
        for i, link in enumerate(links):
            before = sums[link.parent] if self._continues(link) else ()
            sums.append((*before, (i + 1, link.sign)) if link.type.turns else before)
        turning = [i for i, link in enumerate(links) if link.type.turns]
        shifted = (i for i in turning if not is_quarter(links[i].theta))
        offsets = {i + 1: links[i].sign * float(links[i].theta) for i in shifted}
        if len(self.coordinates) == len(links):
            named = {f"phi{i + 1}": sums[i] for i in turning}
            turns = {i: ({name: 1}, 0) for i, name in zip(turning, named, strict=True)}
            return _RingAngles(offsets, named, self._constant_angles, turns)
        totals: dict[int, tuple[Sum, float]] = {}
        for i in turning:
            ratios = sum(sign * self.K[j - 1] for j, sign in sums[i])
            at_zero = ((sign, self.k[j - 1], offsets.get(j, 0.0)) for j, sign in sums[i])
            rest = sum(sign * k + sign * offset for sign, k, offset in at_zero)
            both = zip(self._numbers, map(round, ratios), strict=True)
            totals[i] = tuple((j, ratio) for j, ratio in both if ratio), rest
        angles = _RingAngles({})
        for angle, rest in totals.values():  # the first angle that is a coordinate has its offset
            if len(angle) == 1 and abs(angle[0][1]) == 1:
                angles.offsets.setdefault(angle[0][0], _split(angle[0][1] * rest)[1])
        for i, total in totals.items():
            angles.turn(i, *total)
        angles.constants |= self._constant_angles
        return angles

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
    def _ring(self) -> Ring:
        """The ring; its symbols are nonzero parameters, gravity, sliding positions and rates."""
        wanted = [s for s, v in self.known.items() if v or s in self.variables]
        names = {name: None for s in wanted for name in self.letters.symbols(s)}
        sliding = [i for i, link in enumerate(self.robot.links) if link.type.slides]
        moved = np.any(self.K[sliding], axis=0).tolist()
        slides = [f"q{j}" for j, slides in zip(self._numbers, moved, strict=True) if slides]
        rates = [f"{name}{j}" for name in ("qd", "qdd") for j in self._numbers]
        return Ring([*self._angles.sums, *self._angles.constants], [*names, *slides, *rates])

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
        """The position of a joint: an angle of the ring, or a polynomial."""
        link = self.robot.links[i]
        slide = self._slide(i) if link.type.slides else None
        if not link.type.turns:
            return slide
        before = link.parent
        while self._continues(link) and not self.robot.links[before].type.turns:
            link = self.robot.links[before]
            before = link.parent
        sign, quarters = self.robot.links[i].sign, 0
        ends = {i: sign, before: -sign} if self._continues(link) and before >= 0 else {i: sign}
        multiples: Counter[int] = Counter()
        for joint, factor in ends.items():
            named, turn = self._angles.turns[joint]
            multiples.update({self._ring.angles.index(n): factor * m for n, m in named.items()})
            quarters += factor * turn
        return Angle(self._ring, multiples, slide, quarters)

    def _slide(self, i: int) -> Trig:
        """The position of a joint in symbols of the coordinates."""
        names = (f"q{j}" for j, ratio in zip(self._numbers, self.K[i], strict=True) if ratio)
        terms = zip(self.K[i][self.K[i] != 0], map(self._ring.symbol, names), strict=True)
        return sum((ratio * q for ratio, q in terms), self._ring.number(self.k[i]))

    def _link(self, i: int, link: CanonicalLink, up: str) -> CanonicalLink:
        """A link whose numbers are symbols."""
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
        links = (self._link(i, link, ups[i]) for i, link in enumerate(self.robot.links))
        return [
            ([*members], model_from_canonical(part))
            for members, part in branches(replace(self.robot, links=tuple(links))).items()
        ]


def canonical_spins(model: RobotModel) -> list[Spin]:
    """The rotors that spin on links, with their axes in the canonical frames of these."""
    frames = canonical_frames(model)
    on_links = (spin for spin in spins(model) if spin.link >= 0)  # others couple nothing
    return [replace(s, axis=exact_near(s.axis @ frames[s.link][:3, :3])) for s in on_links]


def _named_axis(spin: Spin) -> Iterator[tuple[str, float]]:
    """The components of the axis of a rotor by their symbols."""
    return ((f"s{x}{spin.place + 1}", float(v)) for x, v in zip("xyz", spin.axis, strict=True))


def _spinning(model: RobotModel) -> dict[str, float]:
    """Momenta of rotors that spin, and their axes where these are none of a frame."""
    found: dict[str, float] = {}
    for spin in canonical_spins(model):
        found[f"Js{spin.place + 1}"] = float(spin_momenta(model)[spin.place])
        if np.abs(spin.axis).max() < 1.0:
            found |= dict(_named_axis(spin))
    return found


def _vector(values: Iterator[Trig]) -> Array:
    return frozen(np.array([*values], dtype=object))
