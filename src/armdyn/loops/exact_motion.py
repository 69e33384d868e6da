"""Whether loops can move, decided exactly: motions as power series over a finite field.

At an assembled configuration, which is closed exactly by the way its geometry is written
(`ExactGeometry`), coordinates move by ε times random numbers, and passive joints are solved for as
series in ε from as many rows as there are, whose Jacobian at ε = 0 has an inverse. If all other
rows vanish as well, to the last order, they follow from these, and the loops move.

Floats of a robot are rounded, so what is parallel, normal or concurrent but for rounding is taken
as that: a direction within `SAME` of a parallel or a normal one, and a point within `SAME` of the
robot's size from another point or from an axis. All else is the binary fraction that it is.
Directions are points of the rational sphere, so they have unit length and stay normal exactly.
"""

from dataclasses import dataclass, field
from math import factorial

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.graph.field import circle_point, number_residue, square_root
from armdyn.loops.rows import end_frames
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import Distance, Normal

PRIMES = (2**29 - 33, 2**29 - 73)
"""Both 3 modulo 4; sums of some products fit into 64 bits."""
ORDER = 6
"""Terms of a series."""
SAME = 1e-12
"""What is taken for rounding [rad, or share of the size]."""


_Line = tuple[Array, Array]
"""A point of it, and its direction."""


@dataclass(frozen=True, slots=True, eq=False)
class _Direction:
    given: Array
    exact: Array
    """Residues, (3,)."""
    given_partner: Array
    partner: Array
    """A unit vector that is normal to it, and its residues."""


@dataclass(slots=True, eq=False)
class ExactGeometry:
    """Directions, points and axes that were asked for, each once."""

    prime: int
    size: float
    """A length of the robot [m]."""
    _directions: list[_Direction] = field(default_factory=list)
    _points: list[tuple[Array, Array]] = field(default_factory=list)
    _lines: list[tuple[_Line, _Line]] = field(default_factory=list)

    def residues(self, x: Array) -> Array:
        """Floats as the binary fractions that they are."""
        return np.array([number_residue(float(v), self.prime) for v in x], dtype=np.int64)

    def direction(self, v: Array) -> Array | None:
        """A unit vector, (3,); None if the field has no such one."""
        for known in self._directions:
            if np.linalg.norm(np.cross(v, known.given)) < SAME:
                return known.exact if v @ known.given > 0 else -known.exact % self.prime
        normal = [known for known in self._directions if abs(v @ known.given) < SAME]
        if len(normal) > 1:
            found = self._across(v, normal[0], normal[1])
        else:
            found = self._around(v, normal[0]) if normal else self._anywhere(v)
        if found is not None:
            self._directions.append(found)
        return None if found is None else found.exact

    def _across(self, v: Array, a: _Direction, b: _Direction) -> _Direction | None:
        """What is normal to both; which of its two signs does not matter to a closure."""
        p = self.prime
        n = np.cross(a.exact, b.exact) % p
        root = square_root(int(n @ n) % p, p)
        if root is None:
            return None
        return _Direction(v, pow(root, -1, p) * n % p, a.given, a.exact)

    def _around(self, v: Array, a: _Direction) -> _Direction:
        """In the plane that is normal to a."""
        p = self.prime
        x, y = a.partner, np.cross(a.exact, a.partner) % p
        given_y = np.cross(a.given, a.given_partner)
        angle = float(np.arctan2(v @ given_y, v @ a.given_partner))
        sign = 1
        if abs(angle) > np.pi / 2:
            angle, sign = angle - np.copysign(np.pi, angle), -1
        c, s = circle_point(number_residue(float(np.tan(angle / 2)), p), p)
        return _Direction(v, sign * (c * x + s * y) % p, a.given, a.exact)

    def _anywhere(self, v: Array) -> _Direction:
        """By its stereographic projection."""
        p, sign = self.prime, -1 if v[2] < 0 else 1
        x, y, z = sign * v
        a, b = (number_residue(float(c / (1 + z)), p) for c in (x, y))
        over = pow(1 + a * a + b * b, -1, p)
        found = np.array([2 * a, 2 * b, 1 - a * a - b * b], dtype=object) * over % p
        partner = np.array([1 - a * a + b * b, -2 * a * b, -2 * a], dtype=object) * over % p
        exact, partner = (x.astype(np.int64) for x in (sign * found, partner))
        return _Direction(v, exact % p, stereographic_axes(v)[0], partner)

    def point(self, x: Array) -> Array:
        """A point, (3,)."""
        for given, exact in self._points:
            if np.linalg.norm(given - x) < SAME * self.size:
                return exact
        exact = self.residues(x)
        for (origin, along), line in self._lines:
            if np.linalg.norm(np.cross(x - origin, along)) < SAME * self.size:
                exact = self._along(line, float((x - origin) @ along))
                break
        self._points.append((x, exact))
        return exact

    def _along(self, line: _Line, distance: float) -> Array:
        origin, along = line
        found: Array = (origin + number_residue(distance, self.prime) * along) % self.prime
        return found

    def axis(self, x: Array, z: Array) -> _Line | None:
        """A point of a line and its direction; lines that meet, or that points are on, do so."""
        along = self.direction(z)
        if along is None:
            return None
        exact = self._origin(x, z)
        self._lines.append(((x, z), (exact, along)))
        return exact, along

    def _origin(self, x: Array, z: Array) -> Array:
        for given, exact in self._points:
            if np.linalg.norm(np.cross(given - x, z)) < SAME * self.size:
                return exact
        for (origin, along), line in self._lines:
            normal = np.cross(z, along)
            square = normal @ normal
            if square < SAME:  # parallel
                if np.linalg.norm(np.cross(origin - x, z)) < SAME * self.size:
                    return line[0]
            elif abs((origin - x) @ normal) < SAME * self.size * np.sqrt(square):
                return self._along(line, float(np.cross(x - origin, z) @ -normal / square))
        return self.residues(x)


def stereographic_axes(z: Array) -> tuple[Array, Array]:
    """Two axes normal to z, as the stereographic projection has them."""
    sign = -1 if z[2] < 0 else 1
    a, b = (sign * z)[:2] / (1 + sign * z[2])
    x = np.array([1 - a * a + b * b, -2 * a * b, -2 * a]) / (1 + a * a + b * b)
    return x, np.cross(z, x)


@dataclass(frozen=True, slots=True, eq=False)
class _ExactRobot:
    """The joints and cuts of a robot where it is assembled, in the base, as residues."""

    model: RobotModel
    prime: int
    axes: list[_Line]
    """Those of the joints."""
    ends: list[tuple[Array, Array]]
    """For each loop frame a and frame b: axes and origin in columns, (3, 4)."""
    assembly: Array


def moves_exactly(model: RobotModel, assembly: Array, size: float) -> bool | None:
    """Whether loops move from their assembly; None if that cannot be told there.

    That is so in a singular configuration, or where passive joints are not held.
    """
    found = [_moves(model, assembly, size, prime) for prime in PRIMES]
    return None if None in found else all(found)


def _moves(model: RobotModel, assembly: Array, size: float, prime: int) -> bool | None:
    robot = _exact(model, assembly, size, prime)
    if robot is None:
        return None
    inverse = _left_inverse(_jacobian(robot)[:, list(model.passive)], prime)
    if inverse is None:
        return None
    rng = np.random.default_rng(prime)
    moved = np.zeros((len(model.joints), ORDER), dtype=np.int64)
    moved[list(model.independent), 1] = rng.integers(1, prime, len(model.independent))
    for _ in range(1, ORDER):
        rest = _missing(robot, moved)
        moved[list(model.passive)] -= (inverse[:, :, None] * rest[None] % prime).sum(1)
        moved %= prime
    return not _missing(robot, moved).any()


def _exact(model: RobotModel, assembly: Array, size: float, prime: int) -> _ExactRobot | None:
    frames, geometry = world_frames(model, assembly), ExactGeometry(prime, size)
    still = np.zeros(3, dtype=np.int64)
    axes, ends = [], []
    for i, joint in enumerate(model.joints):
        along = geometry.direction(frames.z[i])
        found = geometry.axis(frames.O[i], frames.z[i]) if joint.type.turns else (still, along)
        if found is None or along is None:
            return None
        axes.append((found[0], along))
    for loop in model.loops:
        pair = (still, still) if loop.couples else _ends(geometry, loop, *end_frames(frames, loop))
        if pair is None:
            return None
        ends.append(pair)
    return _ExactRobot(model, prime, axes, ends, assembly)


def _ends(geometry: ExactGeometry, loop: Loop, A: Array, B: Array) -> tuple[Array, Array] | None:
    """Both frames of a loop, closed exactly."""
    p, cut = geometry.prime, loop.cut
    own = np.eye(3, dtype=np.int64)
    if cut.keeps_direction:
        z = geometry.direction(B[:3, 2])
        x = geometry.direction(B[:3, 0])
        if z is None or x is None:
            return None
        own = np.stack([x, np.cross(z, x) % p, z], -1)
    signs = np.sign(np.diag(A[:3, :3].T @ B[:3, :3])).astype(np.int64)
    turned = own * signs % p if cut.keeps_axes else own * [1, 1, signs[2] or 1] % p
    origin = geometry.point(A[:3, 3])
    d = B[:3, :3].T @ (A[:3, 3] - B[:3, 3])
    other = origin.copy()
    for k in cut.slides:
        other = (other - number_residue(float(d[k]), p) * own[:, k]) % p
    if cut.has_length:
        other = geometry.point(B[:3, 3])
    return np.column_stack([turned, origin]), np.column_stack([own, other])


# series: the last axis has the coefficients of powers of ε


def series_product(a: Array, b: Array, p: int) -> Array:
    """Products of series."""
    K = a.shape[-1]
    found = np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=np.int64)
    for k in range(K):
        found[..., k:] += a[..., k : k + 1] * b[..., : K - k] % p
    return found % p


def _matrices(A: Array, B: Array, p: int) -> Array:
    """Products of matrices of series, (n, m, K) and (m, l, K)."""
    return series_product(A[:, :, None], B[None], p).sum(1) % p


def _constant(x: Array, K: int) -> Array:
    found = np.zeros((*x.shape, K), dtype=np.int64)
    found[..., 0] = x
    return found


def sine_and_versine(x: Array, p: int) -> tuple[Array, Array]:
    """sin x and 1 - cos x of a series without a constant term."""
    sine = np.zeros_like(x)
    versine = np.zeros_like(x)
    power = _constant(np.array(1), len(x))
    for k in range(1, len(x)):
        power = series_product(power, x, p)
        term = pow(factorial(k), -1, p) * power % p
        sign = -1 if k % 4 in (3, 0) else 1
        if k % 2:
            sine = (sine + sign * term) % p
        else:
            versine = (versine + sign * term) % p
    return sine, versine


def _placed(robot: _ExactRobot, moved: Array) -> dict[int, tuple[Array, Array]]:
    """Turn and shift of each link, -1 being the base, from where it is assembled."""
    p, K = robot.prime, moved.shape[-1]
    still = _constant(np.eye(3, dtype=np.int64), K)
    found = {-1: (still, 0 * still[0])}
    for i, joint in enumerate(robot.model.joints):
        origin, z = robot.axes[i]
        cross = np.array([[0, -z[2], z[1]], [z[2], 0, -z[0]], [-z[1], z[0], 0]]) % p
        square = cross @ cross % p
        turn, slide = (number_residue(float(x), p) for x in (joint.type.turn, joint.type.slide))
        sine, versine = sine_and_versine(turn * moved[i] % p, p)
        R = (still + cross[..., None] * sine % p + square[..., None] * versine % p) % p
        x = _constant(origin, K)
        t = (x - _matrices(R, x[:, None], p)[:, 0] + slide * (z[:, None] * moved[i] % p)) % p
        above, shift = found[joint.parent]
        t = (_matrices(above, t[:, None], p)[:, 0] + shift) % p
        found[i] = _matrices(above, R, p), t
    return found


def _missing(robot: _ExactRobot, moved: Array) -> Array:
    """What every row misses, (rows, K)."""
    p, K, rows = robot.prime, moved.shape[-1], list[Array]()
    links = _placed(robot, moved)
    for loop, ends in zip(robot.model.loops, robot.ends, strict=True):
        if loop.couples:
            rows.append(_uncoupled(robot, loop, moved))
            continue
        A, B = (
            _carried(*links[link], end, p)
            for link, end in zip((loop.link_a, loop.link_b), ends, strict=True)
        )
        d = (A[:, 3] - B[:, 3]) % p
        for row in loop.cut.rows:
            if isinstance(row, Normal):
                rows.append(series_product(A[:, row.u], B[:, row.n], p).sum(0) % p)
            elif isinstance(row, Distance):
                start = (ends[0][:, 3] - ends[1][:, 3]) % p
                square = int((start * start % p).sum()) % p
                rows.append((series_product(d, d, p).sum(0) - _constant(np.array(square), K)) % p)
            else:
                rows.append(series_product(B[:, row.n], d, p).sum(0) % p)
    return np.stack(rows)


def _carried(turn: Array, shift: Array, end: Array, p: int) -> Array:
    """A frame that a link carries, (3, 4, K)."""
    found = _matrices(turn, _constant(end, turn.shape[-1]), p)
    found[:, 3] = (found[:, 3] + shift) % p
    return found


def _uncoupled(robot: _ExactRobot, loop: Loop, moved: Array) -> Array:
    """What a coupling misses beside the assembly."""
    p, K = robot.prime, moved.shape[-1]
    start = number_residue(float(robot.assembly[loop.link_b]), p)
    leading = (_constant(np.array(start), K) + moved[loop.link_b]) % p
    total = np.zeros(K, dtype=np.int64)
    for c in reversed(loop.coefficients):
        total = series_product(total, leading, p)
        total[0] = (total[0] + number_residue(float(c), p)) % p
    total[0] = 0  # it is met exactly where it is assembled
    return (moved[loop.link_a] - total) % p


# matrices of residues


def _jacobian(robot: _ExactRobot) -> Array:
    """How rows change with every joint, (rows, N)."""
    columns = []
    for i in range(len(robot.model.joints)):
        moved = np.zeros((len(robot.model.joints), 2), dtype=np.int64)
        moved[i, 1] = 1
        columns.append(_missing(robot, moved)[:, 1])
    return np.stack(columns, -1)


def _left_inverse(A: Array, p: int) -> Array | None:
    """W with W A = 1, made of the first rows of A that are a basis; None if these are too few."""
    n, reduced = A.shape[1], dict[int, Array]()
    for row in np.concatenate([A, np.eye(len(A), dtype=np.int64)], 1):
        rest = row
        for pivot, other in reduced.items():
            rest = (rest - rest[pivot] * other) % p
        if rest[:n].any():
            place = int(np.flatnonzero(rest)[0])
            unit = pow(int(rest[place]), -1, p) * rest % p
            reduced = {k: (other - other[place] * unit) % p for k, other in reduced.items()}
            reduced[place] = unit
    return np.stack([reduced[k][n:] for k in range(n)]) if len(reduced) == n else None
