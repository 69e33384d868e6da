"""Trigonometric polynomials in a normal form, with exact rational coefficients.

A term is a rational number times a monomial of symbols times a product of at most one factor
cos(wφ) or sin(wφ) for each angle φ, with w a whole number. These products are linearly independent
functions, so a polynomial is zero only if all its coefficients are, and the coefficients of two
equal functions are the same.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted

Harmonic = tuple[int, ...]
"""For each angle of a ring 0, +w for cos(wφ) or -w for sin(wφ)."""
Monomial = int
"""The exponents of the symbols of a ring, eight bits each."""
BITS = 8
_MASK = (1 << BITS) - 1
Coefficients = dict[Monomial, Fraction]

_HALF = Fraction(1, 2)
_ONE = Fraction(1)


class Ring:
    """The angles and symbols of a family of polynomials."""

    def __init__(self, angles: Sequence[str], symbols: Sequence[str]):
        self.angles = tuple(angles)
        self.symbols = tuple(symbols)
        self.place = {name: i for i, name in enumerate(self.symbols)}
        self.unit: Harmonic = (0,) * len(self.angles)
        self.budget = math.inf
        """Products of terms that may still be formed; then an OverflowError ends the work."""
        self._products: dict[tuple[Harmonic, Harmonic], list[tuple[Harmonic, Fraction]]] = {}

    def number(self, value: Any) -> "Trig":
        """A number, exact: a float is the binary fraction that it is."""
        exact = Fraction(value)
        return Trig(self, {self.unit: {0: exact}} if exact else {})

    def symbol(self, name: str) -> "Trig":
        """One of the symbols."""
        return Trig(self, {self.unit: {self.monomial({name: 1}): _ONE}})

    def monomial(self, exponents: Mapping[str, int]) -> Monomial:
        """The monomial with these exponents."""
        return sum(e << (BITS * self.place[name]) for name, e in exponents.items())

    def exponents(self, monomial: Monomial) -> dict[str, int]:
        """The symbols of a monomial with their exponents."""
        found, i = {}, 0
        while monomial:
            if monomial & _MASK:
                found[self.symbols[i]] = monomial & _MASK
            monomial >>= BITS
            i += 1
        return found

    def cos(self, multiples: Mapping[int, int]) -> "Trig":
        """The cosine of a sum of whole multiples of angles, by their place."""
        return self._turn(multiples)[0]

    def sin(self, multiples: Mapping[int, int]) -> "Trig":
        """The sine of a sum of whole multiples of angles, by their place."""
        return self._turn(multiples)[1]

    def _turn(self, multiples: Mapping[int, int]) -> tuple["Trig", "Trig"]:
        c, s = self.number(1), self.number(0)
        for place, w in multiples.items():
            if w:
                before, after = self.unit[:place], self.unit[place + 1 :]
                ca = Trig(self, {(*before, abs(w), *after): {0: _ONE}})
                sa = Trig(self, {(*before, -abs(w), *after): {0: Fraction(w, abs(w))}})
                c, s = c * ca - s * sa, s * ca + c * sa
        return c, s

    def product(self, a: Harmonic, b: Harmonic) -> list[tuple[Harmonic, Fraction]]:
        """The product of two harmonics as a sum of harmonics."""
        found = self._products.get((a, b))
        if found is None:
            found = [((), _ONE)]
            for x, y in zip(a, b, strict=True):
                found = [((*h, z), f * g) for h, f in found for z, g in _factor(x, y)]
            self._products[a, b] = found
        return found


def _factor(x: int, y: int) -> list[tuple[int, Fraction]]:
    """The product of two factors of one angle, by the formulas for cosines and sines."""
    if not x or not y:
        return [(x or y, _ONE)]
    u, v = abs(x), abs(y)
    if min(x, y) > 0:
        return [(u + v, _HALF), (abs(u - v), _HALF)]
    if max(x, y) < 0:
        return [(abs(u - v), _HALF), (u + v, -_HALF)]
    both, more = [(-(u + v), _HALF)], -x - y  # the multiple of the sine less that of the cosine
    if more:
        both.append((-abs(more), Fraction(more, 2 * abs(more))))
    return both


class Trig:
    """An element of a ring; arithmetic makes new ones, in normal form."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: dict[Harmonic, Coefficients]):
        self.ring = ring
        self.terms = terms

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __len__(self) -> int:
        return sum(map(len, self.terms.values()))

    def __iter__(self) -> Iterator[tuple[Harmonic, Monomial, Fraction]]:
        for harmonic, coefficients in self.terms.items():
            for monomial, value in coefficients.items():
                yield harmonic, monomial, value

    def __add__(self, other: Any, sign: int = 1) -> "Trig":
        if isinstance(other, np.ndarray):  # its entries are combined one by one
            return NotImplemented
        terms = dict(self.terms)
        for harmonic, coefficients in self._other(other).terms.items():
            sum_ = dict(terms.get(harmonic, {}))
            _accumulate(sum_, coefficients, Fraction(sign))
            if sum_:
                terms[harmonic] = sum_
            else:
                terms.pop(harmonic, None)
        return Trig(self.ring, terms)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Trig":
        return self.__add__(other, -1)

    def __rsub__(self, other: Any) -> "Trig":
        return self._other(other) - self

    def __neg__(self) -> "Trig":
        return 0 - self

    def __mul__(self, other: Any) -> "Trig":
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = self._other(other)
        self.ring.budget -= len(self) * len(other)
        if self.ring.budget < 0:
            raise OverflowError("the polynomials grow beyond the budget of their ring")
        result: dict[Harmonic, Coefficients] = {}
        for a, p in self.terms.items():
            for b, q in other.terms.items():
                product = _multiply(p, q)
                for harmonic, factor in self.ring.product(a, b):
                    _accumulate(result.setdefault(harmonic, {}), product, factor)
        return Trig(self.ring, {h: c for h, c in result.items() if c})

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> "Trig":
        return math.prod([self] * exponent, start=self.ring.number(1))

    def __truediv__(self, number: Any) -> "Trig":
        return self * (1 / Fraction(number))

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, int | float | Fraction):
            other = self.ring.number(other)
        return isinstance(other, Trig) and self.terms == other.terms

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Trig of {counted(len(self), 'term')}>"

    def conjugate(self) -> "Trig":
        """Itself: everything is real."""
        return self

    __pos__ = conjugate

    # taking apart

    @property
    def constant(self) -> bool:
        """Whether it depends on no angle."""
        return not self.terms or list(self.terms) == [self.ring.unit]

    def symbols(self) -> set[str]:
        """The symbols that occur."""
        return {name for _, m, _ in self for name in self.ring.exponents(m)}

    def slope_of_angle(self, place: int) -> "Trig":
        """The derivative by an angle: cos(wφ)' = -w sin(wφ), sin(wφ)' = w cos(wφ)."""
        terms = {}
        for harmonic, coefficients in self.terms.items():
            w = harmonic[place]
            if w:
                turned = (*harmonic[:place], -w, *harmonic[place + 1 :])
                terms[turned] = {m: -w * c for m, c in coefficients.items()}
        return Trig(self.ring, terms)

    def slope_of_symbol(self, name: str) -> "Trig":
        """The derivative by a symbol."""
        shift = BITS * self.ring.place[name]
        terms: dict[Harmonic, Coefficients] = {}
        for harmonic, m, c in self:
            if e := (m >> shift) & _MASK:
                terms.setdefault(harmonic, {})[m - (1 << shift)] = c * e
        return Trig(self.ring, terms)

    def split(self, names: Iterable[str]) -> dict[tuple[Harmonic, Monomial], "Trig"]:
        """The coefficients of the independent functions of the angles and of some symbols."""
        mask = sum(_MASK << (BITS * self.ring.place[name]) for name in names)
        found: dict[tuple[Harmonic, Monomial], Coefficients] = {}
        for harmonic, monomial, value in self:
            inside = monomial & mask
            found.setdefault((harmonic, inside), {})[monomial - inside] = value
        unit = self.ring.unit
        return {key: Trig(self.ring, {unit: c}) for key, c in found.items()}

    def _other(self, other: Any) -> "Trig":
        return other if isinstance(other, Trig) else self.ring.number(other)


def _multiply(a: Coefficients, b: Coefficients) -> Coefficients:
    result: Coefficients = {}
    for m, x in a.items():
        for n, y in b.items():
            result[m + n] = result.get(m + n, 0) + x * y
    return {m: c for m, c in result.items() if c}


def _accumulate(into: Coefficients, more: Coefficients, factor: Fraction) -> None:
    for monomial, value in more.items():
        total = into.get(monomial, 0) + factor * value
        if total:
            into[monomial] = total
        else:
            into.pop(monomial, None)


def evaluate(
    value: Any, angles: Sequence[Any], symbols: Mapping[str, Any], batch: tuple[int, ...] = ()
) -> Array:
    """The values of an array of polynomials, (batch..., ...), at angles [rad] and symbols.

    These are numbers or arrays of the shape of the batch.
    """
    entries: Any = np.asarray(value, dtype=object)
    result = np.zeros((*batch, *entries.shape))

    @cache
    def harmonic(k: int, w: int) -> Any:
        return np.cos(w * angles[k]) if w > 0 else np.sin(-w * angles[k])

    for place in np.ndindex(entries.shape):
        result[(..., *place)] = _number(entries[place], harmonic, symbols)
    return result


def _number(value: Trig, harmonic_of: Callable[[int, int], Any], symbols: Mapping[str, Any]) -> Any:
    total: Any = 0.0
    for harmonic, coefficients in value.terms.items():
        part: Any = 0.0
        for monomial, number in coefficients.items():
            term: Any = float(number)
            for name, exponent in value.ring.exponents(monomial).items():
                term = term * symbols[name] ** exponent
            part = part + term
        for k, w in enumerate(harmonic):
            part = part * harmonic_of(k, w) if w else part
        total = total + part
    return total
