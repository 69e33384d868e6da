"""How well each parameter is known, and which ones the motion did not show.

Over which speed dry friction changes its sign is chosen from a few values, and the true one lies
between them. With the squares at the chosen one and at its neighbours, a parabola tells how far
away it may be; the parameters change along with it, and that counts as an error of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from armdyn.arrays import Array
from armdyn.identification.equations import SMOOTHING, Equations, Motor
from armdyn.identification.estimate import RANK_TOLERANCE, Estimate, Noise, entropic
from armdyn.identification.problem import Prior, Problem, prior_of

EXCITED = 0.5
"""A parameter is excited if data bring its deviation below this share of the prior's."""
CONFIDENCE = 0.95
_MOVES = 0.01
"""Share of the fastest motor's speed below which a motor hardly moves."""


@dataclass(frozen=True, slots=True)
class FoundParameter:
    """A parameter with what is known of it."""

    name: str
    unit: str
    value: float
    error: float
    """Standard error; of a parameter that was not excited, what the prior leaves open."""
    before: float
    """What the robot had."""
    excited: bool
    why: str = ""
    """Why it was not excited; empty if it was."""

    @property
    def interval(self) -> tuple[float, float]:
        """Between which values it is, with 95 % confidence."""
        half = float(ndtri(0.5 + CONFIDENCE / 2)) * self.error
        return self.value - half, self.value + half


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Covariances of parameters θ, (P, P)."""

    posterior: Array
    """With data and prior."""
    prior: Array
    """Of a prior with weight 1, data aside."""
    informed: Array
    """With data, and a prior of weight 1."""
    leans: Array
    """How far θ may be off for other reasons than noise, a row for each, (k, P)."""

    def errors(self, rows: Array) -> Array:
        """Standard errors of combinations of parameters, (k, P) to (k,)."""
        leans = np.linalg.norm(rows @ self.leans.T, axis=1)
        return np.asarray(np.hypot(_deviation(rows, self.posterior), leans))

    def excited(self, rows: Array) -> Array:
        """Which combinations the data show, (k,)."""
        before, after = (_deviation(rows, spread) for spread in (self.prior, self.informed))
        return np.asarray(after < EXCITED * before)


def _deviation(rows: Array, covariance: Array) -> Array:
    return np.sqrt(np.maximum(np.einsum("ia,ab,ib->i", rows, covariance, rows), 0.0))


def spread_of(problem: Problem, prior: Prior, found: Estimate, free: Array) -> Spread:
    """The covariances of an estimate.

    A strong weight helps to predict but makes no guess better known: it counts as 1 at most, and
    what it changed of the estimate counts as error. Without a prior, combinations that the data do
    not show at all have the covariance of a prior.
    """
    C = prior.features
    T = prior.parameters
    weights = found.noise.weights
    weight = found.weight
    lean = np.zeros_like(found.theta)
    if weight > 1.0:
        lean = found.theta - T @ entropic(problem, prior, weights, 1.0, free=free)
    A, _ = problem.normal(weights)
    values, vectors = np.linalg.eigh(C.T @ A @ C)
    values, axes = np.maximum(values, 0.0), T @ vectors
    unseen = values <= RANK_TOLERANCE * values.max(initial=0.0)
    added = min(weight, 1.0) if weight else unseen
    posterior, informed = ((axes / (values + more)) @ axes.T for more in (added, 1.0))
    return Spread(posterior, T @ T.T, informed, lean[None])


def reason(equations: Equations, row: Array, motors: Sequence[Motor], spread: Spread) -> str:
    """Why a combination (P,) is not excited.

    It is about the motor that carries the first link in it, or whose first parameter it has.
    """
    model, speeds = equations.robot.model, equations.speeds
    ten = 10 * len(model.links)
    first = int(np.argmax(np.abs(row) > 0))
    motor = first // 10 if first < ten else motors[first - ten][0]
    if motor < len(model.driven) and speeds[motor] < _MOVES * speeds.max():
        return f"{model.driven[motor].name} hardly moved"
    scale = np.sqrt(np.maximum(np.diag(spread.informed), 1e-300))
    share = np.where(row, 0.0, np.abs(row @ spread.informed) / scale)
    if share.max(initial=0.0) > 0.7 * float(_deviation(row[None], spread.informed)[0]):
        return "in this motion it acts like other parameters do"
    return "what it adds to the torques of this motion is less than their noise"


_AT_EDGE = 0.5
"""Steps that the true speed may be away where there is a neighbour on one side alone."""


def with_other_speeds(motors: Sequence[Motor]) -> list[tuple[Motor, ...]]:
    """The same features with the next lower and the next higher speed, if these were tried."""
    speeds = {feature.smooth for _, feature in motors if feature.smooth}
    if len(speeds) != 1 or not speeds <= set(SMOOTHING):
        return []
    (own,) = speeds
    place = SMOOTHING.index(own)
    fastest = min((f.stribeck for _, f in motors if f.stribeck), default=np.inf)
    return [
        tuple((k, replace(f, smooth=other) if f.smooth else f) for k, f in motors)
        for other in SMOOTHING[max(place - 1, 0) : place + 2]
        if other != own and other < fastest
    ]


def speed_lean(
    equations: Equations, problems: Sequence[Problem], prior: Prior, noise: Noise, free: Array
) -> Array:
    """How far θ may be off because of the speed, (P,); of the problems the chosen one is first.

    Others are one step away, the lower speed first.
    """
    found, costs = [], []
    for problem in problems:
        own = prior if problem is problems[0] else prior_of(equations, problem)
        x = entropic(problem.whole, own, noise.weights, 1.0, free=free)
        found.append(own.parameters @ x)
        squares = problem.whole.squares(own.features @ x)
        costs.append(float(noise.weights @ squares))
    if len(problems) < 3:
        step = found[-1] - found[0]
        return (_AT_EDGE if len(problems) > 1 else 0.0) * step
    here, below, above = costs
    curvature = below + above - 2 * here
    if curvature <= 0:
        return _AT_EDGE * (found[2] - found[1])
    away = (below - above) / (2 * curvature)
    share = min(float(np.hypot(away, np.sqrt(2 / curvature))), 1.0)
    return share * 0.5 * (found[2] - found[1])
