"""The equations of motion in closed form, as trigonometric polynomials.

M        by composite bodies, with rotors
h_ikm  = ½ (∂M_ik/∂q_m + ∂M_im/∂q_k - ∂M_km/∂q_i)      Christoffel symbols
V_i    = Σ_km h_ikm q̇_k q̇_m
U      = -Σ g·(m p),   G = ∂U/∂q,   P = ∂(Σ m p)/∂q,   T = ½ q̇ᵀ M q̇
B_i,jk = 2 h_ijk (j < k),   C_ij = h_ijj

Where passive joints follow linearly from the others, q_all = K q + k, the mass matrix is Kᵀ M K,
and all is written in angles that are sums of the coordinates.

Of the tool, for as many task coordinates as joints:

    M_x = J⁻ᵀ M J⁻¹,   V_x = J⁻ᵀ (V - M J⁻¹ J̇ q̇),   G_x = J⁻ᵀ G

With J⁻¹ = adj J / det J numerators stay trigonometric polynomials, and factors that they share with
det J are divided out exactly. In axes of the world a joint that turns the whole arm is in every
entry; with the rotation R from axes of a link to those of the world, and M_t, V_t, G_t in axes of
the link, the form is M_x = R M_t Rᵀ, V_x = R V_t, G_x = R G_t instead. Reference: J. Craig,
Introduction to Robotics, section 6.9.

A denominator is split into its symbols, the cosines and sines that divide it, and the rest, and a
numerator by the products of its other symbols, so that each part is reduced on its own:
(m1 + m2 S2²) / S2² becomes m2 + m1 / S2².
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.readable import readable
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.errors import ModelError, SingularityError, check_known, counted
from armdyn.forks import cached_property
from armdyn.formulations.cartesian import default_task, task_rows
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.kinematics import jacobian, jacobian_rate, world_frames
from armdyn.formulations.rotors import turning_row
from armdyn.formulations.spatial import rotate
from armdyn.graph.division import take_out
from armdyn.graph.ring import BITS, Coefficients, Harmonic, Trig
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Frame, RobotModel
from armdyn.model.transform import rotation_z
from armdyn.shorten.canonical.frames import canonical, canonical_frames, cos_sin


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """Every term of the equations of motion; entries of arrays are polynomials."""

    robot: SymbolicRobot

    @cached_property
    def M(self) -> Array:
        """Mass matrix, (N, N)."""
        M = self.robot.rotors + self.robot.ring.number(0)
        K = self.robot.K
        for joints, model in self.robot.parts:
            q = self.robot.positions(joints)
            M[np.ix_(joints, joints)] += mass_matrix(model, q)
            for spin, momentum in self.robot.spins:
                if spin.link in joints:
                    row = momentum * turning_row(model, q, joints.index(spin.link), spin.axis)
                    for i, ratio in spin.ratios:
                        M[i, joints] += Fraction(ratio) * row
                        M[joints, i] += Fraction(ratio) * row
        return self._clean(M if K is None else K.T @ M @ K)

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
        moments = [self.robot.ring.number(0)] * 3
        for joints, model in self.robot.parts:
            for axis in range(3):
                field = np.array([-int(k == axis) for k in range(3)], dtype=object)
                along = replace(model, gravity=field)
                moments[axis] += potential_energy(along, self.robot.positions(joints))
        n = range(self.robot.n)
        return np.array([[self.robot.slope(m, i) for i in n] for m in moments], dtype=object)

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


_LARGEST_POWER = 64


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """A numerator over a product of powers."""

    numerator: Trig
    divisors: tuple[tuple[Trig, int], ...]
    """Factors of the denominator with their exponents, none zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """A polynomial as a number times powers of its factors."""

    number: Fraction
    factors: tuple[tuple[Trig, int], ...]

    def quotients(self, numerator: Trig, power: int) -> list[Quotient]:
        """A numerator over a power of this, reduced; one quotient for each denominator left."""
        found: dict[tuple[int, ...], Trig] = {}
        for part in self._parts(numerator / self.number**power):
            rest, left = part, []
            for factor, exponent in self.factors:
                rest, divided = take_out(rest, factor, power * exponent)
                left.append(power * exponent - divided)
            key = tuple(left)
            found[key] = found[key] + rest if key in found else rest
        return [
            Quotient(
                found[key], tuple((f, e) for (f, _), e in zip(self.factors, key, strict=True) if e)
            )
            for key in sorted(found, key=sum)
            if found[key]
        ]

    def _parts(self, numerator: Trig) -> Iterator[Trig]:
        """The parts of a numerator by products of symbols that the factors do not have."""
        ring = numerator.ring
        names = set().union(*(f.symbols() for f, _ in self.factors))
        inside = ring.monomial(dict.fromkeys(names, (1 << BITS) - 1))
        parts: dict[int, dict[Harmonic, Coefficients]] = {}
        for harmonic, monomial, number in numerator:
            part = parts.setdefault(monomial & ~inside, {})
            part.setdefault(harmonic, {})[monomial] = number
        return (Trig(ring, terms) for terms in parts.values())


def factored(robot: SymbolicRobot, value: Trig) -> Factored:
    """A polynomial with the symbols, cosines and sines that divide it taken out."""
    rest, factors = value, []
    for candidate in _candidates(robot, value):
        rest, exponent = take_out(rest, candidate, _LARGEST_POWER)
        if exponent:
            factors.append((candidate, exponent))
    numbers = [n for term in readable(robot, rest) for n in term.coefficient.values()]
    negative = sum(number < 0 for number in numbers) > len(numbers) / 2
    divisor = math.gcd(*(n.numerator for n in numbers))
    content = Fraction(
        -divisor if negative else divisor, math.lcm(*(n.denominator for n in numbers))
    )
    if rest == content:
        return Factored(content, tuple(factors))
    return Factored(content, (*factors, (rest / content, 1)))


def _candidates(robot: SymbolicRobot, value: Trig) -> Iterator[Trig]:
    """Symbols, and cosines and sines of the angles and their differences."""
    ring = robot.ring
    yield from (ring.symbol(name) for name in sorted(value.symbols(), key=ring.place.__getitem__))
    used = [k for k in range(len(ring.angles)) if any(h[k] for h in value.terms)]
    angles = [{k: 1} for k in used]
    for k, j in permutations(used, 2):
        start = robot.sums.get(j, ())
        if start and robot.sums.get(k, ())[: len(start)] == start:
            angles.append({k: 1, j: -1})
    for angle in angles:
        yield ring.sin(angle)
        yield ring.cos(angle)


FRAMES = ("world", "tool")
MOST_JOINTS = 3
"""The inverse of the Jacobian is not written out for more joints."""
MOST_PRODUCTS = 150_000
"""Nothing is written out if V_x, the longest part, takes more products of terms."""
ENTRY_ROUNDING = 1e-12
"""An entry of a rotation this close to -1, 0 or 1 is that number."""


@dataclass(frozen=True, eq=False)
class CartesianForm:
    """F = M_x Ẍ + V_x + G_x for the tool; entries of J and J̇ q̇ are polynomials."""

    robot: SymbolicRobot
    frame: str
    """Axes of F and Ẍ: "world" or "tool"; in the axes of the tool Ẍ is the rate of components."""
    task: tuple[str, ...]
    """The coordinates, of "x", "y", "z", "rx", "ry", "rz"."""
    J: Array
    """Jacobian of the task, (N, N)."""
    Jd_qd: Array
    """J̇ q̇, the derivative of J taken entry by entry, (N,)."""
    link: int | None = None
    """The link, from 0 on, in whose axes J, J̇ q̇, mass, velocity and gravity are; None: those of
    the frame."""
    R: Array | None = None
    """Turns coordinates in axes of this link into those of the frame, (N, N)."""

    @property
    def closed(self) -> bool:
        """Whether the arm is small enough to write M_x, V_x and G_x out."""
        return self.products <= MOST_PRODUCTS

    @cached_property
    def products(self) -> float:
        """How many products of terms V_x takes; infinite for many joints."""
        if self.robot.n > MOST_JOINTS:
            return math.inf
        adj = np.vectorize(len)(self._adjugate)
        M = np.vectorize(len)(self._joint.M)
        rate = np.vectorize(len)(self.Jd_qd)
        return float((adj.T @ M @ adj @ rate).sum() * len(self.determinant))

    @cached_property
    def determinant(self) -> Trig:
        """Determinant of J, a polynomial that vanishes where the arm is singular."""
        return _determinant(self.J)

    @cached_property
    def mass(self) -> list[list[list[Quotient]]]:
        """Each entry of M_x as a sum of quotients."""
        adj, n = self._adjugate, self.robot.n
        M = adj.T @ self._joint.M @ adj
        lower = [[self.factors.quotients(M[i, j], 2) for j in range(i + 1)] for i in range(n)]
        return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]

    @cached_property
    def velocity(self) -> list[list[Quotient]]:
        """Each entry of V_x as a sum of quotients."""
        adj, joint = self._adjugate, self._joint
        V = adj.T @ (joint.V * self.determinant - joint.M @ (adj @ self.Jd_qd))
        return [self.factors.quotients(entry, 2) for entry in V]

    @cached_property
    def gravity(self) -> list[list[Quotient]]:
        """Each entry of G_x as a sum of quotients."""
        return [self.factors.quotients(entry, 1) for entry in self._adjugate.T @ self._joint.G]

    @cached_property
    def _joint(self) -> ClosedForm:
        return ClosedForm(self.robot)

    @cached_property
    def factors(self) -> Factored:
        """The determinant of J in factors."""
        return factored(self.robot, self.determinant)

    @cached_property
    def _adjugate(self) -> Array:
        """adj J, with J adj J = det J."""
        adj = np.empty_like(self.J)
        for i, j in np.ndindex(adj.shape):
            minor = np.delete(np.delete(self.J, j, 0), i, 1)
            adj[i, j] = (-1) ** (i + j) * _determinant(minor)
        return adj + self.robot.ring.number(0)


def cartesian_form(
    robot: SymbolicRobot, model: RobotModel, frame: str = "world", task: Sequence[str] | None = None
) -> CartesianForm:
    """The equations of motion of the tool of a robot, which is given in symbols and as a model.

    The task is in the axes of a frame, "world" or "tool", and has as many of "x", "y", "z", "rx",
    "ry", "rz" as there are joints; None: the first independent ones.

    Raises:
        ModelError: There are fewer or more coordinates than joints.
        SingularityError: The joints cannot move these coordinates independently anywhere.
    """
    check_known("frame for Cartesian equations named", frame, FRAMES)
    names = default_task(coordinates_of(model)) if task is None else tuple(task)
    rows = task_rows(names)
    _check_square(model, names)
    J, Jd_qd = _jacobian(robot, model, frame)
    form = CartesianForm(robot, frame, names, J[list(rows)], Jd_qd[list(rows)])
    generic = 0.3 + 0.1 * np.arange(3)[:, None] + np.sin(1.7 * np.arange(1, robot.n + 1))
    if np.linalg.matrix_rank(robot.evaluate(form.J, generic), tol=1e-9).max() < robot.n:
        raise SingularityError(
            f"the Jacobian of ({', '.join(names)}) in the axes of the {frame} is singular "
            "everywhere: these coordinates cannot all be moved; name others in task="
        )
    return form


def in_axes_of_links(form: CartesianForm, model: RobotModel) -> Iterator[CartesianForm]:
    """A form in axes of the world, written in those of each link on the way to the tool.

    Axes that mix the coordinates of the task with others are left out.
    """
    if form.frame != "world" or form.robot.n > MOST_JOINTS:
        return
    joints, part, tool = _rooted(form.robot, model)
    frames = world_frames(part, form.robot.positions(joints))
    rows = task_rows(form.task)
    for link in part.paths[tool.link]:
        both = np.zeros((6, 6), dtype=object) + form.robot.ring.number(0)
        both[:3, :3] = both[3:, 3:] = frames.R[link] + form.robot.ring.number(0)
        others = [i for i in range(6) if i not in rows]
        R = both[np.ix_(rows, rows)]
        if not any(both[np.ix_(rows, others)].flat):
            turned = {"J": R.T @ form.J, "Jd_qd": R.T @ form.Jd_qd}
            yield replace(form, link=joints[link], R=R, **turned)


def _check_square(model: RobotModel, task: tuple[str, ...]) -> None:
    """Refuse tasks and robots without a square Jacobian."""
    n, m, listed = len(model.joints), len(task), ", ".join(task)
    if model.tool_frame.link < 0:
        raise ModelError(
            f"the tool of {model.name!r} is on the base, where no joint moves it; choose another "
            "flange"
        )
    if model.coupling is not None or model.loops:
        raise ModelError(
            f"robot {model.name!r} has joints that follow others, for which there is no closed "
            "form of the Cartesian equations; lock them, or evaluate robot.cartesian instead"
        )
    if len(set(task)) < m:
        raise ModelError(f"a task coordinate is named twice: {listed}; name each once")
    if m != n:
        advice = "lock joints that are not needed" if m < n else "name fewer coordinates in task="
        raise ModelError(
            f"the closed form of the Cartesian equations needs as many task coordinates as joints; "
            f"robot {model.name!r} has {counted(n, 'joint')} and the task {m} ({listed}): "
            f"{advice}, or "
            "evaluate robot.cartesian instead"
        )


def _rooted(robot: SymbolicRobot, model: RobotModel) -> tuple[list[int], RobotModel, Frame]:
    """The joints of the part that has the tool, the part placed in the world, and the tool."""
    link = model.tool_frame.link
    joints, part = next(both for both in robot.parts if link in both[0])
    frames, root = canonical_frames(model), joints[0]
    c, s = cos_sin(canonical(model).links[root].theta)
    before = model.base @ model.joints[root].placement @ frames[root]  # the motion of the root
    turned = frames[link][:3, :3].T @ model.tool_frame.placement[:3, :3]
    tool = Frame("tool", joints.index(link), _transform(robot, turned, robot.tool))
    return joints, replace(part, base=_transform(robot, before[:3, :3] @ rotation_z(c, -s))), tool


def _jacobian(robot: SymbolicRobot, model: RobotModel, frame: str) -> tuple[Array, Array]:
    """All six rows of J, (6, N), and of J̇ q̇, (6,)."""
    joints, part, tool = _rooted(robot, model)
    axes = tool if frame == "tool" else None
    q, qd = robot.positions(joints), ClosedForm(robot).rates("qd")[joints]
    J = np.zeros((6, robot.n), dtype=object)
    J[:, joints] = jacobian(part, q, tool, axes)
    Jd_qd = rotate(jacobian_rate(part, q, qd, tool, axes), qd)
    zero = robot.ring.number(0)
    return J + zero, Jd_qd + zero


def _transform(robot: SymbolicRobot, R: Array, position: Array | None = None) -> Array:
    """A transform whose entries are polynomials."""
    T = np.eye(4, dtype=object) * robot.ring.number(1)
    T[:3, :3] = rational_rotation(R) * robot.ring.number(1)
    T[:3, 3] = T[:3, 3] if position is None else position
    return T


def _determinant(A: Array) -> Any:
    """By the first row; 1 for an empty matrix."""
    if not len(A):
        return 1
    rest = A[1:]
    return sum(
        (-1) ** j * A[0, j] * _determinant(np.delete(rest, j, 1)) for j in range(len(A)) if A[0, j]
    )


def rational_rotation(rotation: Array) -> Array:
    """The rotation of a rational quaternion, exactly orthogonal, to rounding the one given, (3, 3).

    Quarter turns have entries 0, 1 and -1.
    """
    whole = np.round(rotation)
    near = np.where(np.abs(rotation - whole) < ENTRY_ROUNDING, whole, rotation)
    # 4 q qᵀ of the quaternion q, any row of which is a multiple of it (S. W. Shepperd, 1978)
    odd, trace = (near - near.T)[[2, 0, 1], [1, 2, 0]], np.trace(near)
    even = near + near.T + (1 - trace) * np.eye(3)
    outer = np.block([[1 + trace, odd], [odd[:, None], even]])
    w, x, y, z = map(Fraction, outer[np.argmax(np.diag(outer))].tolist())
    S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)
    length = w * w + x * x + y * y + z * z
    return np.eye(3, dtype=int) + 2 * (w * S + S @ S) / length
