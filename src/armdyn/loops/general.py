"""Loops without a closed form at a configuration: passive joints by Newton's method.

With the rows A = (A_a, A_p) of all closures at the columns of actuated and passive joints

    G_p = -A_p⁻¹ A_a     q̈_p = -A_p⁻¹ (A_a q̈_a + Ȧ q̇)     A_pᵀ λ = τ_p     τ = τ_a - A_aᵀ λ

In a graph the passive positions are symbols, so that what is made of them is short and is
differentiated with G; `solved` says what the symbols stand for.
"""

from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.formulations.kinematics import WorldFrames
from armdyn.graph.nodes import Node
from armdyn.loops.iteration import Iteration
from armdyn.loops.orthogonal import Orthogonal
from armdyn.loops.rows import end_frames
from armdyn.loops.standing import StandingClosure, still
from armdyn.loops.values import Values, entries, stacked

QUARTER = 0.25


class StandingGeneral(StandingClosure):
    """The map at one configuration or a batch of them."""

    def __init__(
        self, iteration: Iteration, q: Array, start: Array | None = None, closed: bool = False
    ):
        """Solve for passive joints.

        `start` are positions of all joints nearby, or those of q itself if loops are `closed`
        there; in a graph, the symbols that `passive_joints` stands for.
        """
        self.iteration, self.model = iteration, iteration.model
        self.n = len(self.model.independent)
        self.solved: dict[str, Node] = {}
        """What stands for the positions of passive joints, by the names of their symbols."""
        self.unknown: list[Node] = []
        """Symbols that passive positions are made of, in a graph."""
        given = entries(q)
        if q.dtype == object:
            self._values = self._symbols(given) if start is None else self._known(given, start)
        elif start is not None and closed:
            self._values = entries(start)
        elif start is not None:
            self._values = iteration.continued(given, entries(start))
        else:
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                self._values = iteration.positions(given)
        self.q = stacked(self._values)

    def _symbols(self, q: Values) -> Values:
        graph = q[0].graph
        where = "-".join(str(x.index) for x in q)
        found = self.iteration.positions(q)
        for i in self.model.passive:
            name = f"passive {i} at {where}"
            self.unknown.append(graph.input(name))
            self.solved[name] = found[i]
        return self._spread(q, self.unknown)

    def _known(self, q: Values, pairs: Array) -> Values:
        """Positions that are known by two symbols each, as `passive_joints` gives them."""
        passive, values = list(self.model.passive), []
        for i, c, s in zip(passive, pairs[0::2], pairs[1::2], strict=True):
            turns = self.model.joints[i].type.only_turns
            values.append(c.graph.angle(s, c) if turns else c)
            self.unknown += [c, s] if turns else [c]
        return self._spread(q, values)

    def _spread(self, q: Values, passive: Values) -> Values:
        places = dict(
            zip((*self.model.independent, *self.model.passive), (*q, *passive), strict=True)
        )
        return [places[i] for i in range(len(self.model.joints))]

    @property
    def slopes(self) -> Array:
        """How the symbols change with the coordinates, (symbols, n)."""
        rows = []
        for i in self.model.passive:
            x, row = self._values[i], self.G[i]
            rows += [row] if x.op == "input" else [-x.sin() * row, x.cos() * row]
        return np.stack(rows)

    @cached_property
    def _columns(self) -> dict[int, Values]:
        """The Jacobian of the rows, by joint."""
        return self.iteration.whole.linearised(self._values)[1]

    @cached_property
    def _passive(self) -> Orthogonal:
        with np.errstate(invalid="ignore", divide="ignore"):
            columns = [self._columns[i] for i in self.iteration.whole.columns]
            return Orthogonal(columns, self.iteration.whole.usual)

    @property
    def _actuated(self) -> list[Values]:
        return [self._columns[i] for i in self.model.independent]

    def _follow(self, x: Values, more: Values | None = None) -> Array:
        """All rates where those of the coordinates are x, with more in the rows."""
        rows = [0.0] * len(self._actuated[0]) if more is None else list(more)
        for value, column in zip(x, self._actuated, strict=True):
            rows = [r + value * a for r, a in zip(rows, column, strict=True)]
        found: Values = [0.0] * len(self.model.joints)
        for i, value in zip(self.model.independent, x, strict=True):
            found[i] = value
        solved = self._passive.solve([-1.0 * r for r in rows])
        for i, value in zip(self.iteration.whole.columns, solved, strict=True):
            found[i] = value
        return stacked(found, self.q)

    def rates(self, qd: Array) -> Array:
        """Velocities of all joints, (..., N)."""
        return np.zeros(len(self.model.joints)) if still(qd) else self._follow(entries(qd))

    def accelerations(self, qd: Array, qdd: Array) -> Array:
        """Accelerations of all joints, (..., N)."""
        if still(qd):
            return self.rates(qdd)
        return self._follow(entries(qdd), self._bias(self.rates(qd)))

    def _bias(self, rates: Array) -> Values:
        return [
            x
            for loop in self.iteration.whole.loops
            for x in entries(loop.bias(self._around(loop.members), rates[..., list(loop.members)]))
        ]

    def _around(self, members: tuple[int, ...]) -> Array:
        return stacked([self._values[i] for i in members])

    def torques(self, tau: Array) -> Array:
        """Torques at the coordinates, (..., n), for torques at all joints."""
        if still(tau):
            return np.zeros(self.n)
        force = self._multipliers(tau)
        found = []
        for i, column in zip(self.model.independent, self._actuated, strict=True):
            total = tau[..., i][()]
            for a, f in zip(column, force, strict=True):
                total = total - a * f
            found.append(total)
        return stacked(found, self.q)

    def _multipliers(self, tau: Array) -> Values:
        """λ of A_pᵀ λ = τ_p; of several the smallest."""
        return self._passive.solve_transposed(
            [tau[..., i][()] for i in self.iteration.whole.columns]
        )

    @cached_property
    def G(self) -> Array:
        """q̇_all = G q̇, (..., N, n)."""
        return np.stack([self._follow(unit) for unit in np.eye(self.n).tolist()], -1)

    def G_rate(self, qd: Array) -> Array:
        """Ġ: the bilinear form of Ȧ q̇ is a quarter of its difference at a sum and a difference."""
        rates, columns = self.rates(qd), []
        nothing: Values = [0.0] * self.n
        for k in range(self.n):
            ahead, back = (self._bias(rates + sign * self.G[..., :, k]) for sign in (1.0, -1.0))
            form = [QUARTER * (a - b) for a, b in zip(ahead, back, strict=True)]
            columns.append(self._follow(nothing, form))
        return np.stack(columns, -1)

    @property
    def type2(self) -> Array:
        """For each loop how much of a column of A_p is its own at least, beside what is usual."""
        shares: dict[int, Any] = {}
        with np.errstate(invalid="ignore", divide="ignore"):
            for i, (left, whole) in zip(
                self.iteration.whole.columns, self._passive.shares, strict=True
            ):
                shares[i] = np.nan_to_num(np.sqrt(left / whole))
        found = []
        for loop in self.iteration.whole.loops:
            around = [shares[i] for i in loop.members if i in shares]
            closed = np.isfinite(self.q[..., list(loop.members)]).all(-1)
            found.append(np.where(closed, np.min(np.broadcast_arrays(*around), 0), 0.0))
        return np.stack(found, -1)

    def cut_wrenches(self, tau: Array, frames: WorldFrames) -> list[tuple[Array, Array]]:
        """Force and moment of b on a at frame a for every loop, in world axes.

        Where rows depend on each other, forces are the smallest of those that do.
        """
        force, found = iter(self._multipliers(tau)), []
        for loop in self.iteration.whole.loops:
            A, B = end_frames(frames, loop.loop)
            f, m = np.zeros(3), np.zeros(3)
            if loop.loop.couples:  # joints, not links, transmit it
                next(force)
                found.append((f, m))
                continue
            for k in loop.rows:
                along, about = loop.loop.cut.rows[k].wrench(A, B)
                size = np.asarray(next(force))[..., None]
                f, m = f + size * along, m + size * about
            found.append((f, m))
        return found
