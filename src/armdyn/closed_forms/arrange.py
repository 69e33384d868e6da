"""Polynomials arranged for printing.

An entry of an equation is a sum of

    (polynomial of parameters) × (product of cosines and sines) × (product of rates)

Factors that all terms share stand in front. Rates with proportional coefficients are collected, as
in -m2 l1 l2 S2 (qd2² + 2 qd1 qd2): either behind each cosine or in front of sums of them, whichever
is shorter.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeVar

from armdyn.closed_forms import factoring
from armdyn.closed_forms.factoring import Monomial, Polynomial, monomial, place
from armdyn.closed_forms.readable import Power, readable
from armdyn.closed_forms.readable import Product as TrigProduct
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.closed_forms.tree import (
    AngleFunction,
    Expr,
    Number,
    Symbol,
    leaves,
    power,
    product,
    total,
)
from armdyn.graph.ring import Trig

Key = TypeVar("Key", bound=Hashable)
Table = dict[tuple[TrigProduct, Monomial], Polynomial]
"""For cosines and rates the coefficient."""
Writer = Callable[[Polynomial], Expr]
LARGEST_RATIO = 4
"""Largest ratio of coefficients that are collected."""


def arrange(robot: SymbolicRobot, value: Trig, digits: int | None = None) -> Expr:
    """An entry as it is printed; with digits if numbers stand in place of parameters."""
    table = _table(robot, value)
    if digits is not None:

        def rounded(polynomial: Polynomial) -> Expr:
            terms = ((m, float(f"{float(c):.{digits}g}")) for m, c in polynomial.items())
            return total(factoring.monomial_expr(m, number) for m, number in terms)

        return _shorter(table, rounded)
    monomials = [m for p in table.values() for m in p]
    front = factoring.common(monomials) if len(monomials) > 1 else ()
    numbers = [c for p in table.values() for c in p.values()]
    number = factoring.content(numbers) if len(numbers) > 1 else Fraction(1)
    inner = {
        key: {factoring.divided(m, front): c / number for m, c in p.items()}
        for key, p in table.items()
    }
    return product([factoring.monomial_expr(front, number), _shorter(inner, factoring.coefficient)])


def _table(robot: SymbolicRobot, value: Trig) -> Table:
    table: Table = defaultdict(dict)
    for term in readable(robot, value):
        trig, sign = _upright(term.product)
        for packed, number in term.coefficient.items():
            exponents = robot.ring.exponents(packed)
            rates = {n: e for n, e in exponents.items() if n.startswith("qd")}
            rest = {n: e for n, e in exponents.items() if n not in rates}
            row, others = table[trig, monomial(rates)], monomial(rest)
            row[others] = row.get(others, Fraction(0)) + sign * number
    kept = {key: {m: c for m, c in p.items() if c} for key, p in table.items()}
    return {key: p for key, p in kept.items() if p}


def _upright(trig: TrigProduct) -> tuple[TrigProduct, int]:
    """Angles that start with a plus: cos(-φ) = cos φ, sin(-φ) = -sin φ."""
    sign = 1
    powers: list[Power] = []
    for function, angle, exponent in trig:
        turned = angle
        if not isinstance(angle, str) and angle[0][1] < 0:
            turned = tuple((joint, -s) for joint, s in angle)
            sign *= (-1) ** exponent if function == "S" else 1
        powers.append((function, turned, exponent))
    return tuple(powers), sign


def _shorter(table: Table, coefficient: Writer) -> Expr:
    ways = [_by_cosine(table, coefficient)]
    if any(rates for _, rates in table):
        ways.append(_by_rate(table, coefficient))
    return min(ways, key=lambda way: sum(1 for _ in leaves(way)))


def _by_cosine(table: Table, coefficient: Writer) -> Expr:
    """Cosines with shared coefficients, before the rates that they share."""
    rows: dict[TrigProduct, dict[Monomial, Polynomial]] = defaultdict(dict)
    for (trig, rates), polynomial in table.items():
        rows[trig][rates] = polynomial
    before: dict[Expr, list[tuple[TrigProduct, Polynomial]]] = defaultdict(list)
    for trig, row in rows.items():
        for base, multiples in _proportional(row):
            before[_rates(multiples)].append((trig, row[base]))
    return total(
        product([_cosines(members, coefficient), rates]) for rates, members in before.items()
    )


def _cosines(members: list[tuple[TrigProduct, Polynomial]], coefficient: Writer) -> Expr:
    """A sum of cosines, those with proportional coefficients together."""
    groups: dict[Hashable, tuple[Polynomial, list[Expr]]] = {}
    for trig, polynomial in members:
        key: Hashable = bool(trig), frozenset(polynomial)
        first = groups[key][0] if key in groups else polynomial
        ratio = _ratio(first, polynomial)
        if ratio is None:
            groups[key, trig] = polynomial, [_turns(trig, Fraction(1))]
        else:
            groups.setdefault(key, (first, []))[1].append(_turns(trig, ratio))
    return total(product([coefficient(p), total(found)]) for p, found in groups.values())


def _by_rate(table: Table, coefficient: Writer) -> Expr:
    """Each product of rates once, behind a sum of cosines."""
    columns: dict[Monomial, dict[TrigProduct, Polynomial]] = defaultdict(dict)
    for (trig, rates), polynomial in table.items():
        columns[rates][trig] = polynomial
    flat = {
        rates: {(trig, m): c for trig, p in column.items() for m, c in p.items()}
        for rates, column in columns.items()
    }
    terms = []
    for base, multiples in _proportional(flat):
        column: Table = {(trig, ()): p for trig, p in columns[base].items()}
        terms.append(product([_by_cosine(column, coefficient), _rates(multiples)]))
    return total(terms)


def _proportional(
    rows: Mapping[Key, Mapping[Any, Fraction]],
) -> Iterable[tuple[Key, list[tuple[Key, Fraction]]]]:
    """Keys whose rows are small multiples of that of the first, smallest first."""
    left = sorted(rows, key=lambda k: (abs(next(iter(rows[k].values()))), str(k)))
    while left:
        base, *others = left
        ratios = {k: _ratio(rows[base], rows[k]) for k in others}
        members = [(base, Fraction(1))]
        members += [(k, r) for k, r in ratios.items() if r is not None]
        yield base, sorted(members, key=lambda member: str(member[0]))
        left = [k for k in others if ratios[k] is None]


def _ratio(a: Mapping[Any, Fraction], b: Mapping[Any, Fraction]) -> Fraction | None:
    """b / a, if that is a small whole number."""
    if a.keys() != b.keys():
        return None
    ratios = {b[k] / a[k] for k in a}
    ratio = ratios.pop()
    small = ratio.denominator == 1 and abs(ratio) <= LARGEST_RATIO
    return ratio if small and not ratios else None


def _rates(multiples: list[tuple[Monomial, Fraction]]) -> Expr:
    """A sum of products of rates: qd1 (qd2 + qd3), (qd1 + qd2)², or as it is."""
    front = factoring.common([rates for rates, _ in multiples])
    if len(multiples) > 1 and front and len({ratio for _, ratio in multiples}) == 1:
        inner = [(factoring.divided(rates, front), ratio) for rates, ratio in multiples]
        return product([factoring.monomial_expr(front), _rates(inner)])
    names = [rates[0][0] for rates, ratio in multiples if len(rates) == 1 and ratio == 1]
    if len(names) > 1 and dict(multiples) == _square(names):
        return power(total(map(Symbol, names)), 2)
    ordered = sorted(multiples, key=lambda multiple: [place(name) for name, _ in multiple[0]])
    return total(factoring.monomial_expr(rates, ratio) for rates, ratio in ordered)


def _square(names: list[str]) -> dict[Monomial, Fraction]:
    """The monomials of a squared sum of symbols."""
    square: dict[Monomial, Fraction] = {((name, 2),): Fraction(1) for name in names}
    return square | {((a, 1), (b, 1)): Fraction(2) for a, b in combinations(names, 2)}


def _turns(trig: TrigProduct, ratio: Fraction) -> Expr:
    return product([Number(ratio), *(power(AngleFunction(f, a), e) for f, a, e in trig)])
