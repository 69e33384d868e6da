"""How well each parameter is known, and which ones the motion did not show.

Residuals are alike for a while, and what a model lacks goes with the motion. So the variance of an
estimate is that by independent samples plus the largest by blocks of several lengths, each of which
is left out once (the jackknife of Tukey). Without the block b, with its products H_b and what its
residuals pull by, s_b, the estimate changes by

    δ_b = -(H - H_b)⁻¹ s_b,    cov x = (B - 1)/B Σ δ_b δ_bᵀ

Other terms of friction than those that were taken may be the true ones: what they would change
counts as an error as far as they explain more, or less, than chance does, after James and Stein.

Over which speed dry friction changes its sign is chosen from a few values, and the true one lies
between them: half of what the next best would change counts as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri, stdtrit

from armdyn.arrays import Array
from armdyn.identification.equations import (
    BACKWARDS,
    FORWARDS,
    VISCOUS,
    Equations,
    Motor,
)
from armdyn.identification.estimate import RANK_TOLERANCE, Estimate, Noise, entropic
from armdyn.identification.problem import Prior, Problem, prior_of
from armdyn.robot import Robot

EXCITED = 0.5
"""A parameter is excited if data bring its deviation below this share of the prior's."""
CONFIDENCE = 0.95
BLOCKS = (8, 25)
"""Into how many blocks samples are cut, for errors that last as long as one."""
_MOVES = 0.01
"""Share of the fastest motor's speed below which a motor hardly moves."""
_WORDS = {"m": "mass", "rotor": "rotor inertia", "offset": "constant torque"}


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
    parts: Mapping[str, float] = field(default_factory=dict)
    """The parameters of the robot that it is made of, by name, with their coefficients."""

    @property
    def title(self) -> str:
        """Its name for people, as "z²-inertia of link3 + …"."""
        owner, _, key = next(iter(self.parts), self.name).rpartition(".")
        word = _WORDS.get(key, key.replace("_", " "))
        if key.startswith("mc"):
            word = f"{key[2]}-moment"
        elif key.startswith("I"):
            word = f"{key[1] + '²' if key[1] == key[2] else key[1:]}-inertia"
        return f"{word} of {owner}" + (" + …" if len(self.parts) > 1 else "")

    def of(self, robot: Robot) -> float:
        """What it is of another robot, as of a true one that a measurement was simulated with."""
        known = dict(zip(robot.parameter_names, robot.parameters(), strict=True))

        for name in self.parts:
            both = name.removesuffix("_positive").removesuffix("_negative")
            known.setdefault(name, known.get(both, 0.0))
        return float(sum(share * known[name] for name, share in self.parts.items()))

    @property
    def interval(self) -> tuple[float, float]:
        """Between which values it is, with 95 % confidence."""
        half = float(ndtri(0.5 + CONFIDENCE / 2)) * self.error
        return self.value - half, self.value + half


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Covariances of parameters θ, (P, P)."""

    posterior: Array
    """With data and prior, if residuals are noise."""
    prior: Array
    """Of a prior with weight 1, data aside."""
    informed: Array
    """With data, and a prior of weight 1."""
    leans: Array
    """How far θ may be off for other reasons than noise, a row for each, (k, P)."""
    blocks: tuple[Array, ...] = ()
    """By blocks of several lengths that are left out."""

    def errors(self, rows: Array) -> Array:
        """Standard errors of combinations of parameters, (k, P) to (k,)."""
        leans = np.linalg.norm(rows @ self.leans.T, axis=1)
        noise = _deviation(rows, self.posterior)
        blocks = [_deviation(rows, each) for each in self.blocks]
        return np.asarray(np.sqrt(noise**2 + leans**2 + np.max([0 * noise, *blocks], axis=0) ** 2))

    def excited(self, rows: Array) -> Array:
        """Which combinations the data show, (k,)."""
        before, after = (_deviation(rows, spread) for spread in (self.prior, self.informed))
        return np.asarray(after < EXCITED * before)


def _deviation(rows: Array, covariance: Array) -> Array:
    return np.sqrt(np.maximum(np.einsum("ia,ab,ib->i", rows, covariance, rows), 0.0))


def jackknifed(problem: Problem, phi: Array, H: Array, C: Array, weights: Array) -> list[Array]:
    """Covariances (x, x) of unknowns with features C x and products H, from blocks left out.

    Few blocks do not tell their deviation well, so it is stretched as that of Student is.
    """
    scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    wide = float(ndtri(0.5 + CONFIDENCE / 2))
    found = []
    for count in (count for count in BLOCKS if count <= len(problem.yy)):
        each = [block.normal(weights) for _, block in problem.held_out(count)]
        left = np.array([H - C.T @ A @ C for A, _ in each]) * scale * scale[:, None]
        pulls = np.array([C.T @ (b - A @ phi) for A, b in each]) * scale
        inverse = np.linalg.pinv(left, hermitian=True, rcond=RANK_TOLERANCE)
        change = scale * (inverse @ pulls[..., None])[..., 0]
        stretch = float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) / wide
        found.append(change.T @ change * stretch**2 * (count - 1) / count)
    return found


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
        lean = found.theta - T @ entropic(problem.whole, prior, weights, 1.0, free=free)
    A, _ = problem.normal(weights)
    values, vectors = np.linalg.eigh(C.T @ A @ C)
    values, axes = np.maximum(values, 0.0), T @ vectors
    unseen = values <= RANK_TOLERANCE * values.max(initial=0.0)
    added = min(weight, 1.0) if weight else unseen
    posterior, informed = ((axes / (values + more)) @ axes.T for more in (added, 1.0))
    H = (vectors * (values + added)) @ vectors.T
    blocks = (T @ each @ T.T for each in jackknifed(problem, found.phi, H, C, weights))
    return Spread(posterior, T @ T.T, informed, lean[None], tuple(blocks))


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


def terms_lean(
    equations: Equations, problem: Problem, other: Problem, prior: Prior, noise: Noise, free: Array
) -> Array:
    """How far θ may be off for other terms of friction, which may be the true ones, (P,)."""
    theta, costs = [], []
    for each, own in ((problem, prior), (other, prior_of(equations, other))):
        links = len(own.known) - len(each.motors)
        among = np.concatenate([free[:links], np.full(len(each.motors), True)])
        x = entropic(each.whole, own, noise.weights, 1.0, free=among)
        theta.append(own.parameters @ x)
        costs.append(float(noise.weights @ each.whole.squares(own.features @ x)))
    pairs = zip(other.motors, theta[1][links:], strict=True)
    values = {(k, feature.name): value for (k, feature), value in pairs}
    for (k, feature), value in zip(problem.motors, theta[0][links:], strict=True):
        if feature in (VISCOUS, FORWARDS, BACKWARDS):  # each stands for the others
            values.setdefault((k, feature.name), value)
    motors = [values.get((k, feature.name), 0.0) for k, feature in problem.motors]
    chance = abs(len(other.motors) - len(problem.motors))
    share = max(0.0, 1.0 - chance / max(abs(costs[0] - costs[1]), 1e-300)) if chance else 0.5
    return share * (np.concatenate([theta[1][:links], motors]) - theta[0])
