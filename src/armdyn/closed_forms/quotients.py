"""Quotients of trigonometric polynomials with one denominator, reduced term by term.

The denominator is split into its symbols, the cosines and sines that divide it, and the rest. A
numerator is split by the products of its other symbols, and each part is reduced on its own: so
(m1 + m2 S2²) / S2² becomes m2 + m1 / S2².
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import gcd, lcm

from armdyn.closed_forms.readable import readable
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.graph.division import take_out
from armdyn.graph.ring import BITS, Coefficients, Harmonic, Trig

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
    divisor = gcd(*(n.numerator for n in numbers))
    content = Fraction(-divisor if negative else divisor, lcm(*(n.denominator for n in numbers)))
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
