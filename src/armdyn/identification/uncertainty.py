"""How well each parameter is known, and which ones the motion did not show."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from armdyn.arrays import Array
from armdyn.identification.equations import Equations
from armdyn.identification.estimate import Noise, entropic
from armdyn.identification.problem import Prior, Problem

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
        found: Array = np.hypot(
            _deviation(rows, self.posterior), np.linalg.norm(rows @ self.leans.T, axis=1)
        )
        return found

    def excited(self, rows: Array) -> Array:
        """Which combinations the data show, (k,)."""
        before, after = _deviation(rows, self.prior), _deviation(rows, self.informed)
        found: Array = after < EXCITED * before
        return found


def _deviation(rows: Array, covariance: Array) -> Array:
    return np.sqrt(np.maximum(np.einsum("ia,ab,ib->i", rows, covariance, rows), 0.0))


def spread_of(
    problem: Problem, prior: Prior, noise: Noise, weight: float, x: Array, free: Array | None
) -> Spread:
    """The covariances of an estimate x with a weight of the prior.

    A strong weight helps to predict but makes no guess better known: it counts as 1 at most, and
    what it changed of the estimate counts as error.
    """
    lean = np.zeros_like(x)
    if weight > 1.0:
        lean = prior.parameters @ (x - entropic(problem, prior, noise.weights, 1.0, x, free))
    A, _ = problem.normal(noise.weights)
    C, T = prior.features, prior.parameters
    data, identity = C.T @ A @ C, np.eye(len(T))
    return Spread(
        T @ np.linalg.inv(data + min(weight, 1.0) * identity) @ T.T,
        T @ T.T,
        T @ np.linalg.inv(data + identity) @ T.T,
        lean[None],
    )


def reasons(
    equations: Equations, rows: Array, owners: Sequence[Array], spread: Spread
) -> list[str]:
    """Why combinations (k, P) are not excited, given the motors that each one is about."""
    speeds, found = equations.speeds, []
    names = [owner.name for owner in equations.robot.model.driven]
    for row, about in zip(rows, owners, strict=True):
        still = [names[i] for i in about if speeds[i] < _MOVES * speeds.max()]
        if still:
            found.append(f"{', '.join(still[:3])} hardly moved")
            continue
        covariance = row @ spread.informed
        scale = np.sqrt(np.diag(spread.informed))
        share = np.abs(covariance) / np.maximum(scale, 1e-300)
        share[np.abs(row) > 0] = 0.0
        own = float(np.sqrt(max(row @ spread.informed @ row, 1e-300)))
        if share.max(initial=0.0) > 0.7 * own:
            found.append("in this motion it acts like other parameters do")
        else:
            found.append("what it adds to the torques of this motion is less than their noise")
    return found
