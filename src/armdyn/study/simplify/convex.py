"""The smallest change of the inertias of an arm whose lengths are given: a convex problem.

In the unknowns θ of `ParametrisedArm.span` the goals are M θ = r. Their singular value
decomposition gives a particular solution and an orthonormal basis of the others, so that the goals
hold to rounding for any precision of the solver. The solver finds the least cost among these
solutions, over the bounds and the bodies that can exist. Where no such body reaches the goals, the
least residual |M θ - r| is found first, and then the least cost among the designs with it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.study.simplify.constraints import VIOLATION_TOLERANCE, Constraints, Region, nearest
from armdyn.study.simplify.linear import GoalElement, linear_conditions
from armdyn.study.simplify.parametrisation import ParametrisedArm

Outcome = Literal["reached", "inconsistent", "no body", "no design"]
"""Reached; not even with negative masses; not with bodies that exist; not within the bounds."""

CONDITION_TOLERANCE = 1e-10
"""A smaller dimensionless condition is rounding; every true condition is larger."""
_CHANGE_ROUNDING = 1e-13
"""A smaller change of ψ is rounding."""
_MOMENT_ROUNDING = 1e-12
"""A smaller moment is rounding, in units of the mass of its link and the robot's size."""
_CHANGE_WEIGHT = 1e-6
"""Weight of the change while the residual is made small; it makes the best design unique."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The best design for given lengths."""

    values: Array
    """Of what is searched."""
    numbers: Array
    """The numbers φ of the links without payloads, shape (n, 10)."""
    outcome: Outcome
    residual: float
    cost: float
    rank: int
    """The number of independent conditions on the linear unknowns."""


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The goals M θ = r and the cost |C θ - c|², and the links ψ = p + B θ that θ moves."""

    M: Array
    r: Array
    C: Array
    c: Array
    p: Array
    """Shape (n, 10)."""
    B: Array
    """Shape (n, 10, unknowns)."""
    rows: Array
    """The goals as rows @ φ = 0."""


@dataclass(frozen=True, eq=False)
class Convex:
    """The convex problem of one arm, to be solved for any lengths."""

    arm: ParametrisedArm
    elements: Sequence[GoalElement]
    q: Array
    """Configurations at which the goals are evaluated, shape (samples, n)."""
    margin: float
    kept: float = 0.0
    """How thin and how compact a changed link may be (see `Constraints`)."""

    @cached_property
    def constraints(self) -> Constraints:
        """Where the unknowns may be."""
        return Constraints(self.arm, self.margin, self.kept)

    @cached_property
    def start(self) -> Array:
        """ψ of the links as they are, shape (n, 10)."""
        return np.einsum("nab,nb->na", self.arm.to_units, self.arm.start)

    @cached_property
    def _conditions(self) -> Callable[..., Array]:
        """The goals for given lengths; those of the latest lengths are kept."""
        return lru_cache(1)(
            lambda *lengths: linear_conditions(
                self.arm.robot_with(lengths), self.elements, self.q, self.arm.followers
            )
        )

    def _spans(self, values: Array) -> Iterator[tuple[int, Array, Array]]:
        """Links with a number that may change, as p + basis θ each."""
        changeable = map(int, np.flatnonzero(self.arm.numbers.any(axis=1)))
        return ((i, *self.arm.span(i, values)) for i in changeable)

    def system(self, values: Array) -> System:
        """The goals for given lengths; a link that has no part in them does not move."""
        arm, p, columns = self.arm, self.start.copy(), [np.zeros((*self.start.shape, 0))]
        rows = self._conditions(*values[: len(arm.variables.lengths)])
        by_link = rows.reshape(len(rows), -1, 10)
        for i, first, basis in self._spans(values):
            moved = float(np.abs(first - p[i]).max()) > _CHANGE_ROUNDING
            p[i] = first if moved else p[i]
            part = by_link[:, i] @ arm.from_units[i] @ basis
            needed = moved or np.abs(part).max(initial=0.0) > CONDITION_TOLERANCE
            if needed or self.constraints.outside(i, p[i], basis, values):
                columns.append(np.zeros((*p.shape, basis.shape[1])))
                columns[-1][i] = basis
        B = np.concatenate(columns, axis=2)
        M = np.tensordot(by_link, arm.from_units @ B, axes=2)
        r = -(rows @ (self.numbers(p) + arm.payload).ravel())
        weight = np.sqrt(arm.weights)
        C = (weight[..., None] * B).reshape(weight.size, -1)
        return System(M, r, C, (weight * (self.start - p)).ravel(), p, B, rows)

    def residual(self, system: System, numbers: Array) -> float:
        """The distance of links φ from the goals, dimensionless; 0: they are reached."""
        return float(np.linalg.norm(system.rows @ (numbers + self.arm.payload).ravel()))

    def numbers(self, psi: Array) -> Array:
        """φ from ψ; a link that is as it was is so to the last bit."""
        found = np.einsum("nab,nb->na", self.arm.from_units, psi)
        same = np.all(psi == self.start, axis=1)
        return np.where(same[:, None], self.arm.start, found)

    def length_changes(self, values: Array) -> Array:
        """Weighted changes of the lengths."""
        lengths = self.arm.variables.lengths
        weights = [self.arm.variables.weights.get(x.symbol, 1.0) for x in lengths]
        return np.sqrt(weights) * (values - self.arm.values)[: len(lengths)] / self.arm.size

    def solve(self, values: Array) -> Trial:
        """The best design with given lengths."""
        system = self.system(values)
        region = self.constraints.region(system.p, system.B, values)
        left, singular, right = np.linalg.svd(system.M)
        rank = int(np.sum(singular > CONDITION_TOLERANCE))
        along, basis = right[:rank].T, right[rank:].T
        met = left.T @ system.r
        first = along @ (met[:rank] / singular[:rank])
        consistent = float(np.linalg.norm(met[rank:])) <= CONDITION_TOLERANCE
        outcome: Outcome = "no body" if consistent else "inconsistent"
        theta = _cheapest(system, region, first, basis) if consistent else None
        if theta is None:
            theta = _least(system, region, basis)
        if theta is None:
            theta, outcome = np.zeros(system.M.shape[1]), "no design"
        elif consistent:
            # the nearest unknowns that keep the goals, to rounding
            kept = theta + along @ (along.T @ (first - theta))
            if region.violation(kept) <= VIOLATION_TOLERANCE:
                theta, outcome = kept, "reached"
        psi = system.p + system.B @ theta
        numbers = self.numbers(psi)
        # moments of zero in place of rounding
        units = self.arm.mass[:, None] * self.arm.size ** np.repeat([0, 1, 2], [1, 3, 6])
        rounding = (np.abs(numbers) < _MOMENT_ROUNDING * units) & (numbers != self.arm.start)
        trials = [numbers, np.where(rounding, 0.0, numbers)]
        residuals = [self.residual(system, trial) for trial in trials]
        best = int(residuals[1] <= max(residuals[0], _CHANGE_ROUNDING))
        cost = float(np.sum(self.arm.weights * (psi - self.start) ** 2))
        cost += float(np.sum(self.length_changes(values) ** 2))
        return Trial(values, trials[best], outcome, residuals[best], cost, rank)

    def outside(self, values: Array) -> bool:
        """Whether a link has to change because of its bounds."""
        return any(self.constraints.outside(*span, values) for span in self._spans(values))


def _cheapest(system: System, region: Region, first: Array, basis: Array) -> Array | None:
    """The θ = first + basis y with the least cost."""
    C, c = system.C @ basis, system.c - system.C @ first
    y = nearest(C, c, region.through(first, basis))
    theta = None if y is None else first + basis @ y
    return None if theta is None or region.violation(theta) > VIOLATION_TOLERANCE else theta


def _least(system: System, region: Region, basis: Array) -> Array | None:
    """θ with the least residual, and among these with the least cost."""
    M, r, width = system.M, system.r, system.M.shape[1]
    left = np.concatenate([M, _CHANGE_WEIGHT * np.eye(width)])
    closest = nearest(left, np.concatenate([r, np.zeros(width)]), region)
    if closest is None:
        return None
    theta = _cheapest(system, region, closest, basis)
    if theta is None:
        # what the goals leave free is a single point or nearly so
        reach = float(np.linalg.norm(M @ closest - r)) * (1 + 1e-9) + 1e-9
        theta = nearest(system.C, system.c, region, (M, r, reach))
    return closest if theta is None else theta
