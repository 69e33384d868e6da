"""Polynomials of sines and cosines with a bound of their rounding: one more kind of values.

A value is Σ k m(q) r + e with |e| ≤ `error` at every state. The monomials m are products of cᵃ sᵇ
of joints that turn, b at most 1, and of powers of x of joints that slide, q = middle + half x with
|x| ≤ 1; r is 1, a rate q̇_j, an acceleration q̈_j or a product q̇_j q̇_k, each as a share of its
limit. No monomial exceeds 1, so that the sum of |k| bounds a polynomial and a single number bounds
what the rounding of all its coefficients does.

Rounding, with u = 2⁻⁵³: a coefficient of a product is the sum of N rounded products, and differs
from its exact value by at most (N + 1) u Σ|products| / (1 - (N + 1) u); those are added up for all
coefficients. Errors themselves are sums and products of positive numbers of few terms; `UP` is more
than what these lose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError

U = 2.0**-53
UP = 1 + 1e-12
BITS = 5
"""Of each joint in a key: three for the power of its cosine, two for that of its sine; all five
for the power of a slide."""
SINE = 3
MOST_COORDINATES = 12
"""Whose monomials fit into a key of 63 bits."""
HIGHEST_POWER = 7
TINY = np.finfo(float).tiny


class Monomials:
    """The coordinates of a family of polynomials, and the products of their rates."""

    def __init__(self, slides: Sequence[bool]):
        self.n = n = len(slides)
        self.slides = tuple(slides)
        self.pairs = [(j, k) for j in range(n) for k in range(j, n)]
        place = {pair: 1 + 2 * n + p for p, pair in enumerate(self.pairs)}
        self.pair_place = place
        self.rates = 1 + 2 * n + len(self.pairs)
        times = np.full((self.rates, self.rates), -1)
        times[0] = times[:, 0] = np.arange(self.rates)
        for (j, k), at in place.items():
            times[1 + j, 1 + k] = times[1 + k, 1 + j] = at
        self.times = times
        """The place of the product of two monomials of rates; -1: it is none of a torque."""


class Polynomial:
    """A value; arithmetic makes new ones."""

    __slots__ = ("error", "frame", "keys", "numbers", "rates")

    def __init__(self, frame: Monomials, keys: Array, rates: Array, numbers: Array, error: float):
        self.frame, self.keys, self.rates = frame, keys, rates
        self.numbers, self.error = numbers, error

    @staticmethod
    def number(frame: Monomials, value: float, error: float = 0.0) -> Polynomial:
        """A constant."""
        if not math.isfinite(value):
            raise ModelError("a number of the program is not finite, so that nothing is proved")
        return Polynomial.term(frame, 0, 0, value, error)

    @staticmethod
    def term(frame: Monomials, key: int, rate: int, value: float, error: float = 0.0) -> Polynomial:
        """One monomial times a number."""
        kept = slice(None) if value else slice(0)
        key_of, rate_of = np.array([key])[kept], np.array([rate])[kept]
        return Polynomial(frame, key_of, rate_of, np.array([float(value)])[kept], error)

    @property
    def size(self) -> float:
        """No smaller than its largest value."""
        return float(np.abs(self.numbers).sum()) * UP + self.error

    @property
    def constant(self) -> bool:
        """Whether it is a number, but for its error."""
        return not (self.keys.any() or self.rates.any())

    def plus(self, other: Polynomial, sign: float = 1.0) -> Polynomial:
        """The sum, or the difference."""
        keys = np.concatenate([self.keys, other.keys])
        rates = np.concatenate([self.rates, other.rates])
        numbers = np.concatenate([self.numbers, sign * other.numbers])
        return _collected(self.frame, keys, rates, numbers, self.error + other.error)

    def times(self, other: Polynomial) -> Polynomial:
        """The product, with s² = 1 - c²."""
        frame = self.frame
        error = self.size * other.error + other.size * self.error + self.error * other.error
        rates = frame.times[self.rates[:, None], other.rates].ravel()
        if (rates < 0).any():
            raise ModelError("a torque is not quadratic in the rates, so that nothing is proved")
        keys = (self.keys[:, None] + other.keys).ravel()
        numbers = (self.numbers[:, None] * other.numbers).ravel()
        for j, slides in enumerate(frame.slides):
            field = (keys >> (BITS * j)) & (2**BITS - 1)
            if not slides and (square := (field >> SINE) == 2).any():
                less = keys[square] - (2 << (BITS * j + SINE))
                keys = np.concatenate([np.where(square, keys - (2 << (BITS * j + SINE)), keys),
                                       less + (2 << (BITS * j))])  # fmt: skip
                numbers = np.concatenate([numbers, -numbers[square]])
                rates = np.concatenate([rates, rates[square]])
                field = (keys >> (BITS * j)) & (2**BITS - 1)
            if field.size and int((field & (2**SINE - 1)).max()) > HIGHEST_POWER - 2:
                raise ModelError("a power of a position is too high for its bound")
        return _collected(frame, keys, rates, numbers, error * UP)

    def over(self, other: Polynomial) -> Polynomial:
        """The quotient by a number."""
        number = float(other.numbers.sum())
        if not other.constant or abs(number) <= other.error:
            raise ModelError("a torque is a quotient of polynomials, so that nothing is proved")
        inverse = 1 / number
        error = other.error / (abs(number) * (abs(number) - other.error)) + U * abs(inverse)
        return self.times(Polynomial.number(self.frame, inverse, error * UP))


def _collected(
    frame: Monomials, keys: Array, rates: Array, numbers: Array, error: float
) -> Polynomial:
    """The polynomial of terms that may stand more than once."""
    if not len(numbers):
        return Polynomial(frame, keys, rates, numbers, error)
    whole = keys * frame.rates + rates
    order = np.argsort(whole, kind="stable")
    whole, numbers = whole[order], numbers[order]
    starts = np.flatnonzero(np.concatenate([[True], whole[1:] != whole[:-1]]))
    most = int(np.diff(np.append(starts, len(whole))).max())
    rounding = (most + 1) * U * float(np.abs(numbers).sum()) + len(numbers) * TINY
    sums, whole = np.add.reduceat(numbers, starts), whole[starts]
    kept = sums != 0
    keys, rates = np.divmod(whole[kept], frame.rates)
    return Polynomial(frame, keys, rates, sums[kept], (error + rounding) * UP)


class Turn:
    """An angle: a sum of whole multiples of positions, and a number."""

    __slots__ = ("error", "frame", "multiples", "offset")

    def __init__(
        self, frame: Monomials, multiples: Mapping[int, float], offset: float, error: float
    ):
        self.frame, self.offset, self.error = frame, offset, error
        self.multiples = {j: m for j, m in multiples.items() if m}

    def plus(self, other: Turn, sign: float = 1.0) -> Turn:
        """The sum, or the difference."""
        multiples = dict(self.multiples)
        for j, m in other.multiples.items():
            multiples[j] = multiples.get(j, 0.0) + sign * m
        offset = self.offset + sign * other.offset
        error = self.error + other.error + U * abs(offset)
        return Turn(self.frame, multiples, offset, error * UP)

    def times(self, factor: float) -> Turn:
        """A multiple."""
        multiples = {j: m * factor for j, m in self.multiples.items()}
        error = abs(factor) * self.error + U * abs(self.offset * factor)
        return Turn(self.frame, multiples, self.offset * factor, error * UP)

    def circle(self) -> tuple[Polynomial, Polynomial]:
        """Cosine and sine, by the sum formulas."""
        frame = self.frame
        error = (self.error + 2 * U) * UP  # a libm is right to 2 ulp of 1 at least
        c = Polynomial.number(frame, math.cos(self.offset), error if self.offset else 0.0)
        s = Polynomial.number(frame, math.sin(self.offset), error if self.offset else 0.0)
        for j, m in self.multiples.items():
            if m != int(m) or abs(m) > 2:
                raise ModelError(
                    f"coordinate {j + 1} turns something by {m:g} times its angle, whose sine is "
                    "no polynomial; no bound is proved for this robot"
                )
            cosine = Polynomial.term(frame, 1 << (BITS * j), 0, 1.0)
            sine = Polynomial.term(frame, 1 << (BITS * j + SINE), 0, math.copysign(1.0, m))
            for _ in range(abs(int(m))):
                c, s = (
                    c.times(cosine).plus(s.times(sine), -1.0),
                    s.times(cosine).plus(c.times(sine)),
                )
        return c, s


def polynomial_operations(frame: Monomials) -> dict[str, Callable[..., Any]]:
    """What each operation does to polynomials and angles; see `graph.evaluate`."""

    def both(a: Any, b: Any) -> tuple[Any, Any]:
        """Two of a kind: a number beside an angle is one."""
        kinds = isinstance(a, Turn), isinstance(b, Turn)
        if any(kinds) and not all(kinds):
            return _turn(a), _turn(b)
        return a, b

    def add(a: Any, b: Any) -> Any:
        a, b = both(a, b)
        return a.plus(b)

    def sub(a: Any, b: Any) -> Any:
        a, b = both(a, b)
        return a.plus(b, -1.0)

    def mul(a: Any, b: Any) -> Any:
        if isinstance(b, Turn):
            a, b = b, a
        if isinstance(a, Turn):
            return a.times(_exact_number(b))
        return a.times(b)

    def neg(a: Any) -> Any:
        return a.times(-1.0) if isinstance(a, Turn) else a.times(Polynomial.number(frame, -1.0))

    def root(a: Any) -> Any:
        value = float(a.numbers.sum())
        if isinstance(a, Turn) or not a.constant or value <= 2 * a.error:
            raise ModelError("a torque is a root of positions, so that nothing is proved")
        error = a.error / math.sqrt(value) + U * math.sqrt(value)
        return Polynomial.number(frame, math.sqrt(value), error * UP)

    return {
        **{"add": add, "sub": sub, "mul": mul, "neg": neg, "angle_sum": add, "sqrt": root},
        "div": lambda a, b: a.over(b),
        "cos": lambda a: _turn(a).circle()[0],
        "sin": lambda a: _turn(a).circle()[1],
        "number": lambda x: Polynomial.number(frame, float(x)),
    }


def _turn(a: Any) -> Turn:
    if isinstance(a, Turn):
        return a
    if not a.constant:
        raise ModelError(
            "an angle is no sum of positions of joints that turn, so that nothing is proved"
        )
    return Turn(a.frame, {}, float(a.numbers.sum()), a.error)


def _exact_number(a: Any) -> float:
    if isinstance(a, Turn) or not a.constant or a.error:
        raise ModelError(
            "a torque depends on an angle itself, not only on its sine and cosine (a screw or a "
            "spring at a joint); no bound is proved for this robot"
        )
    return float(a.numbers.sum())
