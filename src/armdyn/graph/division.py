"""Exact division of trigonometric polynomials.

In z = exp(iφ) a trigonometric polynomial is an ordinary one up to a power of z, and there division
by leading terms decides whether one divides another: C1 - C2 C12 is S2 S12, so S2 divides it.
"""

from fractions import Fraction

from armdyn.graph.ring import BITS, Coefficients, Harmonic, Monomial, Ring, Trig

Term = tuple[tuple[int, ...], Monomial]
"""The exponents of z for each angle, and a monomial of the symbols."""
Complex = tuple[Fraction, Fraction]
Laurent = dict[Term, Complex]


def take_out(value: Trig, factor: Trig, most: int) -> tuple[Trig, int]:
    """What is left of a polynomial when a factor is taken out, and how often it went, up to most.

    Zero, which everything divides, is left as it is.
    """
    if not value:
        return value, most
    rest, low = _shifted(_laurent(value))
    under, step = _shifted(_laurent(factor))
    count = 0
    while count < most and (quotient := _quotient(rest, under)) is not None:
        rest, count = quotient, count + 1
    if not count:
        return value, 0
    shift = tuple(a - count * b for a, b in zip(low, step, strict=True))
    return _real(value.ring, rest, shift), count


def _laurent(value: Trig) -> Laurent:
    result: Laurent = {}
    for harmonic, coefficients in value.terms.items():
        for exponents, (x, y) in _exponentials(harmonic):
            for monomial, number in coefficients.items():
                key = exponents, monomial
                u, v = result.get(key, (Fraction(0), Fraction(0)))
                result[key] = u + x * number, v + y * number
    return {key: number for key, number in result.items() if any(number)}


def _exponentials(harmonic: Harmonic) -> list[tuple[tuple[int, ...], Complex]]:
    """2 cos wφ = z^w + z^-w,   2 sin wφ = -i z^w + i z^-w."""
    found: list[tuple[tuple[int, ...], Complex]] = [((), (Fraction(1), Fraction(0)))]
    for w in harmonic:
        if not w:
            found = [((*e, 0), c) for e, c in found]
        elif w > 0:
            found = [((*e, k), (x / 2, y / 2)) for e, (x, y) in found for k in (w, -w)]
        else:
            found = [((*e, i * w), (-i * y / 2, i * x / 2)) for e, (x, y) in found for i in (-1, 1)]
    return found


def _shifted(value: Laurent) -> tuple[Laurent, tuple[int, ...]]:
    """The polynomial without negative powers of z that no z divides, and what was taken out."""
    low = tuple(map(min, zip(*(exponents for exponents, _ in value), strict=True)))
    moved = {
        (tuple(e - k for e, k in zip(exponents, low, strict=True)), monomial): number
        for (exponents, monomial), number in value.items()
    }
    return moved, low


def _quotient(over: Laurent, under: Laurent) -> Laurent | None:
    lead = max(under)
    x, y = under[lead]
    size = x * x + y * y
    inverse = x / size, -y / size
    rest, result = dict(over), {}
    while rest:
        first = max(rest)
        step = _ratio(first, lead)
        if step is None:
            return None
        factor = result[step] = _times(rest[first], inverse)
        for (exponents, monomial), number in under.items():
            key = tuple(map(sum, zip(exponents, step[0], strict=True))), monomial + step[1]
            u, v = rest.get(key, (Fraction(0), Fraction(0)))
            less, more = _times(factor, number)
            if u == less and v == more:
                del rest[key]
            else:
                rest[key] = u - less, v - more
    return result


def _ratio(a: Term, b: Term) -> Term | None:
    exponents = tuple(x - y for x, y in zip(a[0], b[0], strict=True))
    m, n = a[1], b[1]
    while n:
        if m % (1 << BITS) < n % (1 << BITS):
            return None
        m, n = m >> BITS, n >> BITS
    return None if any(e < 0 for e in exponents) else (exponents, a[1] - b[1])


def _times(a: Complex, b: Complex) -> Complex:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _real(ring: Ring, value: Laurent, shift: tuple[int, ...]) -> Trig:
    """The real function, each power z^k being cos kφ + i sin kφ."""
    terms: dict[Harmonic, Coefficients] = {}
    for (exponents, monomial), (x, y) in value.items():
        found: list[tuple[Harmonic, int]] = [((), 0)]  # harmonics times powers of i
        for k in map(sum, zip(exponents, shift, strict=True)):
            turns = [(abs(k), 0), (-abs(k), 1 if k > 0 else 3)] if k else [(0, 0)]
            found = [((*h, w), power + i) for h, power in found for w, i in turns]
        for harmonic, power in found:
            coefficients = terms.setdefault(harmonic, {})
            number = (x, -y, -x, y)[power % 4]
            coefficients[monomial] = coefficients.get(monomial, Fraction(0)) + number
    clean = {h: {m: n for m, n in c.items() if n} for h, c in terms.items()}
    return Trig(ring, {h: c for h, c in clean.items() if c})
