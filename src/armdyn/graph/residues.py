"""Numbers of a finite field that formulations can be fed in place of floats.

Sums, products and quotients are exact modulo a prime, so that what vanishes there vanishes, and
what does not is not zero. A float is the binary fraction that it is. Functions that are not
rational have pseudo-random values by their operand, odd where the function is; a root is a true one
where there is one.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.operations import PRIME, number_residue, square_root


def _binary(exact: Callable[[int, int], int]) -> Callable[["Residue", Any], Any]:
    """An operation on a residue and another one or a number; arrays go entry by entry."""

    def operation(self: "Residue", other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Residue(exact(self.value, _of(other)))

    return operation


class Residue:
    """A number modulo `PRIME`."""

    __slots__ = ("value",)

    def __init__(self, value: int):
        self.value = value % PRIME

    def __repr__(self) -> str:
        return f"<Residue {self.value}>"

    __add__ = __radd__ = _binary(lambda a, b: a + b)
    __mul__ = __rmul__ = _binary(lambda a, b: a * b)
    __sub__, __rsub__ = _binary(lambda a, b: a - b), _binary(lambda a, b: b - a)
    __truediv__ = _binary(lambda a, b: a * pow(b, -1, PRIME))
    __rtruediv__ = _binary(lambda a, b: b * pow(a, -1, PRIME))

    def __neg__(self) -> "Residue":
        return Residue(-self.value)

    def sqrt(self) -> "Residue":
        """A true root if there is one."""
        root = square_root(self.value)
        return drawn(f"sqrt {self.value}") if root is None else Residue(root)

    def sign(self) -> "Residue":
        """1 or -1, for opposite numbers opposite ones."""
        return Residue(1 if self.value < PRIME - self.value else -1)

    def tanh(self) -> "Residue":
        """An odd function."""
        return self.sign() * drawn(f"tanh {min(self.value, PRIME - self.value)}")

    def exp(self) -> "Residue":
        """Some function."""
        return drawn(f"exp {self.value}")

    def signed_power(self, exponent: float) -> "Residue":
        """An odd function for each exponent."""
        size = min(self.value, PRIME - self.value)
        return self.sign() * drawn(f"power {exponent!r} {size}")


class Position(Residue):
    """The position of a joint, with the cosine and sine of an angle that is unrelated to it."""

    __slots__ = ("circle",)

    def __init__(self, value: int, half: Any):
        super().__init__(value)
        self.circle = circle_point(half)

    def cos(self) -> Residue:
        """Of the angle."""
        return self.circle[0]

    def sin(self) -> Residue:
        """Of the angle."""
        return self.circle[1]


def circle_point(half: Any) -> tuple[Residue, Residue]:
    """Cosine and sine of the angle with this tangent of its half: their squares are 1 exactly."""
    t = Residue(_of(half))
    scale = 1 / (1 + t * t)
    return (1 - t * t) * scale, 2 * t * scale


def drawn(name: str) -> Residue:
    """A pseudo-random number that depends on a name."""
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return Residue(int.from_bytes(digest, "big"))


residues: Callable[[Any], Array] = np.vectorize(lambda x: Residue(_of(x)), otypes=[object])
"""An array of floats as one of residues."""


def rank(rows: Array) -> int:
    """The rank of a matrix of residues or floats, by elimination."""
    left = [[_of(x) for x in row] for row in rows]
    found = 0
    for column in range(rows.shape[1]):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        found += 1
        left.remove(pivot)
        inverse = pow(pivot[column], -1, PRIME)
        for row in left:
            if row[column]:
                factor = row[column] * inverse % PRIME
                row[column:] = [
                    (x - factor * y) % PRIME
                    for x, y in zip(row[column:], pivot[column:], strict=True)
                ]
    return found


def _of(number: Any) -> int:
    if isinstance(number, Residue):
        return number.value
    return number_residue(number if isinstance(number, int) else float(number)) if number else 0
