"""The ways to reach a goal: its conditions solved, and whether there are arms that fulfil them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from armdyn.simplification.conditions import Conditions
from armdyn.simplification.solve import Failure, Solution, Solver

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
    """DesignVariables numbers by symbol, as expressions of the others."""
    remaining: tuple[str, ...] = ()
    """Expressions that must vanish besides, which could not be solved for a number."""
    nonzero: tuple[str, ...] = ()
    """Expressions that must not vanish."""
    needs: tuple[str, ...] = ()
    """Held numbers that would have to change, such as "a1 = 0"."""
    feasible: bool | None = None
    """Whether bodies that can exist fulfil it with the robot's other numbers; None: not tried."""
    reason: str = ""
    """The outcome of the trial."""

    @property
    def equations(self) -> tuple[str, ...]:
        """Everything that must hold, an equation each."""
        return (
            *self.needs,
            *(f"{symbol} = {value}" for symbol, value in self.numbers.items()),
            *(f"{expression} = 0" for expression in self.remaining),
            *(f"{expression} ≠ 0" for expression in self.nonzero),
        )

    def data(self) -> dict[str, Any]:
        """The branch as plain data."""
        return {
            "equations": list(self.equations),
            "needs": list(self.needs),
            "feasible": self.feasible,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Branches:
    """All ways that were found."""

    branches: tuple[Branch, ...] = ()
    complete: bool = True
    """Whether all branches were followed to their end."""
    impossible: tuple[str, ...] = ()
    """Where there is no way: the equations that cannot hold, and where they come from."""
    conditions: Conditions = field(default_factory=lambda: Conditions((), {}))
    """The conditions that were solved."""
    note: str = ""
    """Why there are no conditions, where there are none."""


def branches(
    conditions: Conditions, variables: Collection[str], reaches: Reaches | None = None
) -> Branches:
    """Solve conditions into branches.

    Args:
        conditions: What a goal asks for.
        variables: Symbols that may change.
        reaches: Tries out numerically whether a branch has a design; None: nothing is tried.
    """
    polynomials = [condition.polynomial for condition in conditions.equations]
    solver = Solver(variables, conditions.values)
    solutions = solver.solve(polynomials)
    found = [
        _branch(solution, conditions, variables, reaches if place < MOST_TRIED_BRANCHES else None)
        for place, solution in enumerate(solutions)
    ]
    found += _others(polynomials, conditions, variables, solutions)
    reasons = () if solutions else tuple(_impossible(f, conditions) for f in solver.failures)
    return Branches(tuple(found), solver.complete, tuple(dict.fromkeys(reasons)), conditions)


def _branch(
    solution: Solution, conditions: Conditions, variables: Collection[str], reaches: Reaches | None
) -> Branch:
    fixed = {s: v for s, v in conditions.values.items() if s not in variables}
    feasible, reason = None, ""
    if reaches is not None:
        feasible, reason = reaches(_held(solution, fixed))
    return Branch(
        {str(s): plain(_shown(v, fixed)) for s, v in _ordered(solution)},
        tuple(map(plain, solution.remaining)),
        tuple(map(plain, solution.nonzero)),
        feasible=feasible,
        reason=reason,
    )


def _held(solution: Solution, fixed: Mapping[str, float]) -> dict[str, float]:
    """Lengths and centres of mass that a branch gives in numbers."""
    found = {}
    for symbol, value in solution.numbers.items():
        names = {s: str(s) for s in value.free_symbols}
        if str(symbol)[0] in "xyzad" and set(names.values()) <= set(fixed):
            found[str(symbol)] = float(value.subs({s: fixed[name] for s, name in names.items()}))
    return found


def _shown(value: Any, fixed: Mapping[str, float]) -> Any:
    """A value for print: a decimal if it comes from a root that has no formula."""
    long = any(len(str(number)) > LONGEST_EXACT_NUMBER for number in value.atoms(sympy.Rational))
    if not long or any(str(s) not in fixed for s in value.free_symbols):
        return value
    return sympy.Float(value.subs({s: fixed[str(s)] for s in value.free_symbols}), 9)


def _ordered(solution: Solution) -> list[tuple[Any, Any]]:
    """The numbers of a branch, those of the last link first."""

    def key(item: tuple[Any, Any]) -> tuple[int, int, str]:
        rank, name = Solver.rank(item[0])
        digits = "".join(c for c in name.split("_")[0] if c.isdigit())
        return -int(digits or 0), rank, name

    return sorted(solution.numbers.items(), key=key)


def _others(
    polynomials: Sequence[Any],
    conditions: Conditions,
    variables: Collection[str],
    solutions: Sequence[Solution],
) -> list[Branch]:
    """Branches with fewer conditions, which exist only if a held length were zero."""
    lengths = [s for s in conditions.values if s[0] in "ad" and s not in variables]
    if not lengths or len(lengths) > MOST_LENGTHS:
        return []
    fewest = min((len(s.numbers) for s in solutions), default=len(polynomials) + 1)
    found = []
    for length in lengths:
        symbol = sympy.Symbol(length, real=True)
        solver = Solver(variables, conditions.values | {length: 0.0}, seconds=2.0)
        for solution in solver.solve([p.subs(symbol, 0) for p in polynomials]):
            if len(solution.numbers) < fewest and not solution.remaining:
                branch = _branch(solution, conditions, variables, None)
                because = "that length is not free to change"
                found.append(replace(branch, needs=(f"{length} = 0",), reason=because))
    return found


def _impossible(failure: Failure, conditions: Conditions) -> str:
    """Why there is no way on: an equation that cannot hold."""
    assumed = ", ".join(f"{s} = {plain(v)}" for s, v in failure.numbers.items())
    origin = conditions.equations[failure.origin].sources[0] if failure.origin >= 0 else ""
    where = f" ({origin})" if origin else ""
    with_ = f" with {assumed}" if assumed else ""
    return f"{plain(failure.equation)} cannot be zero{where}{with_}"


def plain(expression: Any) -> str:
    """An expression for people: m2 x2² instead of m2*x2**2."""
    if expression.is_Float:
        return f"{float(expression):.9g}"
    text = str(expression)
    for power, sign in zip("23456", "²³⁴⁵⁶", strict=True):
        text = text.replace(f"**{power}", sign)
    return text.replace("*", " ")
