"""Polynomials with numbers in place of parameters."""

import math
from collections import defaultdict
from fractions import Fraction

from armdyn.algebra.ring import Coefficients, Harmonic, Trig
from armdyn.equations.symbolic_robot import SymbolicRobot

CANCELLATION_TOLERANCE = 1e-13
"""A sum that is smaller, relative to its terms, is zero."""


def numeric(robot: SymbolicRobot, value: Trig) -> Trig:
    """The polynomial with the values of all parameters and constant angles put in."""
    sums: dict[tuple[Harmonic, int], Fraction] = defaultdict(Fraction)
    sizes: dict[tuple[Harmonic, int], Fraction] = defaultdict(Fraction)
    ring, known = robot.ring, robot.values
    for harmonic, packed, coefficient in value:
        number, rest = coefficient, {}
        for name, exponent in ring.exponents(packed).items():
            if name in known:
                number *= Fraction(known[name]) ** exponent
            else:
                rest[name] = exponent
        for place, w in enumerate(harmonic):
            if w and place not in robot.sums:
                angle = known[ring.angles[place]]
                number *= Fraction(math.cos(w * angle) if w > 0 else math.sin(-w * angle))
        moving = tuple(w if place in robot.sums else 0 for place, w in enumerate(harmonic))
        key = moving, ring.monomial(rest)
        sums[key] += number
        sizes[key] += abs(number)
    terms: dict[Harmonic, Coefficients] = defaultdict(dict)
    for (harmonic, packed), number in sums.items():
        if abs(number) > CANCELLATION_TOLERANCE * sizes[harmonic, packed]:
            terms[harmonic][packed] = number
    return Trig(ring, dict(terms))
