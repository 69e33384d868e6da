"""A polynomial as a person writes it: squares and products of C2 and S23, sums of angles collected.

For each monomial of the parameters the harmonics are turned into products: C2 C23 + S2 S23 is C3, a
constant and cos 2q are C² or S² where these alone are left, sin 2q is 2 S C. The result is the same
function in fewer and more familiar terms.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from numpy.polynomial import chebyshev, polynomial

from armdyn.closed_forms.symbolic_robot import Sum, SymbolicRobot
from armdyn.graph.ring import Coefficients, Trig

Angle = Sum | str
"""A sum of joints, or the name of a constant angle."""
Factor = tuple[Angle, int]
"""An angle φ with +w for cos(wφ) or -w for sin(wφ)."""
Power = tuple[str, Angle, int]
""""C" or "S", the angle, and the exponent."""
Product = tuple[Power, ...]
"""A product of powers of cosines and sines; empty: 1."""
Factors = tuple[Factor, ...]
Harmonics = dict[Factors, Fraction]
"""Products of cosines and sines of multiples, with their numbers."""
Powers = dict[tuple[Factors, Product], Fraction]
"""The same where some of the angles are powers already."""


@dataclass(frozen=True, slots=True)
class Term:
    """A product of cosines and sines with its coefficient, a polynomial of the parameters."""

    product: Product
    coefficient: Coefficients


def readable(robot: SymbolicRobot, value: Trig) -> list[Term]:
    """The terms of a polynomial, constants first."""
    by_monomial: dict[int, Harmonics] = defaultdict(dict)
    names = [robot.sums.get(k, name) for k, name in enumerate(robot.ring.angles)]
    for harmonic, monomial, number in value:
        factors = tuple((names[k], w) for k, w in enumerate(harmonic) if w)
        by_monomial[monomial][factors] = number
    found: dict[Product, Coefficients] = defaultdict(dict)
    for monomial, harmonics in by_monomial.items():
        for product, number in _products(_differences(harmonics, bool(robot.numbers))).items():
            found[product][monomial] = number
    return [Term(p, found[p]) for p in sorted(found, key=_order)]


def _differences(harmonics: Harmonics, reduced: bool) -> Harmonics:
    """Pairs that are the cosine or sine of a difference of angles, joined to one.

    cos a cos b + sin a sin b = cos(b - a),   cos a sin b - sin a cos b = sin(b - a)

    Of a robot with loops any two angles are tried.
    """
    found = dict(harmonics)
    for factors in sorted(harmonics, key=lambda f: (len(f), str(f))):
        for a, b, tail in _nested(factors, reduced):
            if factors not in found:
                break
            w, cosine = a[1], b[1] > 0
            partner = _replaced(factors, a, b, (a[0], -w), (b[0], -b[1]))
            expected = found[factors] if cosine else -found[factors]
            if w < 0 or found.get(partner) != expected:
                continue  # the partner starts from the cosine of the shorter sum
            number = found.pop(factors)
            del found[partner]
            forward = 1 if tail[0][1] > 0 else -1
            rest = tuple((joint, forward * sign) for joint, sign in tail)
            joined = _replaced(factors, a, b, (rest, w if cosine else -w))
            sign = 1 if cosine else forward
            found[joined] = found.get(joined, Fraction(0)) + sign * number
    return {factors: number for factors, number in found.items() if number}


def _nested(factors: Factors, reduced: bool) -> Iterator[tuple[Factor, Factor, Sum]]:
    """Pairs of factors of equal frequency, one angle the start of the other, and the rest of it."""
    for x, y in combinations(factors, 2):
        a, b = (x, y) if len(x[0]) < len(y[0]) or (reduced and len(x[0]) == len(y[0])) else (y, x)
        short, long = a[0], b[0]
        if isinstance(short, str) or isinstance(long, str) or abs(a[1]) != abs(b[1]):
            continue
        if len(short) < len(long) and long[: len(short)] == short:
            yield a, b, long[len(short) :]
        elif reduced and (rest := _difference(long, short)):
            yield a, b, rest


def _difference(a: Sum, b: Sum) -> Sum:
    """a - b."""
    ratios = dict(a)
    for joint, ratio in b:
        ratios[joint] = ratios.get(joint, 0) - ratio
    return tuple((joint, ratio) for joint, ratio in sorted(ratios.items()) if ratio)


def _replaced(factors: Factors, a: Factor, b: Factor, *new: Factor) -> Factors:
    rest = [f for f in factors if f not in (a, b)]
    return tuple(sorted([*rest, *new], key=lambda f: _angle_order(f[0])))


def _products(harmonics: Harmonics) -> dict[Product, Fraction]:
    """Frequencies as powers of cosines and sines, angle by angle."""
    angles = sorted({angle for factors in harmonics for angle, _ in factors}, key=_angle_order)
    found: Powers = {(factors, ()): number for factors, number in harmonics.items()}
    for angle in angles:
        groups: dict[tuple[Factors, Product], dict[int, Fraction]] = defaultdict(dict)
        for (factors, product), number in found.items():
            rest = tuple(f for f in factors if f[0] != angle)
            groups[rest, product][dict(factors).get(angle, 0)] = number
        found = {}
        for (rest, product), numbers in groups.items():
            for (c, s), number in _polynomial(numbers).items():
                more = tuple((f, angle, e) for f, e in (("C", c), ("S", s)) if e)
                found[rest, product + more] = number
    return {product: number for (_, product), number in found.items()}


def _polynomial(numbers: dict[int, Fraction]) -> dict[tuple[int, int], Fraction]:
    """Σ x_w cos(wφ) + y_w sin(wφ) as powers of C and S: the square that leaves less behind."""
    found: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    double = numbers.pop(2, Fraction(0))
    for w, number in numbers.items():
        for powers, factor in power_form(w).items():
            found[powers] += number * factor
    constant = found[0, 0]
    if abs(constant + double) < abs(constant - double):
        found[0, 2] -= 2 * double  # cos 2φ = 1 - 2 S²
        found[0, 0] = constant + double
    else:
        found[2, 0] += 2 * double  # cos 2φ = 2 C² - 1
        found[0, 0] = constant - double
    return {powers: number for powers, number in found.items() if number}


def power_form(w: int) -> dict[tuple[int, int], int]:
    """cos(wφ), or sin(-wφ) for negative w, by exponents of C and S: T_w(C), or S T_w'(C) / w."""
    cosine = chebyshev.cheb2poly([0] * abs(w) + [1])
    powers = cosine if w >= 0 else polynomial.polyder(cosine) / -w
    return {(c, int(w < 0)): round(k) for c, k in enumerate(powers) if k}


def _angle_order(angle: Angle) -> tuple[int, tuple[int, ...], str]:
    if isinstance(angle, str):
        return 0, (), angle
    return 1, tuple(joint for joint, _ in angle), ""


def _order(product: Product) -> tuple[int, int, list[tuple[int, tuple[int, ...], str]], str]:
    moving = [p for p in product if not isinstance(p[1], str)]
    degree = sum(e for _, _, e in moving)
    return len(moving) and 1, degree, [_angle_order(a) for _, a, _ in product], str(product)
