"""Balance the weight of an arm by springs: exactly where that is possible, else as well as can be.

First every number of `spring_system` is found by linear least squares, which decides whether ideal
springs can balance the arm exactly. Then places without use, and springs of a place but one, are
left out where the balance stays. Springs with a free length, and balances that are not exact, are
fitted by nonlinear least squares from there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.study.simplify.spring_system import SpringPlace, realised

EXACT_BALANCE = 1e-9
"""A torque that is left is rounding if it is smaller, relative to the largest of gravity."""
_STIFFNESS_ROUNDS = 50
"""Most rounds in which stiffnesses are made large enough for the lengths at hand."""
_STIFFNESS_ROUNDING = 1e-10
"""A stiffness that is smaller, relative to the largest, is none."""
MOST_MERGED = 12
"""Of more springs, or more places, none is left out: the search would take too long."""
_WORTH_SHARE = 0.98
"""Springs that leave a larger share of the mean square torque are not worth it."""
_NO_EFFECT = 1e-10
"""A number whose effect is smaller, relative to the largest, is not fitted."""
_SOFTEST_SHARE = 1e-3
"""A fitted spring with a smaller share of the largest stiffness is left out."""

Ends = tuple[float, Array, Array]
"""Stiffness, point on the link, and anchor seen from the centre of its place."""
Springs = list[tuple[int, Ends]]
"""Springs with the number of their place."""


@dataclass(frozen=True, slots=True, eq=False)
class BalanceProblem:
    """Gravity at some configurations, and the places for springs against it."""

    gravity: Array
    """Torques (m, n)."""
    places: Sequence[SpringPlace]
    reach: float
    """The largest distance of points and anchors from their joints along an axis [m]."""
    free_length: float

    @property
    def size(self) -> float:
        """The largest torque of gravity."""
        return float(np.abs(self.gravity).max())

    def residual(self, springs: Springs) -> Array:
        """The torques that are left, (m, n)."""
        total = self.gravity.copy()
        for number, place in enumerate(self.places):
            own = [ends for at, ends in springs if at == number]
            if own:
                k, p, a = (np.array(part) for part in zip(*own, strict=True))
                total += place.torques(k, p, a, self.free_length).sum(axis=-1)
        return total

    def is_exact(self, springs: Springs) -> bool:
        """Whether springs balance gravity, but for rounding."""
        return bool(np.abs(self.residual(springs)).max() <= EXACT_BALANCE * self.size)


def balance(problem: BalanceProblem) -> Springs:
    """The springs of the best balance that was found."""
    if not problem.size:
        return []
    ideal = replace(problem, free_length=0.0)
    springs = _fewest(ideal, _linear(ideal, list(range(len(problem.places)))))
    if not springs:
        return _fitted(problem, _starts(problem))
    return _fitted(problem, springs) if problem.free_length else springs


def _fewest(problem: BalanceProblem, springs: Springs) -> Springs:
    """An exact balance without places and springs that it does not need; none if it is none."""
    if not problem.is_exact(springs):
        return []
    springs = _merged(problem, springs)
    places = sorted({at for at, _ in springs}, reverse=True)
    for number in places if len(places) <= MOST_MERGED else ():
        fewer = _linear(problem, sorted({at for at, _ in springs} - {number}))
        if len(fewer) < len(springs) and problem.is_exact(fewer):
            springs = fewer
    return _merged(problem, springs)


def _merged(problem: BalanceProblem, springs: Springs) -> Springs:
    """The same balance with one spring, or two, at a place where there are more."""
    if len(springs) > MOST_MERGED:
        return springs
    for number in sorted({at for at, _ in springs}):
        others = [spring for spring in springs if spring[0] != number]
        own = [ends for at, ends in springs if at == number]
        for count in range(1, min(len(own), 3)):
            # the pair of the first singular value, or one of it
            start = [(number, (len(own) / count * k, p, a)) for k, p, a in own[:count]]
            fewer = _fit(problem, [*others, *start])
            if problem.is_exact(fewer):
                springs = fewer
                break
    return springs


def _table(problem: BalanceProblem, number: int) -> Array:
    return problem.places[number].coefficients(problem.reach).reshape(-1, 16)


def _linear(problem: BalanceProblem, used: list[int]) -> Springs:
    """Springs by the linear problem: by B alone if that is exact, with s, or with s and β."""
    springs: Springs = []
    for columns in (slice(7, 16), [*range(1, 4), *range(7, 16)], slice(1, 16)):
        springs = _by_columns(problem, used, columns) if used else []
        if problem.is_exact(springs):
            break
    return springs


def _by_columns(problem: BalanceProblem, used: list[int], columns: Any) -> Springs:
    """Springs by some of the sixteen numbers, each place as stiff as its lengths ask for."""
    A = np.stack([_table(problem, number) for number in used])
    b, S = problem.gravity.ravel(), np.zeros(len(used))
    inverse = np.linalg.pinv(np.concatenate(list(A[:, :, columns]), axis=1), rcond=1e-12)
    x = np.zeros((len(used), 16))
    for _ in range(_STIFFNESS_ROUNDS):
        x[:, 0] = S
        x[:, columns] = -(inverse @ (b + S @ A[:, :, 0])).reshape(len(used), -1)
        B = np.linalg.norm(x[:, 7:].reshape(-1, 3, 3), ord="nuc", axis=(1, 2))
        ends = np.linalg.norm(x[:, 1:7].reshape(-1, 2, 3), axis=-1).max(axis=1)
        # centres and distances from them are at most half the reach each
        needed = np.maximum(4 * B, 2 * ends)
        needed[needed <= _STIFFNESS_ROUNDING * needed.max(initial=0.0)] = 0.0
        if np.allclose(needed, S, rtol=1e-12, atol=0.0):
            break
        S = needed
    return [
        (number, ends)
        for number, values in zip(used, x, strict=True)
        if values[0] > 0
        for ends in realised(values, problem.reach)
    ]


def _starts(problem: BalanceProblem) -> Springs:
    """A soft spring at each place that can move, from which a fit begins."""
    k, half = problem.size / problem.reach**2, np.full(3, 0.3 * problem.reach)
    return [(i, (k, half, half)) for i, place in enumerate(problem.places) if place.dX.any()]


def _fitted(problem: BalanceProblem, start: Springs) -> Springs:
    """Springs by a fit; none if that is no better than none."""
    found = _fit(problem, start) if start else []
    better = np.sum(problem.residual(found) ** 2) < _WORTH_SHARE * np.sum(problem.gravity**2)
    return found if better else []


def _fit(problem: BalanceProblem, start: Springs) -> Springs:
    """Springs by nonlinear least squares, no farther than the reach, from a start."""
    from scipy.optimize import least_squares  # noqa: PLC0415 (slow to import)

    at = np.array([number for number, _ in start])
    stiffest = max(k for _, (k, _, _) in start)
    r = problem.reach
    x0 = np.array([[k / stiffest, *p / r, *a / r] for _, (k, p, a) in start]).ravel()
    high = np.tile([np.inf, *[1.0] * 6], len(start))
    low = np.tile([0.0, *[-1.0] * 6], len(start))
    felt = np.ones(len(x0), dtype=bool)

    def springs(x: Array) -> Springs:
        values = x0.copy()
        values[felt] = x
        rows = values.reshape(-1, 7)
        return [
            (int(n), (stiffest * row[0], r * row[1:4], r * row[4:]))
            for n, row in zip(at, rows, strict=True)
        ]

    def slopes(x: Array) -> Array:
        parts = []
        for number, ends in springs(x):
            found = problem.places[number].torque_slopes(*ends, problem.free_length)
            parts.append(found.reshape(-1, 7) * [stiffest, *[r] * 6] / problem.size)
        return np.concatenate(parts, axis=1)[:, felt]

    # a number without effect, as a place along the axes of a planar arm, stays as it is
    effects = np.linalg.norm(slopes(x0), axis=0)
    felt = effects > _NO_EFFECT * effects.max()
    found = least_squares(
        lambda x: problem.residual(springs(x)).ravel() / problem.size,
        np.clip(x0, low + 1e-9, high - 1e-9)[felt],
        slopes,
        bounds=(low[felt], high[felt]),
        x_scale="jac",
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-15,
        max_nfev=40,
    )
    kept = springs(found.x)
    strongest = max(k for _, (k, _, _) in kept)
    return [spring for spring in kept if spring[1][0] > _SOFTEST_SHARE * strongest]
