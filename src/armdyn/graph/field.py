"""The finite field: numbers modulo a prime, in which what is equal is equal, and zero is zero.

Residues come as integers, for graphs (`FiniteField`, a point of the field at which a graph has
values), and as arrays of uint64, for many at once. Sums, products and quotients are exact, and a
float is the binary fraction that it is. An angle is a point of the rational circle, so that
sin² + cos² = 1 and the sums of angles hold. A square root is a true one where its operand has one,
which about half of all have; other functions that are not rational have pseudo-random values by
their operand.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.forks import cached_property
from armdyn.graph.evaluate import Table, run
from armdyn.graph.nodes import Node
from armdyn.graph.operations import OPERATIONS
from armdyn.graph.visit import inside_angles, reachable

PRIME = 2**61 - 1
"""The field in which two graphs are compared: if they differ, they agree at a random point with a
probability of about their degree divided by this."""
OTHER_PRIME = 2**61 - 2373
"""The field of a second comparison: in the first, 2⁶¹ is 1, so that a number which is rounding, as
2⁻⁶⁰, is taken for a plain one, 2; here the powers of 2 are as many as the field has numbers."""
CirclePoint = tuple[int, int]
"""Cosine and sine of an angle in the field."""
MOST_DRAWS = 64
"""How often a point is drawn until every square root in it is a true one."""


def number_residue(value: int | float, prime: int = PRIME) -> int:
    """A number modulo a prime, exactly: a float is the binary fraction that it is."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * pow(denominator, -1, prime) % prime


def residue(op: str, operands: Sequence[int], prime: int = PRIME) -> int:
    """An operation modulo a prime, by the operands or the cosine and sine of an angle."""
    exact = OPERATIONS[op].residue
    assert exact is not None
    return exact(*operands, prime)


def square_root(value: int, prime: int = PRIME) -> int | None:
    """A root of a residue modulo a prime that is 3 modulo 4; None if it has none."""
    root = pow(value, (prime + 1) // 4, prime)
    return root if root * root % prime == value % prime else None


def circle_point(half: int, prime: int = PRIME) -> CirclePoint:
    """Cosine and sine of the angle with this tangent of its half: their squares are 1 exactly."""
    scale = pow(1 + half * half, -1, prime)
    return (1 - half * half) * scale % prime, 2 * half * scale % prime


def sum_of_angles(a: CirclePoint, b: CirclePoint, prime: int = PRIME) -> CirclePoint:
    """cos and sin of the sum of two angles."""
    return (a[0] * b[0] - a[1] * b[1]) % prime, (a[1] * b[0] + a[0] * b[1]) % prime


def mirrored(a: CirclePoint, prime: int = PRIME) -> CirclePoint:
    """cos and sin of the opposite angle."""
    return a[0], -a[1] % prime


def _multiple(a: CirclePoint, times: int, prime: int) -> CirclePoint:
    """cos and sin of a whole multiple of an angle, by doubling."""
    result, a = (1, 0), a if times >= 0 else mirrored(a, prime)
    for bit in bin(abs(times))[2:]:
        result = sum_of_angles(result, result, prime)
        result = sum_of_angles(result, a, prime) if bit == "1" else result
    return result


# graphs at a point of the field


class _Angle(int):
    """A residue that is also an angle: a symbol used as both has an independent value for each."""

    point: CirclePoint
    times: int | None = None
    """The number itself, if it is a whole one: a factor of angles."""


class FiniteField:
    """A pseudo-random point of the field that depends on names alone.

    A number used as an angle is a symbol: that 0.5 + 0.25 = 0.75 is not known of angles.
    """

    def __init__(self, seed: int = 0, prime: int = PRIME):
        self.seed = seed
        self.prime = prime

    def residues(self, nodes: Sequence[Node], inside: set[int]) -> dict[int, int]:
        """Residues of nodes in order, by index; `inside` are those that are parts of angles."""
        leaves = {n.index: self._leaf(n, n.index in inside) for n in nodes if not n.args}
        steps = [
            (n.index, f"angle {n.op}" if n.index in inside else n.op, [a.index for a in n.args])
            for n in nodes
            if n.args
        ]
        return run(steps, leaves, self._table)

    def has_roots(self, nodes: Iterable[Node], known: Mapping[int, int]) -> bool:
        """Whether every square root among nodes is a true one at this point."""
        roots = (known[n.index] ** 2 - known[n.args[0].index] for n in nodes if n.op == "sqrt")
        return not any(difference % self.prime for difference in roots)

    def values(self, outputs: Iterable[Node]) -> list[int]:
        """The residues of the outputs."""
        outputs = list(outputs)
        result = self.residues(reachable(outputs), inside_angles(outputs))
        return [result[node.index] for node in outputs]

    def point(self, name: str) -> CirclePoint:
        """A point of the circle that depends on a name."""
        return circle_point(self.draw(f"angle {name}"), self.prime)

    def draw(self, name: str) -> int:
        """A pseudo-random residue that depends on a name."""
        digest = hashlib.blake2b(f"{self.seed} {name}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "big") % self.prime

    def _leaf(self, leaf: Node, inside: bool) -> int:
        number = leaf.op == "number"
        value = (
            number_residue(leaf.value, self.prime) if number else self.draw(f"value {leaf.name}")
        )
        if not inside:
            return value
        point = self.point(f"number {abs(leaf.value)!r}" if number else leaf.name)
        angle = self._angle(value, mirrored(point, self.prime) if leaf.value < 0 else point)
        if number and isinstance(leaf.value, int):
            angle.times = leaf.value
        return angle

    def _angle(self, value: int, point: CirclePoint | None = None) -> _Angle:
        angle = _Angle(value)
        angle.point = self.point(f"value {value}") if point is None else point
        return angle

    @cached_property
    def _table(self) -> Table:
        """Operations on residues, and under "angle ..." on those that are parts of angles."""
        p, angle = self.prime, self._angle
        plain: dict[str, Callable[..., int]] = {name: self._operation(name) for name in OPERATIONS}
        plain |= {"add": lambda a, b: (a + b) % p, "mul": lambda a, b: a * b % p}

        def times(a: _Angle, b: _Angle) -> _Angle:
            for factor, turned in ((a, b), (b, a)):
                if factor.times is not None:
                    return angle(a * b % p, _multiple(turned.point, factor.times, p))
            return angle(a * b % p)

        own: Table = {
            "add": lambda a, b: angle((a + b) % p, sum_of_angles(a.point, b.point, p)),
            "sub": lambda a, b: angle((a - b) % p, sum_of_angles(a.point, mirrored(b.point, p), p)),
            "neg": lambda a: angle(-a % p, mirrored(a.point, p)),
            "mul": times,
        }
        whatever = {name: lambda *x, of=of: angle(of(*x)) for name, of in plain.items()}
        return plain | {f"angle {name}": of for name, of in (whatever | dict(own)).items()}

    def _operation(self, op: str) -> Callable[..., int]:
        def operation(*operands: Any) -> int:
            if op == "sqrt" and (root := square_root(operands[0], self.prime)) is not None:
                return root
            if OPERATIONS[op].residue is None:
                return self.draw(f"{op} {[int(x) for x in operands]}")
            try:
                turned = operands[0].point if OPERATIONS[op].cost == "trig" else operands
                return residue(op, turned, self.prime)
            except ValueError:  # zero has no inverse
                raise ZeroDivisionError("an expression divides by what is always zero") from None

        return operation


def proved_equal(a: Iterable[Node], b: Iterable[Node], points: int = 2) -> bool:
    """Whether two lists of outputs are the same functions, by exact evaluation at random points.

    The first is in one field, the others in the other. Points at which a square root has no true
    value are drawn again.
    """
    sides = [list(a), list(b)]
    walks = [(reachable(side), inside_angles(side)) for side in sides]
    for seed in range(points):
        for draw in range(MOST_DRAWS):
            field = FiniteField(seed + points * draw, OTHER_PRIME if seed else PRIME)
            known = [field.residues(*walk) for walk in walks]
            pairs = zip(walks, known, strict=True)
            if all(field.has_roots(nodes, at) for (nodes, _), at in pairs):
                break
        first, second = ([at[n.index] for n in side] for at, side in zip(known, sides, strict=True))
        if first != second:
            return False
    return True


def rank(rows: Iterable[Sequence[int]], prime: int = PRIME) -> int:
    """The rank of a matrix of residues, by elimination."""
    left = [list(row) for row in rows]
    pivots = 0
    for column in range(len(left[0])):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        pivots += 1
        left.remove(pivot)
        inverse = pow(pivot[column], -1, prime)
        for row in left:
            if row[column]:
                factor = row[column] * inverse % prime
                row[column:] = [
                    (x - factor * y) % prime
                    for x, y in zip(row[column:], pivot[column:], strict=True)
                ]
    return pivots


# arrays of residues

Residues = npt.NDArray[np.uint64]
"""Residues, each below the prime 2⁶¹ - 1."""

ZERO = np.zeros((), dtype=np.uint64)

_P = np.uint64(PRIME)
_LOW31 = np.uint64(2**31 - 1)
_LOW30 = np.uint64(2**30 - 1)
_1, _30, _31, _61 = (np.uint64(k) for k in (1, 30, 31, 61))


def add(a: Residues, b: Residues) -> Residues:
    """a + b."""
    return _settle(a + b)


def sub(a: Residues, b: Residues) -> Residues:
    """a - b."""
    return _settle(a + (_P - b))


def mul(a: Residues, b: Residues) -> Residues:
    """a b, from halves of 31 and 30 bits: 2⁶¹ is 1, so 2⁶² is 2."""
    a1, a0 = a >> _31, a & _LOW31
    b1, b0 = b >> _31, b & _LOW31
    middle = a1 * b0
    middle += a0 * b1
    total = (a1 << _1) * b1
    total += middle >> _30
    middle &= _LOW30
    middle <<= _31
    total += middle
    total += a0 * b0
    high = total >> _61
    total &= _P
    total += high
    return _settle(total)


def unsigned(a: Residues) -> Residues:
    """One residue for a and -a: the smaller."""
    return np.minimum(a, _P - a)


def roots(a: Residues) -> Residues:
    """A square root of each residue that has one, and 0 for the others."""
    root = a
    for _ in range(59):  # the exponent is (p + 1)/4 = 2⁵⁹, as p = 3 modulo 4
        root = mul(root, root)
    return np.where(mul(root, root) == a, root, np.uint64(0))


def _settle(a: Residues) -> Residues:
    return np.minimum(a, a - _P)  # below the prime the difference wraps around to a large number
