"""The ways to reach a goal: its conditions solved, and whether there are arms that fulfil them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from armdyn.study.simplify.conditions import Conditions
from armdyn.study.simplify.solve import Failure, Solution, Solver

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
