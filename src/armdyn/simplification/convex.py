"""The smallest change of the inertias of an arm whose lengths are given: a convex problem.

In the unknowns θ of `ParametrisedArm.span` the goals are M θ = r. Their singular value
decomposition gives a particular solution and an orthonormal basis of the others, so that the goals
hold to rounding for any precision of the solver. The solver finds the least cost among these
solutions, over the bounds and the bodies that can exist. Where no such body reaches the goals, the
least residual |M θ - r| is found first, and then the least cost among the designs with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.simplification.constraints import VIOLATION_TOLERANCE, Constraints, Margin
from armdyn.simplification.linear import GoalElement, LinearConditions, linear_conditions
from armdyn.simplification.parametrisation import ParametrisedArm
from armdyn.simplification.sdp import Region, nearest

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
    """The searched values that it belongs to."""
    numbers: Array
    """The numbers φ of the links without payloads, shape (n, 10)."""
    outcome: Outcome
    residual: float
    cost: float
    rank: int
    """The number of independent conditions on the linear unknowns."""


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The goals as M θ = r, and the links ψ = p + B θ that θ moves."""

    M: Array
    r: Array
    p: Array
    """Shape (n, 10)."""
    B: Array
    """Shape (n, 10, unknowns)."""
    conditions: LinearConditions

    def moved(self, theta: Array) -> Array:
        """ψ for values of the unknowns, shape (n, 10)."""
        moved: Array = self.p + self.B @ theta
        return moved


@dataclass(frozen=True, eq=False)
class Convex:
    """The convex problem of one arm, to be solved for any lengths."""

    arm: ParametrisedArm
    elements: Sequence[GoalElement]
    q: Array
    """Configurations at which the goals are evaluated, shape (samples, n)."""
    margin: Margin
    _latest: dict[tuple[float, ...], LinearConditions] = field(init=False, default_factory=dict)

    @cached_property
    def constraints(self) -> Constraints:
        """Where the unknowns may be."""
        return Constraints(self.arm, self.margin)

    @cached_property
    def changeable(self) -> list[int]:
        """Links with a number that may change."""
        return [i for i, may in enumerate(self.arm.numbers) if may.any()]

    @cached_property
    def start(self) -> Array:
        """ψ of the links as they are, shape (n, 10)."""
        units = zip(self.arm.to_units, self.arm.start, strict=True)
        return np.array([H @ phi for H, phi in units])

    def system(self, values: Array) -> System:
        """The goals for given lengths; a link that has no part in them does not move."""
        arm, p, columns = self.arm, self.start.copy(), [np.zeros((*self.start.shape, 0))]
        found = self._conditions(values)
        rows = found.rows.reshape(len(found.rows), -1, 10)
        for i in self.changeable:
            p[i], basis = arm.span(i, values)
            part = rows[:, i] @ arm.from_units[i] @ basis
            moved = float(np.abs(p[i] - self.start[i]).max()) > _CHANGE_ROUNDING
            p[i] = p[i] if moved else self.start[i]
            needed = np.abs(part).max(initial=0.0) > CONDITION_TOLERANCE
            if needed or moved or self.constraints.outside(i, p[i], basis, values):
                columns.append(np.zeros((*p.shape, basis.shape[1])))
                columns[-1][i] = basis
        B = np.concatenate(columns, axis=2)
        M = np.tensordot(rows, arm.from_units @ B, axes=2)
        return System(M, -(found.rows @ (self.numbers(p) + arm.payload).ravel()), p, B, found)

    def _conditions(self, values: Array) -> LinearConditions:
        """The goals; they are computed again only when a length changes."""
        pairs = zip(self.arm.searched, values, strict=True)
        lengths = tuple(float(value) for searched, value in pairs if searched.length >= 0)
        if lengths not in self._latest:
            self._latest.clear()
            arm = self.arm.robot_with(values)
            self._latest[lengths] = linear_conditions(arm, self.elements, self.q)
        return self._latest[lengths]

    def numbers(self, psi: Array) -> Array:
        """φ from ψ; a link that is as it was is so to the last bit."""
        found = np.einsum("nab,nb->na", self.arm.from_units, psi)
        same = np.all(psi == self.start, axis=1)
        return np.where(same[:, None], self.arm.start, found)

    def _neat(self, numbers: Array) -> Array:
        """Changed links with moments of zero in place of rounding."""
        units = self.arm.mass[:, None] * self.arm.size ** np.repeat([0, 1, 2], [1, 3, 6])
        rounding = (np.abs(numbers) < _MOMENT_ROUNDING * units) & (numbers != self.arm.start)
        return np.where(rounding, 0.0, numbers)

    def cost(self, psi: Array, values: Array) -> float:
        """The cost of a design."""
        cost = float(np.sum(self.arm.weights * (psi - self.start) ** 2))
        return cost + float(np.sum(self.length_changes(values) ** 2))

    def length_changes(self, values: Array) -> Array:
        """Weighted changes of the lengths; zero for the other values that are searched."""
        weights, searched = self.arm.variables.weights, self.arm.searched
        scale = [np.sqrt(weights.get(s.symbol, 1.0)) * (s.length >= 0) for s in searched]
        return np.array(scale) * (values - self.arm.values) / self.arm.size

    def solve(self, values: Array) -> Trial:
        """The best design with given lengths."""
        system = self.system(values)
        region = self.constraints.region(system.p, system.B, values)
        C, c = self.objective(system)
        left, singular, right = np.linalg.svd(system.M)
        rank = int(np.sum(singular > CONDITION_TOLERANCE))
        along, basis = right[:rank].T, right[rank:].T
        met = left.T @ system.r
        first = along @ (met[:rank] / singular[:rank])
        consistent = float(np.linalg.norm(met[rank:])) <= CONDITION_TOLERANCE

        def kept(theta: Array) -> Array:
            """The nearest unknowns that keep the goals, to rounding."""
            return theta + along @ (along.T @ (first - theta))

        outcome: Outcome = "no body" if consistent else "inconsistent"
        theta = self._cheapest(C, c, region, first, basis) if consistent else None
        if theta is None:
            theta = self._least(system, C, c, region, basis)
        if theta is None:
            theta, outcome = np.zeros(system.M.shape[1]), "no design"
        elif consistent and region.violation(kept(theta)) <= VIOLATION_TOLERANCE:
            theta, outcome = kept(theta), "reached"
        psi = system.moved(theta)
        numbers = self.numbers(psi)
        residual = system.conditions.residual(numbers + self.arm.payload)
        neat = self._neat(numbers)
        if (now := system.conditions.residual(neat + self.arm.payload)) <= max(
            residual, _CHANGE_ROUNDING
        ):
            numbers, residual = neat, now
        return Trial(values, numbers, outcome, residual, self.cost(psi, values), rank)

    def _cheapest(
        self, C: Array, c: Array, region: Region, first: Array, basis: Array
    ) -> Array | None:
        """The θ = first + basis y with the least cost."""
        y = nearest(C @ basis, c - C @ first, region.through(first, basis))
        theta = None if y is None else first + basis @ y
        return None if theta is None or region.violation(theta) > VIOLATION_TOLERANCE else theta

    def _least(
        self, system: System, C: Array, c: Array, region: Region, basis: Array
    ) -> Array | None:
        """θ with the least residual, and among these with the least cost."""
        width = system.M.shape[1]
        left = np.concatenate([system.M, _CHANGE_WEIGHT * np.eye(width)])
        closest = nearest(left, np.concatenate([system.r, np.zeros(width)]), region)
        if closest is None:
            return None
        theta = self._cheapest(C, c, region, closest, basis)
        if theta is not None:
            return theta
        # what the goals leave free is a single point or nearly so
        reach = float(np.linalg.norm(system.M @ closest - system.r)) * (1 + 1e-9) + 1e-9
        theta = nearest(C, c, region, (system.M, system.r, reach))
        return closest if theta is None else theta

    def objective(self, system: System) -> tuple[Array, Array]:
        """C and c with cost = |C θ - c|² but for a constant."""
        weight = np.sqrt(self.arm.weights)
        C = (weight[..., None] * system.B).reshape(weight.size, -1)
        return C, (weight * (self.start - system.p)).ravel()

    def outside(self, values: Array) -> bool:
        """Whether a link has to change because of its bounds."""
        spans = ((i, *self.arm.span(i, values)) for i in self.changeable)
        return any(self.constraints.outside(i, p, basis, values) for i, p, basis in spans)
