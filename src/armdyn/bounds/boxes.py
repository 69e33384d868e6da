"""Bounds of a torque over boxes of positions, by control points.

Over |d| <= h with t = tan(d/2) = x tan(h/2), the functions of an angle are quotients of
polynomials of degree four over (1 + t²)², all of whose Bernstein coefficients are positive for
h < π/2; so the point (1, c, s, c², cs) is a mean of five control points, and a torque, linear in
this point joint by joint, a mean of its values at all combinations. Degree one needs the corners of
a trapezoid around the arc. The largest torque over rates and accelerations, F(row), is a maximum
of linear functions of the row, therefore convex, and largest at a control point.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.bounds.polynomials import U
from armdyn.bounds.rows import Row
from armdyn.forks import cached_property

MOST_SIGNS = 9
"""Speeds of which all combinations of signs are tried for a state."""
SWEEPS = 5
"""How often each speed of a state follows all others."""
WIDEST = 1.2
"""Half the width of a box of an angle at most [rad]; wider ones are split."""
TRAPEZOID, QUARTIC, PARABOLA = 4, 5, 3
"""Control points of an angle of degree one, of degree two, and of a slide."""
_X = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
_XX = np.array([1.0, 0.0, -1 / 3, 0.0, 1.0])
_XXX = np.array([-1.0, 0.5, 0.0, -0.5, 1.0])
_XXXX = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
"""Bernstein coefficients of degree four of x to x⁴ on [-1, 1]."""


def controls(kind: int, middle: Array, half: Array) -> Array:
    """Control points (..., points, functions) of one joint over boxes |q - middle| <= half."""
    m, h = middle[..., None], half[..., None]
    one = np.ones((*middle.shape, kind))
    if kind == PARABOLA:
        x = m + h * np.array([-1.0, 0.0, 1.0])
        return np.stack(
            [one, x, m * m + h * (2 * m * np.array([-1.0, 0, 1]) + h * [1.0, -1.0, 1.0])], -1
        )
    t = np.tan(0.5 * h)
    if kind == TRAPEZOID:
        ends = (1 - t * t) / (1 + t * t) * one
        c, s = ends.copy(), t * np.array([-2.0, -1.0, 1.0, 2.0])
        c[..., 1:3] = 1.0
        s[..., [0, 3]] /= 1 + t * t
        a, b = np.cos(m), np.sin(m)
        return np.stack([one, a * c - b * s, b * c + a * s], -1)
    t2 = t * t
    w = 1 + t2 * (2 * _XX + t2 * _XXXX)
    c, s = (1 - t2 * t2 * _XXXX) / w, 2 * t * (_X + t2 * _XXX) / w
    cc, cs = (1 + t2 * (t2 * _XXXX - 2 * _XX)) / w, 2 * t * (_X - t2 * _XXX) / w
    ss = 4 * t2 * _XX / w
    a, b = np.cos(m), np.sin(m)
    functions = (
        *(one, a * c - b * s, b * c + a * s),
        a * a * cc - 2 * a * b * cs + b * b * ss,
        a * b * (cc - ss) + (a * a - b * b) * cs,
    )
    return np.stack(functions, -1)


def boxes(low: Array, high: Array, depth: Array, index: Array) -> tuple[Array, Array]:
    """Middles and half widths (m, joints) of boxes: the index-th of 2^depth parts of each range.

    Half widths are larger by more than the rounding of the ends and of the angles.
    """
    width = np.ldexp(high - low, -depth)
    middle = low + (index + 0.5) * width
    return middle, 0.5 * width + 16 * U * (np.abs(low) + np.abs(high))


class Tensor:
    """A row, contracted joint by joint with the control points of boxes."""

    def __init__(self, row: Row):
        self.row = row
        count = len(row.joints)
        self.kinds = [
            PARABOLA if slides else QUARTIC if row.functions[:, k].max() > 2 else TRAPEZOID
            for k, slides in enumerate(row.slides)
        ]
        # what is left after each joint: the entry and the functions of later joints
        groups, inverse = np.unique(
            np.column_stack([row.entries, row.functions]), axis=0, return_inverse=True
        )
        self.start = np.zeros(len(groups))
        np.add.at(self.start, inverse.ravel(), row.numbers)
        self.steps: list[tuple[Array, Array]] = []
        for _ in range(count):
            used = np.unique(groups[:, 1])
            rest, inverse = np.unique(
                np.column_stack([groups[:, 0], groups[:, 2:]]), axis=0, return_inverse=True
            )
            places = np.full((len(rest), len(used)), len(groups))
            places[inverse.ravel(), np.searchsorted(used, groups[:, 1])] = np.arange(len(groups))
            self.steps.append((used, places))
            groups = rest
        self.entries = groups[:, 0]

    def values(self, points: Sequence[Array]) -> Array:
        """The entries (boxes, entries, points) at all combinations of points of the joints.

        Args:
            points: For each joint (boxes, its points, functions).
        """
        m = len(points[0]) if points else 1
        values = np.broadcast_to(self.start[None, :, None], (m, len(self.start), 1))
        for (used, places), point in zip(self.steps, points, strict=True):
            padded = np.concatenate([values, np.zeros((m, 1, values.shape[2]))], axis=1)
            found = np.matmul(point[:, None][..., used], padded[:, places])
            values = found.reshape(m, len(places), -1)
        return values


class Support:
    """F(row): the largest of ±torque over accelerations and speeds in their limits.

    -γ v² is not largest at the ends; it is replaced by its tangents at the multiples of 1/L, whose
    corners are at v = (i + ½)/L, of height -γ i (i + 1)/L². The last speed is taken exactly.
    """

    def __init__(self, rates: Sequence[tuple[int, ...]], sizes: Array, tangents: Array):
        """Make it for entries of these rates, of these sizes, with so many tangents a speed."""
        self.G = [k for k, r in enumerate(rates) if not r]
        self.M = [k for k, r in enumerate(rates) if len(r) == 1]
        squares = [(k, r) for k, r in enumerate(rates) if len(r) == 2]
        weight = dict.fromkeys(sorted({v for _, r in squares for v in r}), 0.0)
        for k, r in squares:
            for v in set(r):
                weight[v] += sizes[k]
        # the most coupled speeds first; last the one that would take most tangents
        self.speeds = sorted(weight, key=lambda v: -weight[v])
        if self.speeds:
            last = max(self.speeds, key=lambda v: (tangents[v], -weight[v]))
            self.speeds = [*(v for v in self.speeds if v != last), last]
        place = {v: k for k, v in enumerate(self.speeds)}
        count = len(self.speeds)
        self.B = np.full((count, count), -1)
        self.C = np.full(count, -1)
        for k, r in squares:
            a, b = place[r[0]], place[r[1]]
            if a == b:
                self.C[a] = k
            else:
                self.B[a, b] = self.B[b, a] = k
        self.tangents = [int(tangents[v]) for v in self.speeds]

    def largest(self, e: Array) -> tuple[Array, Array, Array]:
        """The largest ±torque at entries (m, entries), its sign, and speeds (m, n) that reach it.

        Speeds begin at the best of their ends, and follow each other to where each is best: what
        is found is reached, but perhaps not the largest.
        """
        m, count = len(e), len(self.speeds)
        padded = np.concatenate([e, np.zeros((m, 1))], axis=1)
        held, g = np.abs(e[:, self.M]).sum(1), e[:, self.G].sum(1)
        B, C = padded[:, self.B], padded[:, self.C]
        best, signs, speeds = np.full(m, -np.inf), np.zeros(m), np.zeros((m, count))
        j, k = np.triu_indices(count, 1)
        ends = self._ends
        products = padded[:, self.B[j, k]] @ (ends[:, j] * ends[:, k]).T + C.sum(1)[:, None]
        for sign in (1.0, -1.0):
            v = ends[np.argmax(sign * products, axis=1)].copy()
            for _ in range(SWEEPS):
                for i in range(count):
                    p, c = sign * (B[:, i] * v).sum(1), sign * C[:, i]
                    size = np.where(-2 * c > np.abs(p), np.abs(p) / np.maximum(-2 * c, 1e-300), 1.0)
                    v[:, i] = np.where(p < 0, -size, size)
            found = np.einsum("mi,mij,mj->m", v, 0.5 * B, v) + (C * v * v).sum(1)
            value = sign * (found + g) + held
            better = value > best
            best, signs = np.where(better, value, best), np.where(better, sign, signs)
            speeds = np.where(better[:, None], v, speeds)
        return best, signs, speeds

    @cached_property
    def _ends(self) -> Array:
        """Speeds at their ends, (combinations, n): all, or some of very many."""
        count = len(self.speeds)
        if count <= MOST_SIGNS:
            bits = np.arange(2 ** max(0, count - 1))[:, None] >> np.arange(count)
        else:
            bits = np.random.default_rng(0).integers(0, 2, (2 ** (MOST_SIGNS - 1), count))
        return 1.0 - 2.0 * (bits & 1)


def corners(tangents: int) -> list[tuple[float, float, float]]:
    """Sizes of a speed, its square, and what stands for the square where its factor is negative.

    Without tangents that is nothing: a square with a negative factor is left out.
    """
    inner = [((i + 0.5) / tangents, i * (i + 1) / tangents**2) for i in range(tangents)]
    return [(1.0, 1.0, 1.0 if tangents else 0.0), *((v, v * v, w) for v, w in inner)]
