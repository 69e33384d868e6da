"""The map between the coordinates of a robot with loops and all its joints, at a configuration."""

from abc import abstractmethod
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.formulations.coordinates import StandingMap
from armdyn.formulations.kinematics import WorldFrames
from armdyn.formulations.spatial import rotate
from armdyn.graph.nodes import Node
from armdyn.loops.closure import Closure
from armdyn.loops.iteration import Iteration
from armdyn.loops.orthogonal import Orthogonal
from armdyn.loops.plane import Path, angle_of
from armdyn.loops.rows import end_frames
from armdyn.loops.spheres import RodSystem
from armdyn.loops.steps import LinearDyad, StandingDyad, StandingStep
from armdyn.loops.values import (
    Pair,
    Values,
    across,
    added,
    entries,
    inner,
    scaled,
    stacked,
    turned,
)
from armdyn.model import RobotModel

SAME_VECTOR = 1e-14
"""Largest difference of constant vectors that are the same but for rounding [m]."""


class StandingClosure(StandingMap):
    """The map at one configuration or a batch of them, of floats or nodes."""

    model: RobotModel
    n: int

    @abstractmethod
    def _follow(self, x: Values) -> Array:
        """Rates of all joints where those of the coordinates are x, (..., N)."""

    def _spread(self, x: Values) -> Values:
        """A value for each joint, zeros for those that are not known."""
        values: Values = [0.0] * len(self.model.joints)
        for i, value in zip(self.model.independent, x, strict=True):
            values[i] = value
        return values

    def rates(self, qd: Array) -> Array:
        """Velocities of all joints, (..., N)."""
        if still(qd):
            return np.zeros(len(self.model.joints))
        return self._follow(entries(qd))

    @cached_property
    def G(self) -> Array:
        """q̇_all = G q̇, (..., N, n)."""
        return np.stack([self._follow(unit) for unit in np.eye(self.n).tolist()], -1)


class StandingLoops(StandingClosure):
    """The map by closed forms at one configuration or a batch of them, of floats or nodes."""

    def __init__(self, closure: Closure, q: Array):
        self.model, self.n = closure.model, len(closure.model.independent)
        values = self._spread(entries(q))
        with np.errstate(invalid="ignore", divide="ignore"):  # where a loop cannot be closed
            self._steps: list[StandingStep] = [step.at(values) for step in closure.steps]
        self._values = values
        self.q = stacked(values)
        """Positions of all joints, (..., N)."""

    def _follow(self, x: Values) -> Array:
        return stacked(self._rates(x), self.q)

    def _rates(self, x: Values) -> Values:
        rates = self._spread(x)
        for dyad in self._steps:
            dyad.rates(self._values, rates)
        return rates

    def accelerations(self, qd: Array, qdd: Array) -> Array:
        """Accelerations of all joints, (..., N)."""
        if still(qd):
            return self.rates(qdd)
        rates = self._rates(entries(qd))
        found = self._spread(entries(qdd))
        for dyad in self._steps:
            dyad.accelerations(self._values, rates, rates, found)
        return stacked(found)

    def torques(self, tau: Array) -> Array:
        """Torques at the coordinates, (..., n), for torques at all joints."""
        if still(tau):
            return np.zeros(self.n)
        values = entries(tau)
        for dyad in reversed(self._steps):
            dyad.torques(self._values, values)
        return stacked([values[i] for i in self.model.independent])

    def vector(self, path: Path, v: tuple[float, float]) -> Pair:
        """A vector that turns with a link, as closures have it or new, where all joints turn."""
        for dyad in self._steps:
            for segment, V in getattr(dyad, "parts", ()):
                if segment.path == path:
                    for sign in (1.0, -1.0):
                        if np.allclose(np.multiply(sign, segment.v), v, rtol=0, atol=SAME_VECTOR):
                            return scaled(sign, V)
        number = self.q[0].graph.number
        return turned(angle_of(self._values, path), (number(v[0]), number(v[1])))

    def along(self, path: Path, u: tuple[float, float]) -> Pair:
        """The same, as α V + β V' of a vector V that a closure has on this link."""
        for dyad in self._steps:
            for segment, V in getattr(dyad, "parts", ()):
                if segment.path == path and any(u):
                    number = self.q[0].graph.number
                    vx, vy, ux, uy = (number(x) for x in (*segment.v, *u))
                    square = vx * vx + vy * vy
                    alpha = (ux * vx + uy * vy) / square
                    beta = (uy * vx - ux * vy) / square
                    return added(scaled(alpha, V), scaled(beta, across(V)))
        return self.vector(path, u)

    def G_rate(self, qd: Array) -> Array:
        """Ġ, (..., N, n): its columns are bilinear in the rates and those of one coordinate."""
        rates = self._rates(entries(qd))
        columns = []
        for unit in map(self._rates, np.eye(self.n).tolist()):
            found: Values = [0.0] * len(self.model.joints)
            for dyad in self._steps:
                dyad.accelerations(self._values, rates, unit, found)
            columns.append(stacked(found, self.q))
        return np.stack(columns, -1)

    @property
    def type2(self) -> Array:
        """The determinant of each dyad that is no parallelogram, as a share of its bound.

        It is 0 where the loop cannot be closed, and small near a singular configuration of type 2.
        """
        shares = []
        for dyad in self._steps:
            if isinstance(dyad, StandingDyad):
                c1, c2 = dyad.columns
                bound = np.sqrt(inner(c1, c1) * inner(c2, c2))
                with np.errstate(invalid="ignore", divide="ignore"):
                    shares.append(np.nan_to_num(np.abs(dyad.root) / bound))
        shape = self.q.shape[:-1]
        if not shares:  # nothing but couplings
            return np.empty((*shape, 0))
        return np.stack([np.broadcast_to(x, shape) for x in shares], -1)

    def cut_wrenches(self, tau: Array, frames: WorldFrames) -> list[tuple[Array, Array]]:
        """Force and moment of b on a at frame a for every loop, in world axes.

        What of a planar loop acts out of its plane is not determined, nor is the force of a loop
        that follows from others: both are zero.
        """
        q = self._values
        values = entries(tau)
        found = {loop.name: np.zeros(3) for loop in self.model.loops}
        for step in reversed(self._steps):
            standing = (
                StandingDyad(step.dyad, q, solved=True) if isinstance(step, LinearDyad) else step
            )
            if not isinstance(standing, StandingDyad):  # a coupling
                standing.torques(q, values)
                continue
            fx, fy = standing.torques(q, values)
            plane = standing.dyad.plane
            x, y = np.asarray(plane.x), np.asarray(plane.y)
            local = np.asarray(fx)[..., None] * x + np.asarray(fy)[..., None] * y
            found[plane.loop.name] = rotate(frames.link(plane.host)[0], local)
        return [(found[loop.name], 0.0 * found[loop.name]) for loop in self.model.loops]


class StandingGeneral(StandingClosure):
    """The map by Newton's method, for loops without a closed form.

    With the rows A = (A_a, A_p) of all closures at the columns of actuated and passive joints

        G_p = -A_p⁻¹ A_a     q̈_p = -A_p⁻¹ (A_a q̈_a + Ȧ q̇)     A_pᵀ λ = τ_p     τ = τ_a - A_aᵀ λ

    In a graph the passive positions are symbols, so that what is made of them is short and is
    differentiated with G; `solved` says what the symbols stand for.
    """

    def __init__(
        self, iteration: Iteration, q: Array, pairs: Array | None = None, full: Array | None = None
    ):
        """Solve for passive joints, unless `full` has the positions of all.

        In a graph `pairs` are the symbols that `passive_joints` stands for.
        """
        self.iteration, self.model = iteration, iteration.model
        self.n = len(self.model.independent)
        self.solved: dict[str, Node] = {}
        """What stands for the positions of passive joints, by the names of their symbols."""
        self.unknown: list[Node] = []
        """Symbols that passive positions are made of, in a graph."""
        given = entries(q)
        if full is not None:
            self._values = entries(full)
        elif q.dtype == object:
            self._values = self._symbols(given) if pairs is None else self._known(given, pairs)
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
        return self._joined(q, self.unknown)

    def _known(self, q: Values, pairs: Array) -> Values:
        """Positions that are known by two symbols each, as `passive_joints` gives them."""
        passive, values = list(self.model.passive), []
        for i, c, s in zip(passive, pairs[0::2], pairs[1::2], strict=True):
            turns = self.model.joints[i].type.only_turns
            values.append(c.graph.angle(s, c) if turns else c)
            self.unknown += [c, s] if turns else [c]
        return self._joined(q, values)

    def _joined(self, q: Values, passive: Values) -> Values:
        values = self._spread(q)
        for i, value in zip(self.model.passive, passive, strict=True):
            values[i] = value
        return values

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
    def _passive(self) -> Orthogonal | RodSystem:
        """What solves for rates and forces."""
        spheres = self.iteration.spheres
        if spheres is None or [x.rows for x in self.iteration.whole.loops] != [(0, 1, 2)] * 3:
            return self._orthogonal
        with np.errstate(invalid="ignore", divide="ignore"):
            return RodSystem(spheres, self.q, self.iteration.whole.columns)

    @cached_property
    def _orthogonal(self) -> Orthogonal:
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
        found = self._spread(x)
        solved = self._passive.solve([-1.0 * r for r in rows])
        for i, value in zip(self.iteration.whole.columns, solved, strict=True):
            found[i] = value
        return stacked(found, self.q)

    def accelerations(self, qd: Array, qdd: Array) -> Array:
        """Accelerations of all joints, (..., N)."""
        if still(qd):
            return self.rates(qdd)
        return self._follow(entries(qdd), self._bias(self.rates(qd)))

    def _bias(self, rates: Array) -> Values:
        found: Values = []
        for loop in self.iteration.whole.loops:
            q, qd = (x[..., list(loop.members)] for x in (self.q, rates))
            found += entries(loop.bias(q, qd))
        return found

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

    def G_rate(self, qd: Array) -> Array:
        """Ġ: the bilinear form of Ȧ q̇ is a quarter of its difference at a sum and a difference."""
        rates, columns = self.rates(qd), []
        nothing: Values = [0.0] * self.n
        for k in range(self.n):
            ahead, back = (self._bias(rates + sign * self.G[..., :, k]) for sign in (1.0, -1.0))
            form = [0.25 * (a - b) for a, b in zip(ahead, back, strict=True)]
            columns.append(self._follow(nothing, form))
        return np.stack(columns, -1)

    @property
    def type2(self) -> Array:
        """For each loop how much of a column of A_p is its own at least, beside what is usual."""
        shares: dict[int, Any] = {}
        with np.errstate(invalid="ignore", divide="ignore"):
            for i, (left, whole) in zip(
                self.iteration.whole.columns, self._orthogonal.shares, strict=True
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


def still(x: Array) -> bool:
    """Whether numbers are all zero."""
    return x.dtype != object and not x.any()
