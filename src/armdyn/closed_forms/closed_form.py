"""The equations of motion in closed form, as trigonometric polynomials.

M        by composite bodies, with rotors
h_ikm  = ½ (∂M_ik/∂q_m + ∂M_im/∂q_k - ∂M_km/∂q_i)      Christoffel symbols
V_i    = Σ_km h_ikm q̇_k q̇_m
U      = -Σ g·(m p),   G = ∂U/∂q,   P = ∂(Σ m p)/∂q,   T = ½ q̇ᵀ M q̇
B_i,jk = 2 h_ijk (j < k),   C_ij = h_ijj

Where passive joints follow linearly from the others, q_all = K q + k, the mass matrix is Kᵀ M K and
the potential energy U(K q + k). Angles of the tree become sums of the coordinates; those that are
the same but for quarter turns are one angle.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.symbolic_robot import Sum, SymbolicRobot
from armdyn.forks import cached_property
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.energy import potential_energy
from armdyn.graph.ring import Harmonic, Ring, Trig
from armdyn.loops.closure import closure_of
from armdyn.model import RobotModel


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """Every term of the equations of motion; entries of arrays are polynomials."""

    robot: SymbolicRobot

    @cached_property
    def M(self) -> Array:
        """Mass matrix, (N, N)."""
        M = np.zeros((self.robot.n, self.robot.n), dtype=object)
        for joints, model in self.robot.parts:
            M[np.ix_(joints, joints)] = mass_matrix(model, self.robot.positions(joints))
        return self._clean(M + self.robot.rotors)

    @cached_property
    def U(self) -> Trig:
        """Potential energy, without its constant part."""
        total = self.robot.ring.number(0)
        for joints, model in self.robot.parts:
            total = total + potential_energy(model, self.robot.positions(joints))
        return self._moving(total)

    @cached_property
    def P(self) -> Array:
        """Momentum of the arm for a unit rate of each joint, in base axes, (3, N)."""
        zero = self.robot.ring.number(0)
        P = np.full((3, self.robot.n), zero, dtype=object)
        for joints, model in self.robot.parts:
            for axis in range(3):
                field = np.array([-int(k == axis) for k in range(3)], dtype=object)
                moment = potential_energy(
                    replace(model, gravity=field), self.robot.positions(joints)
                )
                P[axis, joints] = [self.robot.slope(moment + zero, i) for i in joints]
        return P

    @cached_property
    def h(self) -> Array:
        """Christoffel symbols, (N, N, N)."""
        n, M = self.robot.n, self.M
        slope = np.empty((n, n, n), dtype=object)
        h = np.empty((n, n, n), dtype=object)
        for i, k in combinations_with_replacement(range(n), 2):
            for m in range(n):
                slope[i, k, m] = slope[k, i, m] = self.robot.slope(M[k, i], m)
        for i, k, m in np.ndindex(n, n, n):
            if k <= m:
                twice = slope[i, k, m] + slope[i, m, k] - slope[k, m, i]
                h[i, k, m] = h[i, m, k] = twice / 2
        return h

    @cached_property
    def V(self) -> Array:
        """Coriolis and centrifugal torques, (N,)."""
        qd = self.rates("qd")
        return self._clean(np.einsum("ikm,k,m->i", self.h, qd, qd))

    @cached_property
    def G(self) -> Array:
        """Gravity torques, (N,)."""
        return self._clean([self.robot.slope(self.U, i) for i in range(self.robot.n)])

    @cached_property
    def T(self) -> Trig:
        """Kinetic energy."""
        qd = self.rates("qd")
        return sum((self.M * np.outer(qd, qd)).flat, self.robot.ring.number(0)) / 2

    @property
    def B(self) -> Array:
        """Coriolis coefficients of q̇_j q̇_k, j < k, (N, N(N-1)/2)."""
        j, k = np.triu_indices(self.robot.n, 1)
        return 2 * self.h[:, j, k]

    @property
    def C(self) -> Array:
        """Centrifugal coefficients of the squared velocities, (N, N)."""
        return np.einsum("ijj->ij", self.h)

    def rates(self, name: str) -> Array:
        """The velocities "qd" or accelerations "qdd", (N,)."""
        names = (f"{name}{j}" for j in self.robot.coordinates)
        return np.array([*map(self.robot.ring.symbol, names)], dtype=object)

    def _moving(self, value: Trig) -> Trig:
        """A polynomial without its constant part."""
        keep = value.split(name for name in self.robot.ring.symbols if name[0] == "q")
        return value - keep.get((self.robot.ring.unit, 0), 0)

    def _clean(self, values: object) -> Array:
        """The array with every entry a polynomial."""
        array: Array = np.asarray(values, dtype=object) + self.robot.ring.number(0)
        return array


SAME_ANGLE = 1e-12
"""Largest difference of angles that are the same but for rounding [rad]."""


@dataclass(frozen=True, eq=False)
class ReducedForm(ClosedForm):
    """The terms of the equations of the coordinates; their numbers are those of their joints."""

    tree: ClosedForm
    K: Array
    places: Mapping[int, "Turned"]
    """What each angle of the tree is among those of this robot."""

    @cached_property
    def M(self) -> Array:
        """Mass matrix, (n, n)."""
        M = np.empty((self.robot.n, self.robot.n), dtype=object)
        N = range(len(self.K))
        for a, b in np.ndindex(M.shape):
            terms = (int(self.K[i, a] * self.K[j, b]) * self.tree.M[i, j] for i in N for j in N)
            M[a, b] = self._moved(sum(terms, self.tree.robot.ring.number(0)))
        return M

    @cached_property
    def U(self) -> Trig:
        """Potential energy, without its constant part."""
        return self._moving(self._moved(self.tree.U))

    def _moved(self, value: Trig) -> Trig:
        """A polynomial of the tree in the angles of this robot."""
        ring = self.robot.ring
        total, names = ring.number(0), self.tree.robot.ring
        for harmonic, monomial, number in value:
            packed = ring.monomial(names.exponents(monomial))
            term = Trig(ring, {ring.unit: {packed: number}})
            total = total + term * self._harmonic(harmonic)
        return total

    def _harmonic(self, harmonic: Harmonic) -> Trig:
        found = self.robot.ring.number(1)
        for place, w in enumerate(harmonic):
            if w:
                cosine, sine = self.places[place].times(self.robot.ring, abs(w))
                found = found * (cosine if w > 0 else sine)
        return found


@dataclass(frozen=True, slots=True)
class Turned:
    """An angle as whole multiples of angles of a ring, by name, and quarter turns."""

    multiples: Mapping[str, int]
    quarters: int = 0

    def times(self, ring: Ring, w: int) -> tuple[Trig, Trig]:
        """Cosine and sine of a multiple of it."""
        multiples = {ring.angles.index(name): w * m for name, m in self.multiples.items()}
        c, s = ring.cos(multiples), ring.sin(multiples)
        for _ in range(w * self.quarters % 4):
            c, s = -s, c
        return c, s


def reduced_form(tree: SymbolicRobot, model: RobotModel) -> ReducedForm:
    """The closed form of a robot with parallelograms, from its tree in symbols."""
    linear = closure_of(model).linear
    assert linear is not None
    K, k = linear
    made = _Angles(tree, K, k, [i + 1 for i in model.independent])
    places = {place: made.turned(place) for place in range(len(tree.ring.angles))}
    numbers = tuple(made.numbers)
    kept = [s for s in tree.ring.symbols if not s.startswith("q")]
    slides = [f"q{j}" for j in numbers if f"q{j}" in tree.ring.place]
    rates = [f"{rate}{j}" for rate in ("qd", "qdd") for j in numbers]
    ring = Ring([*made.names, *made.constants], [*kept, *slides, *rates])
    ring.budget = tree.ring.budget
    robot = replace(
        tree,
        ring=ring,
        parts=[],
        q=[tree.q[j - 1] for j in numbers],
        sums=dict(enumerate(made.sums)),
        values=tree.values | made.constants,
        offsets=made.offsets,
        numbers=numbers,
    )
    return ReducedForm(robot, ClosedForm(tree), K, places)


class _Angles:
    """The angles of the tree one after the other, as sums of coordinates."""

    def __init__(self, tree: SymbolicRobot, K: Array, k: Array, numbers: list[int]):
        self.tree, self.K, self.k, self.numbers = tree, K, k, numbers
        self.sums: list[Sum] = []
        self.names: list[str] = []
        self.constants: dict[str, float] = {}
        """Angles that do not move, with their values [rad]."""
        self.offsets: dict[int, float] = {}
        """What is added to a coordinate, by its number [rad]."""
        for place in tree.sums:  # the first angle that is a coordinate has its offset
            ratios, rest = self._total(place)
            moving = [a for a, ratio in enumerate(ratios) if ratio]
            if len(moving) == 1 and abs(sign := ratios[moving[0]]) == 1:
                self.offsets.setdefault(numbers[moving[0]], _split(sign * rest)[1])

    def _total(self, place: int) -> tuple[list[int], float]:
        """How often an angle has each coordinate, and what it is at zero."""
        ratios, rest = np.zeros(len(self.numbers)), 0.0
        for joint, sign in self.tree.sums[place]:
            ratios += sign * self.K[joint - 1]
            rest += sign * self.k[joint - 1] + sign * self.tree.offsets.get(joint, 0.0)
        return [round(x) for x in ratios], rest

    def turned(self, place: int) -> Turned:
        """An angle of the tree in those of the coordinates, and in constant ones."""
        name = self.tree.ring.angles[place]
        if place not in self.tree.sums:
            self.constants[name] = self.tree.values[name]
            return Turned({name: 1})
        ratios, rest = self._total(place)
        angle = tuple((j, r) for j, r in zip(self.numbers, ratios, strict=True) if r)
        rest -= sum(r * self.offsets.get(j, 0.0) for j, r in angle)
        quarters, more = _split(rest)
        multiples: dict[str, int] = {}
        if angle:
            sign = 1 if angle[0][1] > 0 else -1
            upright = tuple((j, sign * r) for j, r in angle)
            if upright not in self.sums:
                self.sums.append(upright)
                self.names.append(f"phi_{'_'.join(str(j) for j, _ in upright)}_{len(self.sums)}")
            multiples[self.names[self.sums.index(upright)]] = sign
        if more:
            same = [n for n, x in self.constants.items() if abs(x - more) < SAME_ANGLE]
            constant = same[0] if same else f"beta{place + 1}"
            self.constants[constant] = more
            multiples[constant] = 1
        return Turned(multiples, quarters)


def _split(angle: float) -> tuple[int, float]:
    """Whole quarter turns, and the rest if there is one [rad]."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * math.pi / 2) < SAME_ANGLE:
        return quarters, 0.0
    return 0, float(Fraction(angle))
