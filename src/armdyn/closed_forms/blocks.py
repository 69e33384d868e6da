"""The arrays of the equations of motion as blocks to print, in the order in which books write them.

An entry of an equation is a sum of

    (polynomial of parameters) × (product of cosines and sines) × (product of rates)

Factors that all terms share stand in front. Rates with proportional coefficients are collected, as
in -m2 l1 l2 S2 (qd2² + 2 qd1 qd2): either behind each cosine or in front of sums of them, whichever
is shorter.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import gcd
from typing import Any, TypeVar

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.closed_form import CartesianForm, ClosedForm, Quotient
from armdyn.closed_forms.document import Block, Line, Place, index
from armdyn.closed_forms.readable import Power, readable
from armdyn.closed_forms.readable import Product as TrigProduct
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.closed_forms.tree import (
    AngleFunction,
    Expr,
    Number,
    Symbol,
    leaves,
    negated,
    power,
    product,
    sign,
    total,
)
from armdyn.graph.ring import Trig

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
        named = ((zip(names, powers, strict=True), c) for powers, c in poly.terms())
        factor = _sum({tuple(x for x in m if x[1]): Fraction(int(c.p), int(c.q)) for m, c in named})
        if sign(factor) < 0:
            factor, scale = negated(factor), scale * (-1) ** exponent
        found.append(power(factor, exponent))
    return product([Number(scale), *found])


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
            return total(monomial_expr(m, number) for m, number in terms)

        return _shorter(table, rounded)
    monomials = [m for p in table.values() for m in p]
    front = common(monomials) if len(monomials) > 1 else ()
    numbers = [c for p in table.values() for c in p.values()]
    number = content(numbers) if len(numbers) > 1 else Fraction(1)
    inner = {key: {divided(m, front): c / number for m, c in p.items()} for key, p in table.items()}
    return product([monomial_expr(front, number), _shorter(inner, coefficient)])


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
    front = common([rates for rates, _ in multiples])
    if len(multiples) > 1 and front and len({ratio for _, ratio in multiples}) == 1:
        inner = [(divided(rates, front), ratio) for rates, ratio in multiples]
        return product([monomial_expr(front), _rates(inner)])
    names = [rates[0][0] for rates, ratio in multiples if len(rates) == 1 and ratio == 1]
    if len(names) > 1 and dict(multiples) == _square(names):
        return power(total(map(Symbol, names)), 2)
    ordered = sorted(multiples, key=lambda multiple: [place(name) for name, _ in multiple[0]])
    return total(monomial_expr(rates, ratio) for rates, ratio in ordered)


def _square(names: list[str]) -> dict[Monomial, Fraction]:
    """The monomials of a squared sum of symbols."""
    square: dict[Monomial, Fraction] = {((name, 2),): Fraction(1) for name in names}
    return square | {((a, 1), (b, 1)): Fraction(2) for a, b in combinations(names, 2)}


def _turns(trig: TrigProduct, ratio: Fraction) -> Expr:
    return product([Number(ratio), *(power(AngleFunction(f, a), e) for f, a, e in trig)])


@dataclass(frozen=True, eq=False)
class BlockWriter:
    """Makes blocks of a robot in symbols, or in numbers with so many digits."""

    robot: SymbolicRobot
    digits: int | None = None

    def _label(self, place: Place) -> str:
        """The numbers of the joints behind a symbol."""
        return index(*(self.robot.coordinates[p] for p in place))

    def terms(self, value: Trig) -> int:
        """How many terms an entry has before it is factored."""
        return sum(len(term.coefficient) for term in readable(self.robot, self._known(value)))

    def entry(self, value: Trig) -> Expr:
        """An entry as it is printed."""
        return arrange(self.robot, self._known(value), self.digits)

    def _known(self, value: Trig) -> Trig:
        return value if self.digits is None else self.robot.numeric(value)

    def block(
        self,
        symbol: str,
        title: str,
        values: Array | Trig,
        label: Callable[[Place], str] | None = None,
        **facts: Any,
    ) -> Block:
        """An array with its entries, half of them where two axes may be exchanged."""
        array: Any = np.asarray(values, dtype=object)
        label, lines = label or self._label, []
        for at in _upper(array.shape) if "swap" in facts else np.ndindex(array.shape):
            known = self._known(array[at])
            entry = arrange(self.robot, known, self.digits)
            lines.append(Line(symbol, label(at), entry, at, _constant(known)))
        return Block(symbol, title, tuple(lines), array.shape, **facts)

    def blocks(self, form: str, closed: ClosedForm) -> list[Block]:
        """The arrays of a closed form."""
        moving, n = ("q", "qd"), self.robot.n
        if form == "energy":
            potential = "Potential energy, without its constant part"
            kinetic = self.block("T", "Kinetic energy", closed.T, arguments=moving)
            return [kinetic, self.block("U", potential, closed.U)]
        if form == "christoffel":
            own = "h_iii = 0: no joint's own velocity loads it"
            remarks = "h_ikm = h_imk, so k ≤ m is enough", own
            hidden = frozenset((i, i, i) for i in range(n))
            title, swap = "Christoffel symbols", (1, 2)
            return [self.block("h", title, closed.h, swap=swap, remarks=remarks, hidden=hidden)]
        symmetric = ("M is symmetric, M_ij = M_ji",) if n > 1 else ()
        mass = self.block("M", "Mass matrix", closed.M, swap=(0, 1), remarks=symmetric)
        gravity = self.block("G", "Gravity", closed.G)
        if form == "state":
            title = "Coriolis and centrifugal torques"
            return [mass, self.block("V", title, closed.V, arguments=moving), gravity]
        return [mass, *self._velocity_products(closed), gravity]

    def _velocity_products(self, closed: ClosedForm) -> list[Block]:
        """Coefficients of products of two velocities, and of squared velocities."""
        n = self.robot.n
        joints = self.robot.coordinates
        pairs = [index(*pair) for pair in combinations(joints, 2)]
        coriolis = self.block(
            "B",
            "Coriolis coefficients",
            closed.B,
            lambda at: f"{joints[at[0]]},{pairs[at[1]]}",
            remarks=("column jk, j < k, belongs to qd_j qd_k",),
        )
        centrifugal = self.block(
            "C",
            "Centrifugal coefficients",
            closed.C,
            remarks=("column j belongs to qd_j², C_ii = 0",),
            hidden=frozenset((i, i) for i in range(n)),
        )
        return [coriolis, centrifugal]

    # of the tool

    def sum_of(self, quotients: list[Quotient]) -> Expr:
        """A sum of quotients as it is printed."""
        return total(
            product([self.entry(q.numerator), *(power(self.entry(f), -e) for f, e in q.divisors)])
            for q in quotients
        )

    def quotients(self, symbol: str, value: list[Quotient], place: Place) -> Line:
        """A sum of quotients as an entry of an array."""
        parts = [part for q in value for part in (q.numerator, *(f for f, _ in q.divisors))]
        constant = all(map(_constant, parts))
        return Line(symbol, self._label(place), self.sum_of(value), place, constant)

    def task(self, form: CartesianForm) -> list[Block]:
        """Mass matrix, velocity and gravity forces of the tool, written out."""
        n, names, turned = self.robot.n, ", ".join(form.task), form.R is not None
        M, V, G = ("Mt", "Vt", "Gt") if turned else ("Mx", "Vx", "Gx")
        where = "" if form.link is None else f" in axes of link {form.link + 1}"
        mass = tuple(self.quotients(M, form.mass[i][j], (i, j)) for i, j in _upper((n, n)))
        remarks = (f"{M} is symmetric",) if n > 1 else ()
        factors = [power(self.entry(factor), e) for factor, e in form.factors.factors]
        value = product([Number(form.factors.number), *factors])
        determinant = Line("detJ", "", value, (), _constant(form.determinant))

        def forces(symbol: str, title: str, values: list[list[Quotient]], *given: str) -> Block:
            lines = tuple(self.quotients(symbol, value, (i,)) for i, value in enumerate(values))
            return Block(symbol, f"{title} of the tool{where}", lines, (n,), given)

        turn = "Turn from axes of the link to those of the world"
        return [
            Block("detJ", f"Determinant of J for ({names})", (determinant,)),
            *([self.block("R", turn, form.R)] if form.R is not None else []),
            Block(M, f"Mass matrix of the tool{where}", mass, (n, n), swap=(0, 1), remarks=remarks),
            forces(V, "Velocity forces", form.velocity, "q", "qd"),
            forces(G, "Gravity forces", form.gravity, "q"),
        ]

    def jacobian(self, form: CartesianForm) -> list[Block]:
        """J and J̇ q̇ of the task."""
        rate, given = "The derivative of J, times qd", ("q", "qd")
        return [
            self.block("J", f"Jacobian of ({', '.join(form.task)})", form.J),
            self.block("Jdqd", rate, form.Jd_qd, arguments=given),
        ]


def entries(form: str, closed: ClosedForm) -> Iterator[Trig]:
    """The different entries that a form consists of, cheapest first."""
    if form == "energy":
        yield closed.U
        yield closed.T
        return
    if form != "christoffel":
        yield from (closed.M[*at] for at in _upper(closed.M.shape))
        yield from closed.G
    if form == "state":
        yield from closed.V
    else:
        yield from (closed.h[*at] for at in _upper(closed.h.shape))


def _upper(shape: tuple[int, ...]) -> Iterator[Place]:
    """The places of an array that is symmetric in its last two indices."""
    return (at for at in np.ndindex(shape) if at[-2] <= at[-1])


def _constant(value: Trig) -> bool:
    """Whether an entry depends on no joint and no rate."""
    return value.constant and not any(name[0] == "q" for name in value.symbols())
