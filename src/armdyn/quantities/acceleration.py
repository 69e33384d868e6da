"""Forward dynamics of a robot in a graph: accelerations from torques."""

from functools import partial
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler.count import count
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.ltdl import solve_ltdl
from armdyn.formulations.newton_euler import newton_euler
from armdyn.minimal.articulated import minimal_articulated_body
from armdyn.quantities.traced_robot import TracedRobot


def acceleration(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    """By the mass matrix or by articulated bodies, whichever takes fewer operations."""
    tau = tau - s.friction(qd)
    if s.request.method is not None:
        return _by_method(s, q, qd, tau)
    composite = partial(_by_mass_matrix, s, q, qd, tau)
    depth = max(map(len, s.model.paths))
    if depth < FEWEST_ARTICULATED or s.at.K is not None:
        return composite()
    bodies = _articulated(s, q, qd, tau)
    if depth > MOST_COMPOSITE:
        return bodies
    ways = [s.nodes(bodies), s.nodes(composite())]
    return min(ways, key=lambda way: count(way.flat).total)


FEWEST_ARTICULATED, MOST_COMPOSITE = 3, 14
"""Joints one behind the other, at most, below and above which articulated bodies never and always
take fewer."""


def _by_mass_matrix(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    rest = tau - s.torques(q, qd, s.zero) - loads(s, q)
    return solve(s, s.mass_matrix(q), rest)


def _articulated(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    def guard(pivot: Any, scale: Any) -> Any:
        return s.graph.guard(*s.nodes(np.array([pivot, scale], dtype=object)))

    return minimal_articulated_body(s.robot, q, qd, tau - loads(s, q), s.rotors, guard)


def _by_method(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    if s.request.method == "composite_body":
        return _by_mass_matrix(s, q, qd, tau)
    if s.request.method == "articulated_body":
        return articulated_body(s.plain, q, qd, tau, s.wrench(q)).qdd
    bias = newton_euler(s.plain, q, qd, np.zeros(len(s.model.joints)), s.wrench(q)).tau
    return denoc_forward(s.plain, q, tau - bias).qdd


def solve(s: TracedRobot, M: Array, b: Array) -> Array:
    """M⁻¹ b, b (n,) or (n, k); where the mass matrix is singular, not a number."""
    tree = _Dense(len(M)) if s.at.K is not None else s.model
    return solve_ltdl(tree, s.nodes(M), s.nodes(b), s.graph.guard)


class _Dense:
    """The paths of a matrix without the zeros of branches: coupled joints know no tree."""

    def __init__(self, n: int):
        self.joints = range(n)
        self.paths = tuple(tuple(range(k + 1)) for k in range(n))


def loads(s: TracedRobot, q: Array) -> Array:
    """Torques against the wrenches that the request has."""
    return s.reaction(s.at.positions(q)) if s.request.wrench else s.zero
