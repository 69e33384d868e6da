"""The smallest change of an arm that reaches a goal, or comes nearest to it.

Lengths, and centres of mass of links whose inertia is held, are searched. The goals depend on these
values by products and squares, so that there may be several designs. The search has no random
steps:

1. Every choice of lengths to make exactly zero is tried, because some conditions vanish only there
   (of more than four lengths: none, each, all).
2. For each choice the other values start from their present values, and centres of mass also from
   the solution of the convex problem with free inertias. A least-squares solver makes conditions,
   times a growing factor, and cost small, with the best linear unknowns for each set of values.
   Newton steps then reach the goals to rounding. Whether the bodies can exist is not asked yet.
3. At these values, and at the start, the convex problem gives the design.
4. Where the goals can be reached for all values near the best ones, a simplex search over the
   values makes the cost smaller.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from armdyn.arrays import Array
from armdyn.study.simplify.convex import Convex, Trial

Progress = Callable[[int, int], None]

_MOST_COMBINED = 4
"""Every choice of zeros is tried for at most so many lengths."""
_CONDITION_FACTORS = (1.0, 1e2, 1e4)
_DISTANCE_FROM_BOUNDS = 1e-9
"""A value starts at least so far from its bounds, in units of the robot's size."""
_DIFFERENCE_STEP = 1e-7
"""Step of a difference quotient, in units of the robot's size."""
_SIMPLEX_TRIALS = 40
"""The simplex search tries at most so many designs, times the number of values."""


def search(convex: Convex, progress: Progress | None = None) -> Trial:
    """The best design over all values that are searched."""
    arm = convex.arm
    start = np.clip(arm.values, arm.low, arm.high)
    choices = list(_choices(convex))
    found: list[Trial] = []
    for done, zeros in enumerate(choices, start=1):
        values = start.copy()
        values[list(zeros)] = 0.0
        rest = [k for k in range(len(values)) if k not in zeros]
        for first in _starts(convex, values):
            found += _trials(convex, first, rest)
        if progress is not None:
            progress(done, len(choices))
    return min(found, key=_rank)


def _choices(convex: Convex) -> Iterator[tuple[int, ...]]:
    """Which of the lengths are made zero."""
    free = enumerate(convex.arm.variables.lengths)
    lengths = [k for k, x in free if x.value and x.low <= 0 <= x.high]
    n = len(lengths)
    for count in range(n + 1) if n <= _MOST_COMBINED else (0, 1, n):
        yield from combinations(lengths, count)


def _starts(convex: Convex, values: Array) -> Iterator[Array]:
    """The given values, and the same with the centres of mass of a design with free tensors."""
    yield values
    arm, lengths = convex.arm, len(convex.arm.variables.lengths)
    if not arm.coordinates:
        return
    numbers = replace(convex, arm=arm.relaxed()).solve(values[:lengths]).numbers
    relaxed = values.copy()
    for k, (link, axis) in enumerate(arm.coordinates, start=lengths):
        if numbers[link, 0] > 0:
            relaxed[k] = numbers[link, 1 + axis] / numbers[link, 0]
    yield np.clip(relaxed, arm.low, arm.high)


def _rank(trial: Trial) -> tuple[int, float, float]:
    """The order of designs, the best first."""
    if trial.outcome == "reached":
        return 0, 0.0, trial.cost
    return 2 if trial.outcome == "no design" else 1, round(trial.residual, 9), trial.cost


def _trials(convex: Convex, values: Array, rest: list[int]) -> Iterator[Trial]:
    yield (best := convex.solve(values))
    if rest:
        best = min(best, convex.solve(_approach(convex, values, rest)), key=_rank)
        yield best
        if best.outcome == "reached" and best.cost > 0:
            yield _improved(convex, best, rest)


def _approach(convex: Convex, values: Array, rest: list[int]) -> Array:
    """Values near the given ones at which the conditions can be met, or nearly."""
    from scipy.optimize import least_squares  # noqa: PLC0415 (slow to load)

    low, high = convex.arm.low[rest], convex.arm.high[rest]
    at = values.copy()

    def residuals(x: Array, factor: float | None) -> Array:
        at[rest] = np.clip(x, low, high)
        return _residuals(convex, at, factor)

    size, x = convex.arm.size, values[rest]
    inside = _DISTANCE_FROM_BOUNDS * size
    for factor in _CONDITION_FACTORS:
        start = np.clip(x, np.minimum(low + inside, high), np.maximum(high - inside, low))
        options = {"bounds": (low - inside, high + inside), "x_scale": size, "max_nfev": 20}
        x = least_squares(residuals, start, args=(factor,), **options).x
    # the nearest zero of conditions that are nearly zero, by the shortest Newton steps
    x, step = np.clip(x, low, high), _DIFFERENCE_STEP * size
    best = residuals(x, None)
    for _ in range(20):
        slopes = [(residuals(x + step * e, None) - best) / step for e in np.eye(len(x))]
        to = np.clip(x - np.linalg.lstsq(np.array(slopes).T, best, rcond=1e-7)[0], low, high)
        there = residuals(to, None)
        if np.linalg.norm(there) >= np.linalg.norm(best):
            break
        x, best = to, there
    at[rest] = x
    return at


def _residuals(convex: Convex, values: Array, factor: float | None) -> Array:
    """Conditions times a factor, and changes; without a factor the conditions alone.

    The linear unknowns are the best ones for these values.
    """
    system = convex.system(values)
    if factor is None:
        theta = np.linalg.lstsq(system.M, system.r, rcond=1e-10)[0]
        return system.M @ theta - system.r
    left = np.concatenate([factor * system.M, system.C])
    theta = np.linalg.lstsq(left, np.concatenate([factor * system.r, system.c]), rcond=None)[0]
    missing, change = factor * (system.M @ theta - system.r), system.C @ theta - system.c
    return np.concatenate([missing, change, convex.length_changes(values)])


def _improved(convex: Convex, best: Trial, rest: list[int]) -> Trial:
    """The cheapest design that a simplex search from the best one finds."""
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to load)

    low, high = convex.arm.low[rest], convex.arm.high[rest]
    found = [best]

    def cost(x: Array) -> float:
        values = best.values.copy()
        values[rest] = np.clip(x, low, high)
        trial = convex.solve(values)
        found.append(trial)
        return trial.cost if trial.outcome == "reached" else 1e6 * (1.0 + trial.residual)

    x = best.values[rest]
    steps = np.where(x + 0.05 * convex.arm.size <= high, 0.05, -0.05) * convex.arm.size
    corners = np.vstack([x, x + np.diag(steps)])
    if any(cost(corner) >= 1e6 for corner in corners[1:]):
        return min(found, key=_rank)
    options = {"initial_simplex": corners, "maxfev": _SIMPLEX_TRIALS * len(rest)}
    options |= {"xatol": 1e-6 * convex.arm.size, "fatol": 1e-9}
    minimize(cost, x, method="Nelder-Mead", options=options)
    return min(found, key=_rank)
