"""The smallest change of the inertias of an arm whose lengths are given: a convex problem.

In the unknowns θ of `Freedom.span` the goals are M θ = r. Their singular value decomposition gives
a particular solution and an orthonormal basis of the others, so that the goals are kept to rounding
whatever the precision of the solver, which minimises the cost among them over the bodies that can
exist and the bounds. Where no body does it, the least residual |M θ - r| is found first and then
the least cost among the designs with that residual.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.simplification.constraints import TOLERANCE, Allowed, Margin
from armdyn.simplification.linear import Conditions, Element, conditions
from armdyn.simplification.parametrisation import Freedom
from armdyn.simplification.sdp import Region, nearest

Outcome = Literal["reached", "inconsistent", "no body", "no design"]
"""Reached; not even with negative masses; not with bodies that exist; not within the bounds."""

SMALL = 1e-10
"""What is zero of dimensionless conditions, between rounding and the smallest true condition."""
_ROUNDING = 1e-13
"""What is zero of a change of ψ that nothing asked for."""
_NOTHING = 1e-12
"""A first or second moment that is zero, in units of the mass of its link and the robot's size."""
_FAINT = 1e-6
"""Weight of the change while the residual is made small, so that one design is the best."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What was found for given lengths."""

    values: Array
    """Of what is searched."""
    numbers: Array
    """The numbers φ of the links without payloads, shape (n, 10)."""
    outcome: Outcome
    residual: float
    cost: float
    rank: int
    """How many independent conditions the goals are on what is free."""


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The goals as M θ = r, and the links ψ = p + B θ that θ moves."""

    M: Array
    r: Array
    p: Array
    """Shape (n, 10)."""
    B: dict[int, Array]
    """By link, columns of B."""
    conditions: Conditions

    def moved(self, theta: Array) -> Array:
        """ψ for values of the unknowns, shape (n, 10)."""
        psi, at = self.p.copy(), 0
        for i, basis in self.B.items():
            psi[i] = psi[i] + basis @ theta[at : at + basis.shape[1]]
            at += basis.shape[1]
        return psi


class Convex:
    """The convex problem of one arm, to be solved for any lengths."""

    def __init__(
        self,
        freedom: Freedom,
        elements: Sequence[Element],
        q: Array,
        margin: Margin,
    ):
        self.freedom, self.elements, self.q, self.margin = freedom, elements, q, margin
        self.allowed = Allowed(freedom, margin)
        self.changeable = [i for i, may in enumerate(freedom.numbers) if may.any()]
        units = zip(freedom.to_units, freedom.start, strict=True)
        self.start = np.array([H @ phi for H, phi in units])
        self._latest: tuple[tuple[float, ...], Conditions] | None = None

    def system(self, values: Array) -> System:
        """The goals for given lengths, without links that have no part in them."""
        freedom, p, B = self.freedom, self.start.copy(), {}
        found = self._conditions(values)
        rows = found.rows.reshape(len(found.rows), -1, 10)
        for i in self.changeable:
            p[i], basis = freedom.span(i, values)
            part = rows[:, i] @ freedom.from_units[i] @ basis
            moved = float(np.abs(p[i] - self.start[i]).max()) > _ROUNDING
            p[i] = p[i] if moved else self.start[i]
            needed = np.abs(part).max(initial=0.0) > SMALL
            if basis.size and (needed or moved or self.allowed.outside(i, p[i], basis, values)):
                B[i] = basis
        blocks = [rows[:, i] @ freedom.from_units[i] @ basis for i, basis in B.items()]
        M = np.concatenate([np.zeros((len(rows), 0)), *blocks], axis=1)
        phi = self.numbers(p) + freedom.payload
        return System(M, -(found.rows @ phi.ravel()), p, B, found)

    def _conditions(self, values: Array) -> Conditions:
        """The goals, of which the latest are kept: centres of mass do not change them."""
        pairs = zip(self.freedom.searched, values, strict=True)
        lengths = tuple(float(value) for searched, value in pairs if searched.length >= 0)
        if self._latest is None or self._latest[0] != lengths:
            found = conditions(self.freedom.arm(values), self.elements, self.q)
            self._latest = lengths, found
        return self._latest[1]

    def numbers(self, psi: Array) -> Array:
        """φ from ψ; a link that is as it was is so to the last bit."""
        found = np.einsum("nab,nb->na", self.freedom.from_units, psi)
        same = np.all(psi == self.start, axis=1)
        return np.where(same[:, None], self.freedom.start, found)

    def _neat(self, numbers: Array) -> Array:
        """Changed links with moments of zero in place of rounding."""
        units = self.freedom.mass[:, None] * self.freedom.size ** np.repeat([0, 1, 2], [1, 3, 6])
        rounding = (np.abs(numbers) < _NOTHING * units) & (numbers != self.freedom.start)
        return np.where(rounding, 0.0, numbers)

    def cost(self, psi: Array, values: Array) -> float:
        """The cost of a design."""
        cost = float(np.sum(self.freedom.weights * (psi - self.start) ** 2))
        return cost + float(np.sum(self.length_changes(values) ** 2))

    def length_changes(self, values: Array) -> Array:
        """Weighted changes of the lengths; zero for the other values that are searched."""
        weights, searched = self.freedom.free.weights, self.freedom.searched
        scale = [np.sqrt(weights.get(s.symbol, 1.0)) * (s.length >= 0) for s in searched]
        start = np.array([s.start for s in searched])
        return np.array(scale) * (values - start) / self.freedom.size

    def solve(self, values: Array) -> Trial:
        """The best design with given lengths."""
        system = self.system(values)
        region = self.allowed.region(system.p, system.B, values)
        C, c = self.objective(system)
        left, singular, right = np.linalg.svd(system.M)
        rank = int(np.sum(singular > SMALL))
        along, basis = right[:rank].T, right[rank:].T
        met = left.T @ system.r
        first = along @ (met[:rank] / singular[:rank])
        consistent = float(np.linalg.norm(met[rank:])) <= SMALL

        def kept(theta: Array) -> Array:
            """The nearest unknowns that keep the goals, to rounding."""
            return theta + along @ (along.T @ (first - theta))

        outcome: Outcome = "no body" if consistent else "inconsistent"
        theta = self._cheapest(C, c, region, first, basis) if consistent else None
        if theta is None:
            theta = self._least(system, C, c, region, basis)
        if theta is None:
            theta, outcome = np.zeros(system.M.shape[1]), "no design"
        elif consistent and region.violation(kept(theta)) <= TOLERANCE:
            theta, outcome = kept(theta), "reached"
        psi = system.moved(theta)
        numbers = self.numbers(psi)
        residual = system.conditions.residual(numbers + self.freedom.payload)
        neat = self._neat(numbers)
        if (now := system.conditions.residual(neat + self.freedom.payload)) <= max(
            residual, _ROUNDING
        ):
            numbers, residual = neat, now
        return Trial(values, numbers, outcome, residual, self.cost(psi, values), rank)

    def _cheapest(
        self, C: Array, c: Array, region: Region, first: Array, basis: Array
    ) -> Array | None:
        """The θ = first + basis y with the least cost."""
        y = nearest(C @ basis, c - C @ first, region.through(first, basis))
        theta = None if y is None else first + basis @ y
        return None if theta is None or region.violation(theta) > TOLERANCE else theta

    def _least(
        self, system: System, C: Array, c: Array, region: Region, basis: Array
    ) -> Array | None:
        """θ with the least residual, and among these with the least cost."""
        width = system.M.shape[1]
        left = np.concatenate([system.M, _FAINT * np.eye(width)])
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
        width = system.M.shape[1]
        C, c, at = np.zeros((width, width)), np.zeros(width), 0
        blocks, right = [], []
        for i, basis in system.B.items():
            weight = np.sqrt(self.freedom.weights[i])[:, None]
            block = np.zeros((10, width))
            block[:, at : at + basis.shape[1]] = weight * basis
            at += basis.shape[1]
            blocks.append(block)
            right.append(weight[:, 0] * (self.start[i] - system.p[i]))
        if blocks:
            C, c = np.concatenate(blocks), np.concatenate(right)
        return C, c

    def outside(self, values: Array) -> bool:
        """Whether a link has to change because of its bounds."""
        spans = ((i, *self.freedom.span(i, values)) for i in self.changeable)
        return any(self.allowed.outside(i, p, basis, values) for i, p, basis in spans)
