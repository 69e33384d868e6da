"""The conditions of a goal, polynomial equations of the parameters, and the ways to fulfil them.

Every element of the mass matrix and every gravity torque is a sum of linearly independent functions
of the configuration (`armdyn.graph.ring`), so it is constant if the coefficient of every function
that varies is zero, and zero if all coefficients are. These coefficients are polynomials of the
parameters. They are solved into branches, and it is tried whether there are arms that fulfil them.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from armdyn.closed_forms.closed_form import ClosedForm, reduced_form
from armdyn.closed_forms.readable import power_form
from armdyn.closed_forms.symbolic_robot import SymbolicRobot, symbolise
from armdyn.errors import counted
from armdyn.graph.ring import Harmonic, Monomial, Trig
from armdyn.model import RobotModel
from armdyn.study.simplify.goals import MOMENTUM, Goals, element_name
from armdyn.study.simplify.solve import Failure, Solution, Solver

MOST_JOINTS_AND_TWISTS = 9
"""The most joints, plus angles between them that are no quarter turns, of an arm whose conditions
are written out: each of them more than doubles the number of terms."""


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A polynomial that must vanish."""

    polynomial: Any
    """A SymPy expression of the parameters."""
    sources: tuple[str, ...]
    """The coefficients that it comes from, such as "cos 2q2 in D11"."""


@dataclass(frozen=True, eq=False)
class Conditions:
    """All equations of a goal."""

    equations: tuple[Condition, ...]
    values: dict[str, float]
    """The parameters that occur, with the values of the robot."""


def conditions(model: RobotModel, goals: Goals, variables: Collection[str]) -> Conditions:
    """The equations of a goal, each once up to a factor.

    The numbers that may change are symbols even if they are zero.
    """
    form = _closed_form(model, variables)
    expressions = _Expressions(form.robot)
    found: dict[Any, list[str]] = {}
    for source, coefficients in _coefficients(form, goals):
        polynomial = expressions.primitive(coefficients)
        if polynomial:
            found.setdefault(polynomial, []).append(source)
    order = sorted(found, key=lambda p: (len(sympy.Add.make_args(p)), str(p)))
    used = {str(s) for p in found for s in p.free_symbols}
    values = {name: v for name, v in expressions.values.items() if name in used}
    return Conditions(tuple(Condition(p, tuple(found[p])) for p in order), values)


def unwritten(model: RobotModel, goals: Goals) -> str:
    """Why the equations of a goal are not written out; empty if they are."""
    if goals.momentless:
        return "the conditions of the shaking moment are not written out: no bodies fulfil them"
    robot = _closed_form(model).robot
    twists = len(robot.ring.angles) - len(robot.sums)
    if robot.n + twists <= MOST_JOINTS_AND_TWISTS:
        return ""
    said = f" with {twists} angles between them that are no quarter turns" if twists else ""
    return f"the conditions of {counted(robot.n, 'joint')}{said} are too long to be written out"


def _closed_form(model: RobotModel, variables: Collection[str] = ()) -> ClosedForm:
    """The equations of the coordinates in symbols."""
    robot = symbolise(model, {}, variables)
    return reduced_form(robot, model) if model.loops else ClosedForm(robot)


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


class _Expressions:
    """Coefficients as SymPy expressions."""

    def __init__(self, robot: SymbolicRobot):
        self.ring = robot.ring
        self.values = {name: robot.values.get(name, 0.0) for name in robot.ring.symbols}
        for k, name in enumerate(robot.ring.angles):
            if k not in robot.sums:
                angle = robot.values[name]
                self.values |= {f"c_{name}": math.cos(angle), f"s_{name}": math.sin(angle)}
        self.symbols = {name: sympy.Symbol(name, real=True) for name in self.values}

    def primitive(self, parts: list[tuple[Harmonic, Trig]]) -> Any:
        """A coefficient with whole numbers and a positive first term."""
        total = sympy.expand(sympy.Add(*(self._fixed(h) * self._polynomial(c) for h, c in parts)))
        _, primitive = total.as_content_primitive()
        leading = sympy.Poly(primitive).LC() if primitive.free_symbols else primitive
        return sympy.expand(-primitive if leading < 0 else primitive)

    def _fixed(self, harmonic: Harmonic) -> Any:
        """The cosines and sines of angles that do not move."""
        result = sympy.Integer(1)
        for name, w in zip(self.ring.angles, harmonic, strict=True):
            if w:
                c, s = self.symbols[f"c_{name}"], self.symbols[f"s_{name}"]
                result *= sympy.Add(*(k * c**i * s**j for (i, j), k in power_form(w).items()))
        return result

    def _polynomial(self, coefficient: Trig) -> Any:
        terms = []
        for _, monomial, number in coefficient:
            powers = (self.symbols[x] ** e for x, e in self.ring.exponents(monomial).items())
            terms.append(sympy.Rational(number.numerator, number.denominator) * sympy.Mul(*powers))
        return sympy.Add(*terms)


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
    conditions: Conditions = field(default_factory=lambda: Conditions((), {}))
    note: str = ""
    """Why there are no conditions, where there are none."""


def branches(
    conditions: Conditions, variables: Collection[str], reaches: Reaches | None = None
) -> Branches:
    """Solve conditions into branches for the symbols that may change; `reaches` tries them out."""
    polynomials = [condition.polynomial for condition in conditions.equations]
    solver = Solver(variables, conditions.values)
    solutions = solver.solve(polynomials)
    found = [
        _branch(solution, conditions, variables, reaches if place < MOST_TRIED_BRANCHES else None)
        for place, solution in enumerate(solutions)
    ]
    fewest = min((len(s.numbers) for s in solutions), default=len(polynomials) + 1)
    found += _others(conditions, variables, fewest)
    failures = [] if solutions else solver.failures
    reasons = dict.fromkeys(_impossible(failure, conditions) for failure in failures)
    return Branches(tuple(found), solver.complete, tuple(reasons), conditions)


def _branch(
    solution: Solution, conditions: Conditions, variables: Collection[str], reaches: Reaches | None
) -> Branch:
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
        for solution in solver.solve([c.polynomial.subs(zero) for c in conditions.equations]):
            if len(solution.numbers) < fewest and not solution.remaining:
                branch = _branch(solution, conditions, variables, None)
                because = "that length is not free to change"
                yield replace(branch, needs=(f"{length} = 0",), reason=because)


def _impossible(failure: Failure, conditions: Conditions) -> str:
    """Why there is no way on: an equation that cannot hold."""
    assumed = ", ".join(f"{s} = {plain(v)}" for s, v in failure.numbers.items())
    known = failure.origin >= 0
    where = f" ({conditions.equations[failure.origin].sources[0]})" if known else ""
    with_ = f" with {assumed}" if assumed else ""
    return f"{plain(failure.equation)} cannot be zero{where}{with_}"


def plain(expression: Any) -> str:
    """An expression for people: m2 x2² instead of m2*x2**2."""
    text = str(expression)
    for power, sign in zip("23456", "²³⁴⁵⁶", strict=True):
        text = text.replace(f"**{power}", sign)
    return text.replace("*", " ")
