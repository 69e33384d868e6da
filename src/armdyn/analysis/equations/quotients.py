"""Quotients of trigonometric polynomials with one denominator, reduced term by term.

The denominator is split into its symbols, the cosines and sines that divide it, and what is left.
Of a numerator, the part with each product of other symbols is reduced for itself: so the mass
(m1 + m2 S2²) / S2² is written m2 + m1 / S2².
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from armdyn.algebra.division import divide
from armdyn.algebra.ring import BITS, Coefficients, Harmonic, Trig
from armdyn.analysis.equations.expressions import expression
from armdyn.analysis.equations.written import Written


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """A numerator over a product of powers."""

    numerator: Trig
    divisors: tuple[tuple[Trig, int], ...]
    """Factors of the denominator with their exponents, none zero."""


@dataclass(frozen=True, eq=False)
class Denominator:
    """A polynomial in factors."""

    robot: Written
    factors: tuple[tuple[Trig, int], ...]
    scale: Trig
    """A number."""
    outside: int
    """Mask of the symbols that it does not have."""

    @classmethod
    def of(cls, robot: Written, value: Trig) -> "Denominator":
        """The factors of a polynomial that is not zero."""
        rest, factors = value, []
        for candidate in _candidates(robot, value):
            rest, exponent = _divided(rest, candidate)
            if exponent:
                factors.append((candidate, exponent))
        if rest.symbols() or not rest.constant:
            factors.append((rest, 1))
            rest = robot.ring.number(1)
        places = [robot.ring.place[name] for name in value.symbols()]
        inside = sum(((1 << BITS) - 1) << (BITS * place) for place in places)
        return cls(robot, tuple(factors), rest, ~inside)

    def quotients(self, numerator: Trig, power: int) -> list[Quotient]:
        """A numerator over a power of this, reduced; one quotient for each denominator left."""
        number = next(iter((self.scale**power).terms.values()))[0]
        found: dict[tuple[int, ...], Trig] = {}
        for part in self._parts(numerator / number):
            left = []
            for factor, exponent in self.factors:
                part, divided = _divided(part, factor, power * exponent)
                left.append(power * exponent - divided)
            key = tuple(left)
            found[key] = found[key] + part if key in found else part
        return [
            Quotient(found[key], tuple((f, e) for (f, _), e in zip(self.factors, key, strict=True) if e))
            for key in sorted(found, key=sum)
            if found[key]
        ]

    def expression(self) -> Any:
        """The product of the factors, in SymPy."""
        result = expression(self.robot, self.scale)
        for factor, exponent in self.factors:
            result = result * expression(self.robot, factor) ** exponent
        return result

    def _parts(self, numerator: Trig) -> Iterator[Trig]:
        """The parts of a numerator by products of symbols that the denominator does not have."""
        parts: dict[int, dict[Harmonic, Coefficients]] = {}
        for harmonic, monomial, number in numerator:
            part = parts.setdefault(monomial & self.outside, {})
            part.setdefault(harmonic, {})[monomial] = number
        for terms in parts.values():
            yield Trig(numerator.ring, terms)


def sum_expression(robot: Written, quotients: Sequence[Quotient]) -> Any:
    """A sum of quotients in SymPy."""
    total = expression(robot, robot.ring.number(0))
    for quotient in quotients:
        part = expression(robot, quotient.numerator)
        for factor, exponent in quotient.divisors:
            part = part / expression(robot, factor) ** exponent
        total = total + part
    return total


def _divided(value: Trig, factor: Trig, most: int = 1 << BITS) -> tuple[Trig, int]:
    """What is left of a polynomial when a factor is taken out as often as it goes."""
    for count in range(most):
        less = divide(value, factor)
        if less is None:
            return value, count
        value = less
    return value, most


def _candidates(robot: Written, value: Trig) -> Iterator[Trig]:
    """Symbols, and cosines and sines of the angles and their differences."""
    ring = robot.ring
    yield from (ring.symbol(name) for name in sorted(value.symbols(), key=ring.place.get))
    used = [k for k in range(len(ring.angles)) if any(h[k] for h in value.terms)]
    angles = [{k: 1} for k in used]
    for k, j in permutations(used, 2):
        start = robot.sums.get(j, ())
        if start and robot.sums.get(k, ())[: len(start)] == start:
            angles.append({k: 1, j: -1})
    for angle in angles:
        yield ring.sin(angle)
        yield ring.cos(angle)
