"""Designed arms: base parameters that vanish, and mass matrices that are constant.

Programs are written for symbols with arbitrary values, among which only zeros are seen. The links
of a designed arm also make sums vanish (m2 x2 + m3 a2 = 0) and numbers equal (Jxx2 = Jyy2). If the
mass matrix D is constant, the torques are D q̈ + g(q).
"""

import math
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.composite_body import mass_matrix
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import TORQUE_TOLERANCE, ZERO_TOLERANCE, CanonicalRobot
from armdyn.shorten.canonical.model import model_from_canonical, torque_difference
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.passes import reduce
from armdyn.shorten.symbolic import entries, generic, symbolic, valued
from armdyn.thresholds import SEARCHED_JOINTS

CONSTANT_SHARE = 1e-12
"""Largest variation of an element of a constant mass matrix, relative to √(D_ii D_jj)."""
COMPARED_STATES = 12


def cleared(robot: CanonicalRobot, model: RobotModel) -> CanonicalRobot:
    """The robot, or its base parameters with zeros where sums cancel for its numbers alone."""
    if len(robot.links) > SEARCHED_JOINTS.value:
        return robot
    written = regroup(symbolic(robot, Graph()))
    bare = valued(written)
    mass = [abs(link.M) for link in robot.links]
    second = [np.abs(link.J).max() for link in robot.links]
    for i, link in reversed([*enumerate(robot.links)]):  # sums are of what a link carries
        if link.parent >= 0:
            mass[link.parent] += mass[i]
            moved = second[i] + mass[i] * (link.across @ link.across + link.r**2)
            second[link.parent] = max(second[link.parent], moved)

    def kept(values: Array, scale: float) -> Array:
        return frozen(np.where(np.abs(values) <= ZERO_TOLERANCE * scale, 0.0, values))

    links = (
        replace(link, J=kept(link.J, s), u=kept(link.u, math.sqrt(s * m)))
        for link, s, m in zip(bare.links, second, mass, strict=True)
    )
    found = replace(bare, links=tuple(links))
    pairs = zip(entries(written).values(), entries(found).values(), strict=True)
    cancel = any(x == 0 and isinstance(node, Node) and node.op != "number" for node, x in pairs)
    return found if cancel and torque_difference(model, found) <= TORQUE_TOLERANCE else robot


def constant_mass_matrix(robot: CanonicalRobot) -> Array | None:
    """The mass matrix of a robot if the numbers of its links make it constant, (n, n).

    None if it varies, and if it is constant for all links with the same zeros, which a program
    shows as it is. Elements that differ by rounding are equal, and what is rounding is zero.
    """
    n = len(robot.links)
    if n > SEARCHED_JOINTS.value:
        return None
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (COMPARED_STATES, n))
    D, every = (mass_matrix(model_from_canonical(x, float), q) for x in (robot, generic(robot)))
    own = np.sqrt(np.abs(np.diagonal(D, axis1=1, axis2=2)).max(axis=0))
    rounding = CONSTANT_SHARE * np.outer(own, own)
    if np.any(np.ptp(D, axis=0) > rounding) or np.ptp(every, axis=0).max() <= CONSTANT_SHARE:
        return None
    D = D.mean(axis=0)
    for place in np.ndindex(n, n):
        D = np.where(np.abs(D - D[place]) <= rounding[place], D[place], D)
    return np.where(np.abs(D) <= rounding, 0.0, D)


def product(D: Array) -> Program:
    """D q̈; a row may be the next one plus a difference, where that is shorter."""
    graph, torques = Graph(), list[Node]()
    qdd = graph.inputs("qdd", len(D))
    for i in reversed(range(len(D))):
        row, start = D[i], graph.number(0)
        if torques and np.count_nonzero(row - D[i + 1]) < np.count_nonzero(row):
            row, start = row - D[i + 1], torques[-1]
        symbols = [
            graph.parameter(f"D{value!r}", value) if value else 0.0 for value in row.tolist()
        ]
        torques.append(start + np.array(symbols, dtype=object) @ qdd)
    return Program.from_outputs(reduce(torques[::-1]), {"qdd": len(D)}, as_recorded=True)
