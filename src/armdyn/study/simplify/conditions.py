"""The conditions of a goal, polynomial equations of the parameters, and the ways to fulfil them.

Every element of the mass matrix and every gravity torque is a sum of linearly independent functions
of the configuration (`armdyn.graph.ring`), so it is constant if the coefficient of every function
that varies is zero, and zero if all coefficients are. These coefficients are polynomials of the
parameters. They are solved into branches, and it is tried whether there are arms that fulfil them.

A product vanishes where one of its factors does. Factors of one sign cannot vanish and are dropped:
masses and principal inertias are positive, and the signs of held numbers are known. An equation
without a factor left has no solution. An equation that is linear in a free number, with a
coefficient that cannot vanish, is solved for it. The rest is brought to a Groebner basis, whose
equations are solved one number after the other, by factors again or by roots; an equation that
cannot be solved is kept.
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import sympy

from armdyn.closed_forms.closed_form import ClosedForm
from armdyn.closed_forms.readable import power_form
from armdyn.closed_forms.symbolic_robot import SymbolicRobot, symbolise
from armdyn.errors import counted
from armdyn.graph.ring import Harmonic, Monomial, Ring, Trig
from armdyn.model import RobotModel
from armdyn.study.simplify.design_variables import positive
from armdyn.study.simplify.goals import MOMENTUM, Goals, element_name

ORDER = ("x", "y", "z", "Ixy", "Ixz", "Iyz", "Ixx", "Iyy", "Izz", "d", "a", "m")
"""The order in which numbers are solved for: the easiest to change come first."""
MOST_BRANCHES = 64
BASIS_EQUATIONS, BASIS_UNKNOWNS = 12, 6
"""A Groebner basis is computed of systems up to this size."""
LONGEST_BASIS = 50
"""A basis with more than this many times the operations of its system is not used."""
CANCELLATION_TOLERANCE = 1e-9
"""A smaller sum, relative to its terms, is the rounding of terms that cancel."""
System = list[tuple[Any, int]]
"""Equations, each with the place in the given system from which it comes; -1: none."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A branch: numbers given by others, and the equations that are left between these."""

    numbers: dict[Any, Any] = field(default_factory=dict)
    """Free symbols as expressions of the remaining ones."""
    remaining: tuple[Any, ...] = ()
    """Equations that could not be solved for a number."""
    nonzero: tuple[Any, ...] = ()
    """Expressions that must not vanish for the numbers to exist."""


@dataclass(frozen=True, eq=False)
class Failure:
    """A branch without a solution."""

    numbers: dict[Any, Any]
    equation: Any
    """The equation as it was then, which cannot be zero."""
    origin: int
    """The place of the equation in the system."""


class Solver:
    """Solves polynomial equations for those parameters that may change.

    After some seconds no further branch is opened.
    """

    def __init__(
        self, variables: Collection[str], values: Mapping[str, float], seconds: float = 20.0
    ):
        self.variables, self.values = frozenset(variables), dict(values)
        self.until = time.perf_counter() + seconds
        self.failures: list[Failure] = []
        self._known: dict[Any, list[Any]] = {}
        self.complete = True
        """Whether all branches were followed."""

    def solve(self, equations: Sequence[Any]) -> list[Solution]:
        """All branches, those that contain another one left out."""
        tagged = [(equation, place) for place, equation in enumerate(equations)]
        found: list[Solution] = []
        for solution in self._branches(tagged, Solution()):
            if not any(
                x.numbers == solution.numbers and set(x.remaining) == set(solution.remaining)
                for x in found
            ):
                found.append(solution)
            if len(found) >= MOST_BRANCHES:
                self.complete = False
                break
        return [s for s in found if not any(_within(s, o) for o in found if o is not s)]

    def _branches(self, system: System, known: Solution) -> Iterator[Solution]:
        """The solutions of a system, factor by factor and number by number."""
        while True:
            if (factored := self._factored(system, known)) is None:
                return
            system = [(sympy.Mul(*factors), origin) for factors, origin in factored]
            if not factored:
                if self._possible(known):
                    yield known
                return
            if (step := self._linear(factored)) is None:
                break
            system, known = _put(system, known, *step)
        products = [factors for factors, _ in factored if len(factors) > 1]
        if not products:
            yield from self._nonlinear(system, known)
            return
        for factor in min(products, key=len):
            if time.perf_counter() > self.until:
                self.complete = False
                return
            yield from self._branches([(factor, -1), *system], known)

    def _factored(self, system: System, known: Solution) -> list[tuple[list[Any], int]] | None:
        """The factors of each equation that may vanish; None if an equation cannot."""
        seen: dict[frozenset[Any], tuple[list[Any], int]] = {}
        for equation, origin in system:
            # an equation between held numbers may be true for this robot
            if equation == 0 or (not self._unknowns(equation) and self._cancels(equation)):
                continue
            if equation not in self._known:
                self._known[equation] = [f for f in _factors(equation) if not self._sign(f)]
            factors = [
                f
                for f in self._known[equation]
                if self._unknowns(f)
                and not any(sympy.cancel(f / n).is_number for n in known.nonzero)
            ]
            if not factors:
                self.failures.append(Failure(dict(known.numbers), equation, origin))
                return None
            seen.setdefault(frozenset(factors), (factors, origin))
        return [seen[s] for s in seen if not any(other < s for other in seen)]

    def _linear(self, factored: list[tuple[list[Any], int]]) -> tuple[Any, Any] | None:
        """A number that an equation gives, with a coefficient that cannot vanish, and its value.

        Plain numbers as coefficients come first.
        """
        alone = [factors[0] for factors, _ in factored if len(factors) == 1]
        for equation in sorted(alone, key=sympy.count_ops):
            ways = [w for w in self._ways(equation) if self._sign(w[1])]
            for symbol, coefficient, rest in sorted(ways, key=lambda w: not w[1].is_number):
                return symbol, sympy.expand(sympy.cancel(-rest / coefficient))
        return None

    def _ways(self, equation: Any) -> Iterator[tuple[Any, Any, Any]]:
        """The numbers in which an equation is linear, with coefficient and rest."""
        for symbol in self._unknowns(equation):
            polynomial = sympy.Poly(equation, symbol)
            if polynomial.degree() == 1:
                yield symbol, *polynomial.all_coeffs()

    def _nonlinear(self, system: System, known: Solution) -> Iterator[Solution]:
        """Equations without a linear unknown: roots, a Groebner basis, or left as they are."""
        equations = [e for e, _ in system]
        alone = next((e for e in equations if len(self._unknowns(e)) == 1), None)
        if alone is not None:
            yield from self._roots(alone, system, known)
        elif (basis := self._basis(equations)) == [1]:
            self.failures.append(Failure(dict(known.numbers), equations[0], system[0][1]))
        elif basis:
            yield from self._branches([(e, -1) for e in basis], known)
        elif ways := [w for e in equations for w in self._ways(e)]:
            # of c v + r: either c = r = 0, or v = -r/c where c is not zero
            symbol, c, r = min(ways, key=lambda w: sympy.count_ops(w[1]))
            yield from self._branches([(c, -1), (r, -1), *system], known)
            apart = replace(known, nonzero=(*known.nonzero, c))
            yield from self._branches(*_put(system, apart, symbol, -r / c))
        elif self._possible(known):
            yield replace(known, remaining=(*known.remaining, *equations))

    def _basis(self, equations: list[Any]) -> list[Any]:
        """A Groebner basis; empty if the system is too large or the basis does not help."""
        unknowns = sorted({s for e in equations for s in self._unknowns(e)}, key=self.rank)
        if not 1 < len(equations) <= BASIS_EQUATIONS or len(unknowns) > BASIS_UNKNOWNS:
            return []
        exprs = sympy.groebner(equations, *unknowns, order="lex").exprs
        basis = [sympy.numer(sympy.together(e)) for e in exprs]
        same = {sympy.expand(e) for e in basis} == {sympy.expand(e) for e in equations}
        size, before = (sum(map(sympy.count_ops, system)) for system in (basis, equations))
        longer = basis != [1] and size > LONGEST_BASIS * before
        return [] if same or longer else basis

    def _roots(self, equation: Any, system: System, known: Solution) -> Iterator[Solution]:
        """A branch for each real root of an equation in one number."""
        symbol = self._unknowns(equation)[0]
        terms = sympy.Poly(equation, symbol).terms()
        kept = [c * symbol ** power[0] for power, c in terms if not self._cancels(c)]
        polynomial = sympy.Poly(sympy.Add(*kept), symbol)
        fixed = polynomial.free_symbols - {symbol}
        values = {s: sympy.Rational(str(self.values[str(s)])) for s in fixed}
        numeric = sympy.Poly(polynomial.as_expr().subs(values), symbol)
        if not numeric.count_roots():
            origin = next(o for e, o in system if e == equation)
            self.failures.append(Failure(dict(known.numbers), equation, origin))
            return
        roots = sympy.roots(polynomial) if polynomial.degree() <= 2 else {}
        if not roots:  # there is no formula
            roots = {sympy.Rational(str(sympy.N(root, 17))): 1 for root in numeric.real_roots()}
        rest = [(e, o) for e, o in system if e != equation]
        for root in roots:
            yield from self._branches(*_put(rest, known, symbol, root))

    def _unknowns(self, expression: Any) -> list[Any]:
        """The free symbols of an expression, those to solve for first in front."""
        names = self.variables
        return sorted((s for s in expression.free_symbols if str(s) in names), key=self.rank)

    @staticmethod
    def rank(symbol: Any) -> tuple[int, str]:
        """The number that is solved for first has the lowest rank."""
        name = str(symbol).rstrip("0123456789_")
        return (ORDER.index(name) if name in ORDER else len(ORDER)), str(symbol)

    def _possible(self, solution: Solution) -> bool:
        """Whether no mass or principal inertia comes out as zero or negative."""
        bodies = [(s, value) for s, value in solution.numbers.items() if positive(str(s))]
        wrong = [s for s, value in bodies if value == 0 or self._sign(value) < 0]
        self.failures += [Failure(solution.numbers, symbol, -1) for symbol in wrong[:1]]
        return not wrong

    def _sign(self, expression: Any) -> int:
        """1 or -1 if all terms have that sign and one of them cannot be zero; 0 if unknown.

        Free masses and principal inertias are positive, other free parameters have any sign, and
        those that are not free have the sign of their value.
        """
        known = {}
        for symbol in expression.free_symbols:
            free = str(symbol) in self.variables
            value = positive(str(symbol)) if free else self.values.get(str(symbol), 0.0)
            sign = {"positive": True} if value > 0 else {"negative": True} if value < 0 else {}
            known[symbol] = sympy.Symbol(str(symbol), real=True, **sign)
        terms = [t.xreplace(known) for t in sympy.Add.make_args(sympy.expand(expression))]
        if all(t.is_nonnegative for t in terms):
            return int(any(t.is_positive for t in terms))
        return -int(all(t.is_nonpositive for t in terms) and any(t.is_negative for t in terms))

    def _cancels(self, expression: Any) -> bool:
        """Whether the terms of an expression cancel with the robot's values, but for rounding."""
        values = {s: self.values[str(s)] for s in expression.free_symbols}
        terms = sympy.Add.make_args(sympy.expand(expression))
        numbers = [float(term.subs(values)) for term in terms]
        return abs(sum(numbers)) <= CANCELLATION_TOLERANCE * sum(map(abs, numbers))


def _put(system: System, known: Solution, symbol: Any, value: Any) -> tuple[System, Solution]:
    """The system and the solution with a number replaced by its value."""

    def put(expression: Any) -> Any:
        return sympy.cancel(expression.subs(symbol, value))

    left = [(sympy.numer(put(e)) if symbol in e.free_symbols else e, o) for e, o in system]
    numbers = {s: sympy.expand(put(v)) for s, v in known.numbers.items()} | {symbol: value}
    return left, replace(known, numbers=numbers, nonzero=tuple(map(put, known.nonzero)))


def _factors(equation: Any) -> list[Any]:
    """The irreducible factors of a polynomial.

    Most need no search: without factors that are symbols, a polynomial that is linear in a symbol
    with a single term as coefficient is irreducible.
    """
    powers, rest = sympy.Poly(equation).terms_gcd()
    symbols = [s for s, power in zip(rest.gens, powers, strict=True) if power]
    monomials = rest.monoms()
    for k in range(len(rest.gens)):
        if [m[k] for m in monomials if m[k]] == [1]:
            return [*symbols, rest.as_expr()]
    return [*symbols, *(factor for factor, _ in sympy.factor_list(rest.as_expr())[1])]


def _within(a: Solution, b: Solution) -> bool:
    """Whether every design of branch a is one of branch b, which asks for less."""
    if a.remaining or b.remaining or b.nonzero or len(a.numbers) <= len(b.numbers):
        return False
    return all(
        sympy.cancel(symbol.subs(a.numbers) - sympy.sympify(value).subs(a.numbers)) == 0
        for symbol, value in b.numbers.items()
    )


MOST_JOINTS_AND_TWISTS = 9
"""The most joints, plus angles between them that are no quarter turns, of an arm whose conditions
are written out: each of them more than doubles the number of terms."""


@dataclass(frozen=True, eq=False)
class Conditions:
    """All equations of a goal."""

    equations: Mapping[Any, tuple[str, ...]]
    """Polynomials of the parameters that must vanish, SymPy's, with the coefficients that each
    comes from, such as "cos 2q2 in D11"."""
    values: dict[str, float]
    """The parameters that occur, with the values of the robot."""


def conditions(model: RobotModel, goals: Goals, variables: Collection[str]) -> Conditions:
    """The equations of a goal, each once up to a factor.

    The numbers that may change are symbols even if they are zero.
    """
    form = ClosedForm(symbolise(model, {}, variables))
    found: dict[Any, list[str]] = {}
    for source, coefficients in _coefficients(form, goals):
        if polynomial := _primitive(form.robot.ring, coefficients):
            found.setdefault(polynomial, []).append(source)
    order = sorted(found, key=lambda p: (len(sympy.Add.make_args(p)), str(p)))
    used = {str(s) for p in found for s in p.free_symbols}
    values = {name: v for name, v in _values(form.robot).items() if name in used}
    return Conditions({p: tuple(found[p]) for p in order}, values)


def unwritten(model: RobotModel, goals: Goals) -> str:
    """Why the equations of a goal are not written out; empty if they are."""
    if goals.momentless:
        return "the conditions of the shaking moment are not written out"
    robot = symbolise(model, {})
    twists = len(robot.ring.angles) - len(robot.sums)
    if robot.n + twists <= MOST_JOINTS_AND_TWISTS:
        return ""
    said = f" with {twists} angles between them that are no quarter turns" if twists else ""
    return f"the conditions of {counted(robot.n, 'joint')}{said} are too long to be written out"


def _coefficients(
    form: ClosedForm, goals: Goals
) -> Iterator[tuple[str, list[tuple[Harmonic, Trig]]]]:
    """Every coefficient by its place; as parts, because angles that do not move belong to it."""
    robot = form.robot
    joints = [number - 1 for number in robot.coordinates]
    slides = [f"q{i + 1}" for i, q in zip(joints, robot.q, strict=True) if isinstance(q, Trig)]
    tables = {"D": form.M, "g": form.G}
    if goals.forceless:
        tables |= dict(zip(MOMENTUM, form.P, strict=True))
    for letter, at, varying_only in goals.elements(joints):
        value = tables[letter][tuple(joints.index(i) for i in at)]
        found: dict[str, list[tuple[Harmonic, Trig]]] = {}
        for (harmonic, slide), coefficient in value.split(slides).items():
            function = _function(robot, harmonic, slide)
            still = tuple(0 if k in robot.sums else w for k, w in enumerate(harmonic))
            found.setdefault(function, []).append((still, coefficient))
        for function, parts in found.items():
            if function or not varying_only:
                yield f"{function or 'the constant'} in {element_name(at, letter)}", parts


def _function(robot: SymbolicRobot, harmonic: Harmonic, slide: Monomial) -> str:
    """A function of the configuration in words; empty: a constant."""
    parts = []
    for place, w in enumerate(harmonic):
        if w and place in robot.sums:
            times = "" if abs(w) == 1 else str(abs(w))
            signed = (("+" if s > 0 else "-") + f"q{j}" for j, s in robot.sums[place])
            joints = "".join(signed).removeprefix("+")
            angle = joints if len(robot.sums[place]) == 1 else f"({joints})"
            parts.append(f"{'cos' if w > 0 else 'sin'} {times}{angle}")
    powers = robot.ring.exponents(slide).items()
    parts += [name + {1: "", 2: "²"}.get(exponent, f"^{exponent}") for name, exponent in powers]
    return " ".join(parts)


def _values(robot: SymbolicRobot) -> dict[str, float]:
    """The values of the symbols of a robot, and of cosines and sines of angles that stay."""
    values = {name: robot.values.get(name, 0.0) for name in robot.ring.symbols}
    for k, name in enumerate(robot.ring.angles):
        if k not in robot.sums:
            angle = robot.values[name]
            values |= {f"c_{name}": math.cos(angle), f"s_{name}": math.sin(angle)}
    return values


def _primitive(ring: Ring, parts: list[tuple[Harmonic, Trig]]) -> Any:
    """A coefficient as an expression with whole numbers and a positive first term."""
    symbol = partial(sympy.Symbol, real=True)
    total = sympy.Integer(0)
    for harmonic, coefficient in parts:
        # the cosines and sines of angles that do not move
        fixed = sympy.Integer(1)
        for name, w in zip(ring.angles, harmonic, strict=True):
            if w:
                c, s = symbol(f"c_{name}"), symbol(f"s_{name}")
                fixed *= sympy.Add(*(k * c**i * s**j for (i, j), k in power_form(w).items()))
        for _, monomial, number in coefficient:
            powers = (symbol(x) ** e for x, e in ring.exponents(monomial).items())
            factor = sympy.Rational(number.numerator, number.denominator)
            total += factor * sympy.Mul(*powers) * fixed
    _, primitive = sympy.expand(total).as_content_primitive()
    leading = sympy.Poly(primitive).LC() if primitive.free_symbols else primitive
    return sympy.expand(-primitive if leading < 0 else primitive)


Reaches = Callable[[Mapping[str, float]], tuple[bool, str]]
"""Tells whether a design exists in which some numbers have given values, and the reason."""
MOST_TRIED_BRANCHES = 8
"""At most so many branches are tried numerically."""
LONGEST_EXACT_NUMBER = 20
"""An exact number with more characters is printed as a decimal."""
MOST_LENGTHS = 8
"""At most so many held lengths are tried at zero."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way to reach the goal."""

    numbers: Mapping[str, str]
    """Free numbers by symbol, as expressions of the others."""
    remaining: tuple[str, ...] = ()
    """Expressions that must vanish besides, which could not be solved for a number."""
    nonzero: tuple[str, ...] = ()
    """Expressions that must not vanish."""
    needs: tuple[str, ...] = ()
    """Held numbers that would have to change, such as "a1 = 0"."""
    feasible: bool | None = None
    """Whether bodies that can exist fulfil it with the robot's other numbers; None: not tried."""
    reason: str = ""

    @property
    def equations(self) -> tuple[str, ...]:
        """Everything that must hold, an equation each."""
        return (
            *self.needs,
            *(f"{symbol} = {value}" for symbol, value in self.numbers.items()),
            *(f"{expression} = 0" for expression in self.remaining),
            *(f"{expression} ≠ 0" for expression in self.nonzero),
        )


@dataclass(frozen=True, slots=True)
class Branches:
    """All ways that were found."""

    branches: tuple[Branch, ...] = ()
    complete: bool = True
    """Whether all branches were followed to their end."""
    impossible: tuple[str, ...] = ()
    """Where there is no way: the equations that cannot hold, and where they come from."""
    conditions: Conditions = field(default_factory=lambda: Conditions({}, {}))
    note: str = ""
    """Why there are no conditions, where there are none."""


def branches(
    conditions: Conditions, variables: Collection[str], reaches: Reaches | None = None
) -> Branches:
    """Solve conditions into branches for the symbols that may change; `reaches` tries them out."""
    polynomials = list(conditions.equations)
    solver = Solver(variables, conditions.values)
    solutions = solver.solve(polynomials)
    found = [
        _branch(solution, conditions, variables, reaches if place < MOST_TRIED_BRANCHES else None)
        for place, solution in enumerate(solutions)
    ]
    fewest = min((len(s.numbers) for s in solutions), default=len(polynomials) + 1)
    found += _others(conditions, variables, fewest)
    reasons: dict[str, None] = {}
    for failure in [] if solutions else solver.failures:
        assumed = ", ".join(f"{s} = {plain(v)}" for s, v in failure.numbers.items())
        origin = conditions.equations[polynomials[at]][0] if (at := failure.origin) >= 0 else ""
        where = f" ({origin})" if origin else ""
        with_ = f" with {assumed}" if assumed else ""
        reasons[f"{plain(failure.equation)} cannot be zero{where}{with_}"] = None
    return Branches(tuple(found), solver.complete, tuple(reasons), conditions)


def _branch(
    solution: Solution, conditions: Conditions, variables: Collection[str], reaches: Reaches | None
) -> Branch:
    """A solution in words, tried out if it is told how."""
    values = conditions.values.items()
    fixed = {sympy.Symbol(s, real=True): v for s, v in values if s not in variables}
    # the numbers of the last link come first
    numbers = sorted(solution.numbers.items(), key=lambda item: _order(item[0]))
    known = {str(s): v for s, v in numbers if v.free_symbols <= fixed.keys()}
    feasible, reason = None, ""
    if reaches is not None:
        # lengths and centres of mass that the branch gives in numbers
        held = {s: float(v.subs(fixed)) for s, v in known.items() if s[0] in "xyzad"}
        feasible, reason = reaches(held)

    def shown(symbol: str, value: Any) -> str:
        """A value for print: a decimal if it comes from a root that has no formula."""
        long = any(len(str(x)) > LONGEST_EXACT_NUMBER for x in value.atoms(sympy.Rational))
        return f"{float(value.subs(fixed)):.9g}" if long and symbol in known else plain(value)

    return Branch(
        {str(s): shown(str(s), v) for s, v in numbers},
        tuple(map(plain, solution.remaining)),
        tuple(map(plain, solution.nonzero)),
        feasible=feasible,
        reason=reason,
    )


def _order(symbol: Any) -> tuple[int, int, str]:
    rank, name = Solver.rank(symbol)
    digits = "".join(c for c in name.split("_")[0] if c.isdigit())
    return -int(digits or 0), rank, name


def _others(conditions: Conditions, variables: Collection[str], fewest: int) -> Iterator[Branch]:
    """Branches with fewer conditions, which exist only if a held length were zero."""
    lengths = [s for s in conditions.values if s[0] in "ad" and s not in variables]
    for length in lengths if len(lengths) <= MOST_LENGTHS else []:
        solver = Solver(variables, conditions.values | {length: 0.0}, seconds=2.0)
        zero = {sympy.Symbol(length, real=True): 0}
        for solution in solver.solve([p.subs(zero) for p in conditions.equations]):
            if len(solution.numbers) < fewest and not solution.remaining:
                branch = _branch(solution, conditions, variables, None)
                because = "that length is not free to change"
                yield replace(branch, needs=(f"{length} = 0",), reason=because)


def plain(expression: Any) -> str:
    """An expression for people: m2 x2² instead of m2*x2**2."""
    text = str(expression)
    for power, sign in zip("23456", "²³⁴⁵⁶", strict=True):
        text = text.replace(f"**{power}", sign)
    return text.replace("*", " ")
