"""Polynomials of parameters, factored and put in the order in which books write them."""

import re
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Any

from armdyn.closed_forms.tree import Expr, Number, Symbol, negated, power, product, sign, total

Monomial = tuple[tuple[str, int], ...]
"""Symbols with their exponents, in the order of printing."""
Polynomial = dict[Monomial, Fraction]

MOST_FACTORED_MONOMIALS = 40
"""A polynomial with more monomials is not factored."""
LARGEST_DENOMINATOR = 10**9
"""A fraction with a larger one is that of a rounded number, not of a book."""
_KINDS = (r"I\w*|J\w*", r"m\d+|m", r"m[xyz]\d+", r"g\w*", r"[ad]\w*", r"[xyz]\d+", r"q\d+")


@lru_cache(maxsize=4096)
def place(name: str) -> tuple[int, int, str]:
    """Where a symbol stands in a product: inertias, masses, gravity, lengths, letters, places."""
    kind = next((k for k, pattern in enumerate(_KINDS) if re.fullmatch(pattern, name)), 4)
    digits = re.search(r"\d+", name)
    return kind, int(digits[0]) if digits else 0, name


def monomial(exponents: dict[str, int]) -> Monomial:
    """Symbols in order."""
    return tuple(sorted(exponents.items(), key=lambda e: place(e[0])))


def common(monomials: Sequence[Monomial]) -> Monomial:
    """The largest monomial that divides all."""
    if not monomials:
        return ()
    first, *others = [dict(m) for m in monomials]
    shared = {n: min([e, *(o.get(n, 0) for o in others)]) for n, e in first.items()}
    return monomial({n: e for n, e in shared.items() if e})


def divided(m: Monomial, by: Monomial) -> Monomial:
    """A monomial without a factor of it."""
    less = dict(by)
    return tuple((n, e - less.get(n, 0)) for n, e in m if e > less.get(n, 0))


def content(numbers: Sequence[Fraction]) -> Fraction:
    """The whole number that divides all, negative if all are; 1 if there is none."""
    whole = 1
    if all(x.denominator == 1 for x in numbers):
        whole = gcd(*(x.numerator for x in numbers))
    return Fraction(-whole if all(x < 0 for x in numbers) else whole)


def monomial_expr(m: Monomial, number: Fraction | float = Fraction(1)) -> Expr:
    """A monomial with its coefficient, a decimal where no one could read the fraction."""
    if isinstance(number, Fraction) and number.denominator > LARGEST_DENOMINATOR:
        number = float(number)
    return product([Number(number), *(power(Symbol(n), e) for n, e in m)])


def coefficient(polynomial: Polynomial) -> Expr:
    """A polynomial as a product of its factors, or as a sum in which masses are collected."""
    if len(polynomial) == 1:
        return monomial_expr(*next(iter(polynomial.items())))
    front = common(list(polynomial))
    inner = {divided(m, front): c for m, c in polynomial.items()}
    number = content(list(inner.values()))
    inner = {m: c / number for m, c in inner.items()}
    body = _factored(inner) or _collected(inner, by_mass=not front)
    return product([monomial_expr(front, number), body])


def _factored(polynomial: Polynomial) -> Expr | None:
    """Several factors, if there are."""
    linear = all(sum(e for _, e in m) < 2 for m in polynomial)
    if linear or len(polynomial) > MOST_FACTORED_MONOMIALS:
        return None
    import sympy  # noqa: PLC0415 (half a second that most calls can do without)

    names = sorted({n for m in polynomial for n, _ in m}, key=place)
    terms = {
        tuple(dict(m).get(n, 0) for n in names): sympy.Rational(c.numerator, c.denominator)
        for m, c in polynomial.items()
    }
    whole = sympy.Poly(terms, *sympy.symbols(names))
    number, factors = whole.factor_list()
    if len(factors) == 1 and factors[0][1] == 1:
        return None
    scale = Fraction(int(number.p), int(number.q))
    found = []
    for poly, exponent in factors:
        factor = _sum(_named(poly, names))
        if sign(factor) < 0:
            factor, scale = negated(factor), scale * (-1) ** exponent
        found.append(power(factor, exponent))
    return product([Number(scale), *found])


def _named(poly: Any, names: list[str]) -> Polynomial:
    """A polynomial of SymPy as ours."""
    terms = ((zip(names, powers, strict=True), c) for powers, c in poly.terms())
    return {tuple((n, e) for n, e in m if e): Fraction(int(c.p), int(c.q)) for m, c in terms}


def _collected(polynomial: Polynomial, by_mass: bool) -> Expr:
    """A sum in which the factors of each mass stand behind it."""
    groups: dict[Monomial, Polynomial] = defaultdict(dict)
    for m, c in polynomial.items():
        mass = tuple((n, e) for n, e in m if place(n)[0] == 1) if by_mass else ()
        if mass and len(m) == len(mass):
            mass = ()  # a mass alone has nothing to stand before
        groups[mass][m] = c
    terms: list[Expr] = []
    for mass in sorted(groups, key=lambda m: (len(m), [place(n) for n, _ in m])):
        group = groups[mass]
        terms.append(coefficient(group) if mass and len(group) > 1 else _sum(group))
    return total(terms)


def _sum(polynomial: Polynomial) -> Expr:
    order = sorted(
        polynomial, key=lambda m: (sum(e for _, e in m) > 1, [(*place(n), -e) for n, e in m])
    )
    return total(monomial_expr(m, polynomial[m]) for m in order)
