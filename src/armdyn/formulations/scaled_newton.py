"""Damped Newton for a quadratic form of parameters plus their divergence from a prior.

With θ = T x, x being the coordinates of `possible_bodies` for the links and multiples of a scale
for rotors and friction, the function is

    ½ xᵀ A x - bᵀ x  +  Σ w_i D(X_i)  +  Σ μ_k (x_k - log x_k - 1)  +  ½ Σ ν_k (x_k - x_k⁰)²

with the sum over k > 0 for parameters that are magnitudes, and the last one for those with a sign.
It is convex and self-concordant, so that Newton's method finds its minimum from anywhere inside.

The physically possible robot that has given base parameters and is nearest to another one is that
of all bodies with B π = π_b whose divergence from the robot as it is is least; rotors and friction,
which have no bodies, keep near to what they were in the same sense. It comes from Newton's method
on the conditions of Lagrange, with steps that stay inside of what is possible. Where no possible
robot has these parameters, the nearest one to them is found.
"""

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.linalg.lapack import dposv

from armdyn.arrays import Array, check_constant, record
from armdyn.errors import ArmdynWarning
from armdyn.formulations.base_parameters import BaseParameters
from armdyn.formulations.parameters import robot_parameters, with_parameters
from armdyn.formulations.possible_bodies import (
    PriorBodies,
    divergence_slopes,
    divergence_value,
    longest_step,
)
from armdyn.formulations.springs import TENSION
from armdyn.model import RobotModel

_MOST_STEPS = 200
_DECREMENT = 1e-9
"""Half of the squared Newton decrement, relative to the value, at which the minimum is reached."""
_INSIDE = 0.9
"""The share of the way to the edge of what is possible that a step may go."""
_LARGEST_MISS = 1e-6
"""Error of base parameters, relative to the largest of their kind, that is told of."""
_STIFFNESS = 1e10
"""Weight of the base parameters against the divergence where both cannot be had."""


@record(eq=False)
class Objective:
    """The function; the links come first among the coordinates, ten each."""

    transform: Array
    """T of θ = T x."""
    links: int
    signed: Array
    """Which of the other parameters have a sign, (k,)."""
    weight: Array
    """w of each link, and μ or ν of each other parameter, (N + k,)."""
    centre: Array
    """x⁰ of the other parameters, (k,); 1 for magnitudes."""
    A: Array
    b: Array

    @classmethod
    def plain(cls, prior: PriorBodies, scale: Array, signed: Array, centre: Array) -> "Objective":
        """Without data, all weights being 1."""
        N, T = len(prior.roots), block_diag(*prior.to_ten(), np.diag(scale))
        middle = np.where(signed, centre, 1.0)
        ones = np.ones(N + len(scale))
        return cls(T, N, signed, ones, middle, np.zeros(T.shape), np.zeros(len(T)))

    def with_data(self, A: Array, b: Array) -> "Objective":
        """With a quadratic form in x."""
        return replace(self, A=A, b=b)

    def weighted(self, links: float | Array, others: float | Array) -> "Objective":
        """With other weights."""
        k = len(self.signed)
        both = [np.broadcast_to(links, (self.links,)), np.broadcast_to(others, (k,))]
        return replace(self, weight=np.concatenate(both).astype(float))

    @property
    def start(self) -> Array:
        """x of the prior."""
        identity = np.zeros(10)
        identity[[0, 4, 7, 9]] = 1.0
        return np.concatenate([np.tile(identity, self.links), self.centre])

    def value(self, x: Array) -> float:
        """The function alone; infinite outside of what is possible."""
        N, rest = self.links, x[10 * self.links :]
        magnitudes = rest[~self.signed]
        if (magnitudes <= 0).any():
            return np.inf
        total = 0.5 * float(x @ self.A @ x) - float(self.b @ x)
        total += float(self.weight[:N] @ divergence_value(x[: 10 * N].reshape(N, 10)))
        w = self.weight[N:]
        total += float(w[~self.signed] @ (magnitudes - np.log(magnitudes) - 1))
        return total + 0.5 * float(w[self.signed] @ (rest - self.centre)[self.signed] ** 2)

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """Gradient and Hessian."""
        N = self.links
        gradient = self.A @ x - self.b
        slope, blocks = divergence_slopes(x[: 10 * N].reshape(N, 10))
        gradient[: 10 * N] += (self.weight[:N, None] * slope).ravel()
        rest, w = x[10 * N :], self.weight[N:]
        of_magnitude = np.where(self.signed, 1.0, rest)
        gradient[10 * N :] += w * np.where(
            self.signed, rest - self.centre, 1.0 - 1.0 / of_magnitude
        )
        others = np.diag(w * np.where(self.signed, 1.0, 1.0 / of_magnitude**2))
        hessian = self.A + block_diag(*(self.weight[:N, None, None] * blocks), others)
        return gradient, hessian

    def room(self, x: Array, dx: Array) -> float:
        """How far a step may go along dx, up to 1."""
        N = self.links
        most = longest_step(x[: 10 * N].reshape(N, 10), dx[: 10 * N].reshape(N, 10))
        rest = x[10 * N :][~self.signed]
        change = dx[10 * N :][~self.signed]
        falling = change < 0
        if falling.any():
            most = min(most, float((-rest[falling] / change[falling]).min()))
        return min(1.0, _INSIDE * most)


def newton(objective: Objective, start: Array, free: Array | None = None) -> Array:
    """The minimum, over the coordinates that are `free`."""
    x = start.copy()
    some = np.arange(len(x)) if free is None else np.flatnonzero(free)
    value = objective.value(x)
    for _ in range(_MOST_STEPS):
        gradient, hessian = objective.slopes(x)
        gradient, hessian = gradient[some], hessian[np.ix_(some, some)]
        hessian[np.diag_indices(len(some))] *= 1 + 1e-13
        dx = np.zeros_like(x)
        _, dx[some], _ = dposv(hessian, -gradient)
        decrement = float(-gradient @ dx[some])
        size = objective.room(x, dx)
        while (after := objective.value(x + size * dx)) > (
            value - 1e-4 * size * decrement + 1e-12 * abs(value)
        ):
            size *= 0.5
            if size < 1e-10:
                return x
        x, value = x + size * dx, after
        if decrement <= 2 * _DECREMENT * max(1.0, abs(value)):
            return x
    return x


def constrained_newton(objective: Objective, start: Array, B: Array, r: Array) -> Array:
    """The minimum with B x = r; where there is none, a point at the edge of what is possible."""
    x = start.copy()
    for _ in range(_MOST_STEPS):
        try:
            gradient, hessian = objective.slopes(x)
            miss = r - B @ x
            dx, decrement = _lagrange(hessian, gradient, B, miss)
            size = objective.room(x, dx)
        except np.linalg.LinAlgError:  # rounding has put a body at the edge beyond it
            return x
        x = x + size * dx
        met = float(np.abs(miss).max(initial=0.0)) <= 1e-9 * float(np.abs(r).max(initial=0.0))
        if size < 1e-7 or (size == 1.0 and decrement < 1e-10 and met):
            return x
    return x


def _lagrange(hessian: Array, gradient: Array, B: Array, miss: Array) -> tuple[Array, float]:
    """The Newton step of an equality, and how much the function would fall with it."""
    k, m = len(gradient), len(miss)
    K = np.zeros((k + m, k + m))
    K[:k, :k], K[:k, k:], K[k:, :k] = hessian, B.T, B
    K[k:, k:] = -1e-14 * np.eye(m)
    step = np.linalg.solve(K, np.concatenate([-gradient, miss]))[:k]
    return step, float(step @ hessian @ step)


def with_base_parameters(model: RobotModel, base: BaseParameters, values: ArrayLike) -> RobotModel:
    """The robot nearest to a robot that has these base parameters, in the order of `base`."""
    wanted = check_constant("base parameters", values, (base.rank,))
    known = [p for p in robot_parameters(model) if p.linear][: base.matrix.shape[1]]
    N = len(model.links)
    motors = np.array([p.value for p in known[10 * N :]])
    signed = np.array(
        [p.name.endswith((".offset", f".{TENSION}")) for p in known[10 * N :]], dtype=bool
    )
    scale = np.where(motors == 0, 1.0, np.abs(motors))
    objective = Objective.plain(PriorBodies.of(model), scale, signed, np.sign(motors))
    B = base.matrix @ objective.transform
    size = np.maximum(np.linalg.norm(B, axis=1), 1e-300)
    B, right = B / size[:, None], wanted / size
    start = objective.start
    # bodies of another size first: a common factor brings most numbers near
    x = constrained_newton(objective, start, B, right)
    if np.abs(B @ x - right).max() > _LARGEST_MISS * np.abs(right).max(initial=1e-300):
        A, b = _STIFFNESS * B.T @ B, _STIFFNESS * B.T @ right
        x = newton(objective.with_data(A, b), start)
        miss = np.abs(B @ x - right)
        worst = int(miss.argmax())
        warnings.warn(
            f"robot {model.name!r}: no bodies have these base parameters; the nearest possible "
            f"robot misses {base.groupings[worst]!r:.80} by {miss[worst] * size[worst]:.3g}",
            ArmdynWarning,
            stacklevel=3,
        )
    found = objective.transform @ x
    names = [p.name for p in known]
    return with_parameters(model, dict(zip(names, found.tolist(), strict=True)))
