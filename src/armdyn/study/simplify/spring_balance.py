"""Balance the weight of an arm by springs: exactly where that is possible, else as well as can be.

Springs of free length 0 between points p of a link and a of another one have the energy

    ½ S |O|² + O·R s - β·O - <B, R>   + a constant

with R and O the first link seen from the other one, S = Σ k, s = Σ k p, β = Σ k a, B = Σ k a pᵀ:
sixteen numbers in which the torques of springs are linear. Any numbers with S > 0 are those of some
springs: of one if B = β sᵀ/S, else of two for each singular value of the difference.

First all these numbers are found by linear least squares, which decides whether ideal springs can
balance the arm exactly. Then places without use, and springs of a place but one, are left out where
the balance stays. Springs with a free length, and balances that are not exact, are fitted by
nonlinear least squares from there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.augmented_body import augmented_body
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.spring import Spring
from armdyn.model.transform import inverse
from armdyn.study.simplify.linear import link_slopes

_SINGULAR_SHARE = 1e-9
"""A singular value of B that is smaller, relative to S times the lengths, makes no springs."""


@dataclass(frozen=True, slots=True, eq=False)
class SpringPlace:
    """A link and another one that carries it, between which springs can be."""

    link: int
    other: int
    """-1 is the base."""
    centre: Array
    """The joint that the other link carries towards the link, in its frame, (3,) [m]."""
    X: Array
    """The link seen from the other one, whose origin is moved to the centre, (m, 4, 4)."""
    dX: Array
    """Its derivatives by the n coordinates, (m, n, 4, 4)."""

    def coefficients(self, reach: float) -> Array:
        """Torques for S, s/r, β/r and B/r² of 1 N/m with the length r, (m, n, 16)."""
        O, R = self.X[:, :3, 3], self.X[:, :3, :3]
        dO, dR = self.dX[..., :3, 3], self.dX[..., :3, :3]
        square = np.einsum("sc,snc->sn", O, dO)[..., None]
        along = np.einsum("snc,sca->sna", dO, R) + np.einsum("sc,snca->sna", O, dR)
        turned = dR.reshape(*dR.shape[:2], 9)
        return np.concatenate([square, reach * along, -reach * dO, -(reach**2) * turned], axis=-1)

    def torque_slopes(self, stiffness: float, point: Array, anchor: Array, length: float) -> Array:
        """The torques of one spring by its stiffness, point and anchor, (m, n, 7)."""
        R = self.X[:, :3, :3]
        dR = self.dX[..., :3, :3]
        d = R @ point + self.X[:, :3, 3] - anchor
        dp = dR @ point + self.dX[..., :3, 3]
        size = np.maximum(np.linalg.norm(d, axis=-1), 1e-9 * length) if length else np.ones(len(d))
        share = (1 - length / size)[:, None]
        pull = (d[:, None] * dp).sum(axis=-1)
        # of share · d·dp by d, and by p through dp
        by_d = share[..., None] * dp + pull[..., None] * (d * (length / size**3)[:, None])[:, None]
        by_p = by_d @ R + share[..., None] * (d[:, None, None] @ dR)[:, :, 0]
        columns = [(share * pull)[..., None], stiffness * by_p, -stiffness * by_d]
        return np.concatenate(columns, axis=-1)

    def spring(self, stiffness: float, point: Array, anchor: Array, length: float) -> Spring:
        """A spring with its anchor in the frame of the other link."""
        return Spring(self.link, point, self.other, anchor + self.centre, stiffness, length)


def spring_places(
    model: RobotModel, pairs: Sequence[tuple[int, int]], q: Array
) -> list[SpringPlace]:
    """The places of springs at positions of the coordinates q (m, n)."""
    at = coordinates_of(model)
    T, U = link_slopes(model, at.positions(q))
    K = at.columns(np.eye(len(model.joints)))
    base = np.broadcast_to(model.base, T[0].shape)
    places = []
    for link, other in pairs:
        path = model.paths[link]
        first = path[0 if other < 0 else path.index(other) + 1]
        centre = model.joints[first].placement[:3, 3]
        back = inverse(T[other] if other >= 0 else base)
        X = back @ T[link]
        dX = np.zeros((len(q), len(model.joints), 4, 4))
        for i in path[path.index(first) :]:
            dX[:, i] = back @ U[link][i]
        X[:, :3, 3] -= centre
        places.append(SpringPlace(link, other, centre, X, np.einsum("snab,nc->scab", dX, K)))
    return places


def gravity_torques(model: RobotModel, q: Array) -> Array:
    """Torques that hold the links at rest at positions of the coordinates q (m, n), (m, n)."""
    at = coordinates_of(model)
    full = at.positions(q)
    return np.asarray(at.torques(augmented_body(model, full, 0 * full, 0 * full).tau))


def realised(numbers: Array, reach: float) -> list[tuple[float, Array, Array]]:
    """The fewest springs (k, p, a) with the sixteen scaled numbers of a place, S > 0."""
    S, s, beta = numbers[0], reach * numbers[1:4], reach * numbers[4:7]
    B = reach**2 * numbers[7:].reshape(3, 3)
    point, anchor = s / S, beta / S
    u, sigma, v = np.linalg.svd(B - np.outer(beta, s) / S)
    some = sigma > _SINGULAR_SHARE * S * reach**2
    if not some.any():
        return [(float(S), point, anchor)]
    rho = float(np.sqrt(sigma[some].sum() / S))
    springs = []
    for j in np.flatnonzero(some):
        k = float(0.5 * S * sigma[j] / sigma[some].sum())
        springs += [(k, point + x * rho * v[j], anchor + x * rho * u[:, j]) for x in (1, -1)]
    return springs


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
        for at, (stiffness, point, anchor) in springs:
            ends = point, anchor, self.free_length
            total += stiffness * self.places[at].torque_slopes(stiffness, *ends)[..., 0]
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
    if not springs:  # a fit begins with a soft spring at each place that can move
        k, half = problem.size / problem.reach**2, np.full(3, 0.3 * problem.reach)
        moving = [i for i, place in enumerate(problem.places) if place.dX.any()]
        return _fitted(problem, [(i, (k, half, half)) for i in moving])
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
    A = np.stack([problem.places[k].coefficients(problem.reach).reshape(-1, 16) for k in used])
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
