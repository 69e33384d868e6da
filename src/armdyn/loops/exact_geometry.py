"""The geometry of loops in exact numbers of a finite field, at one assembled configuration.

Floats of a robot are rounded, so what is parallel, normal or concurrent but for rounding is taken
as that: a direction within `SAME` of a parallel or a normal one, and a point within `SAME` of the
robot's size from another point or from an axis. All else is the binary fraction that it is.
Directions are points of the rational sphere, so they have unit length and stay normal exactly.
"""

from dataclasses import dataclass, field

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.field import number_residue, square_root

SAME = 1e-12
"""What is taken for rounding [rad, or share of the size]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Direction:
    given: Array
    exact: Array
    """Residues, (3,)."""
    partner: Array
    """Residues of a unit vector that is normal to it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    given: tuple[Array, Array]
    """A point of it, and its direction."""
    exact: tuple[Array, Array]


@dataclass(slots=True, eq=False)
class ExactGeometry:
    """Directions, points and axes that were asked for, each once."""

    prime: int
    size: float
    """A length of the robot [m]."""
    _directions: list[_Direction] = field(default_factory=list)
    _points: list[tuple[Array, Array]] = field(default_factory=list)
    _lines: list[_Line] = field(default_factory=list)

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
        n = crossed(a.exact, b.exact, p)
        root = square_root(int(_dot(n, n, p)), p)
        if root is None:
            return None
        return _Direction(v, pow(root, -1, p) * n % p, a.exact)

    def _around(self, v: Array, a: _Direction) -> _Direction:
        """In the plane that is normal to a."""
        p = self.prime
        x, y = a.partner, crossed(a.exact, a.partner, p)
        given_x = self._floats(a)
        given_y = np.cross(a.given, given_x)
        angle = float(np.arctan2(v @ given_y, v @ given_x))
        sign = 1
        if abs(angle) > np.pi / 2:
            angle, sign = angle - np.copysign(np.pi, angle), -1
        c, s = self._circle(np.tan(angle / 2))
        return _Direction(v, sign * (c * x + s * y) % p, a.exact)

    def _floats(self, a: _Direction) -> Array:
        """The partner of a direction as floats."""
        for known in self._directions:
            if known.exact is a.partner:
                return known.given
        return _frame(a.given)[0]

    def _circle(self, t: float) -> tuple[int, int]:
        p = self.prime
        half = number_residue(float(t), p)
        over = pow(1 + half * half, -1, p)
        return (1 - half * half) * over % p, 2 * half * over % p

    def _anywhere(self, v: Array) -> _Direction:
        """By its stereographic projection."""
        p, sign = self.prime, -1 if v[2] < 0 else 1
        x, y, z = sign * v
        a, b = (number_residue(float(c / (1 + z)), p) for c in (x, y))
        over = pow(1 + a * a + b * b, -1, p)
        found = np.array([2 * a, 2 * b, 1 - a * a - b * b], dtype=object) * over % p
        partner = np.array([1 - a * a + b * b, -2 * a * b, -2 * a], dtype=object) * over % p
        return _Direction(v, sign * found.astype(np.int64) % p, partner.astype(np.int64))

    def point(self, x: Array) -> Array:
        """A point, (3,)."""
        for given, exact in self._points:
            if np.linalg.norm(given - x) < SAME * self.size:
                return exact
        exact = self._on_line(x)
        self._points.append((x, exact))
        return exact

    def _on_line(self, x: Array) -> Array:
        for line in self._lines:
            origin, along = line.given
            if np.linalg.norm(np.cross(x - origin, along)) < SAME * self.size:
                return self._along(line, float((x - origin) @ along))
        return self.residues(x)

    def _along(self, line: _Line, distance: float) -> Array:
        origin, along = line.exact
        found: Array = (origin + number_residue(distance, self.prime) * along) % self.prime
        return found

    def axis(self, x: Array, z: Array) -> tuple[Array, Array] | None:
        """A point of a line and its direction; lines that meet, or that points are on, do so."""
        along = self.direction(z)
        if along is None:
            return None
        exact = self._origin(x, z)
        self._lines.append(_Line((x, z), (exact, along)))
        return exact, along

    def _origin(self, x: Array, z: Array) -> Array:
        for given, exact in self._points:
            if np.linalg.norm(np.cross(given - x, z)) < SAME * self.size:
                return exact
        for line in self._lines:
            origin, along = line.given
            normal = np.cross(z, along)
            square = normal @ normal
            if square < SAME:  # parallel
                if np.linalg.norm(np.cross(origin - x, z)) < SAME * self.size:
                    return line.exact[0]
            elif abs((origin - x) @ normal) < SAME * self.size * np.sqrt(square):
                return self._along(line, float(np.cross(x - origin, z) @ -normal / square))
        return self.residues(x)


def _frame(z: Array) -> tuple[Array, Array]:
    """Two axes normal to z, as the stereographic projection has them."""
    sign = -1 if z[2] < 0 else 1
    a, b = (sign * z)[:2] / (1 + sign * z[2])
    x = np.array([1 - a * a + b * b, -2 * a * b, -2 * a]) / (1 + a * a + b * b)
    return x, np.cross(z, x)


def _dot(a: Array, b: Array, p: int) -> int:
    return sum(int(x) * int(y) for x, y in zip(a, b, strict=True)) % p


def crossed(a: Array, b: Array, p: int) -> Array:
    """a × b modulo p."""
    (ax, ay, az), (bx, by, bz) = map(int, a), map(int, b)
    found = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    return np.array([x % p for x in found], dtype=np.int64)
