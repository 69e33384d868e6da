"""How many operations the torque of a designed arm takes.

The shortest program is built for symbols with arbitrary values; it sees zeros only. A design also
makes sums vanish (m2 x2 + m3 a2 = 0) and numbers equal (Jxx2 = Jyy2). So, if the mass matrix D is
constant, the torque is D q̈ + g(q). Otherwise it is the shorter one of two programs: that of the arm
as it is, and that of its base parameters with exact zeros for those that vanish.
"""

from dataclasses import replace
from functools import reduce as fold
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.composite_body import mass_matrix
from armdyn.graph.count import Operations, count
from armdyn.graph.nodes import Graph, Node
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, canonical
from armdyn.shorten.canonical.model import branches, torque_difference
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.parts import TORQUES, WEIGHT, Part
from armdyn.shorten.passes import reduce
from armdyn.shorten.shortest import minimal_outputs
from armdyn.study.operations.count import count_operations
from armdyn.study.simplify.linear import samples

_VANISHED = 1e-9
"""A sum that is smaller, relative to its terms, was made zero by the design."""


def program_size(model: RobotModel) -> Operations:
    """Multiplications and additions of inverse dynamics, links only."""
    if model.loops:
        return count_operations(model)
    robot = canonical(model, _VANISHED)
    bare = _vanished(robot)
    fewer = _pattern(bare) != _pattern(regroup(_generic(robot)))
    fewer = fewer and torque_difference(model, bare) <= 10 * _VANISHED
    D = mass_matrix(model, samples(model))
    mean = D.mean(axis=0)
    scale = np.sqrt(np.abs(np.outer(np.diag(mean), np.diag(mean))))
    if not np.all(np.ptp(D, axis=0) <= _VANISHED * scale):
        found = [count_operations(model, snap=_VANISHED)]
    else:
        gravity = _outputs(bare if fewer else robot, WEIGHT)
        lifted = sum(x.op != "number" or x.value != 0 for part in gravity for x in part)
        found = [_sum([*gravity, product(mean)]) + Operations(0, lifted)]
    if fewer:
        found.append(_sum(_outputs(bare, TORQUES)))
    return min(found, key=lambda operations: operations.total)


def _sum(programs: list[list[Node]]) -> Operations:
    return fold(Operations.__add__, map(count, programs))


def _outputs(robot: CanonicalRobot, what: Part) -> list[list[Node]]:
    """The torques of each arm that stands on the base."""
    return [minimal_outputs(part, what) for part in branches(robot)]


def _vanished(robot: CanonicalRobot) -> CanonicalRobot:
    """The base parameters, with exact zeros for sums that cancel."""
    moments = [(link.J, link.u) for link in robot.links]
    second, first = (max(np.abs(x).max() for x in xs) for xs in zip(*moments, strict=True))
    first = max(first, (sum(abs(link.M) for link in robot.links) * second) ** 0.5)

    def cleared(x: Array, scale: float) -> Array:
        return frozen(np.where(np.abs(x) <= _VANISHED * scale, 0.0, x))

    links = regroup(robot).links
    links = tuple(replace(x, J=cleared(x.J, second), u=cleared(x.u, first)) for x in links)
    return replace(robot, links=links)


def _generic(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot with arbitrary inertias in place of those that are not zero."""
    rng = np.random.default_rng(0)

    def other(link: CanonicalLink) -> CanonicalLink:
        J, u, M = (rng.uniform(0.5, 1.5, shape) for shape in ((3, 3), 3, None))
        J, u = frozen((J + J.T) * link.J), frozen(u * link.u)
        return replace(link, J=J, u=u, M=float(M * link.M))

    return replace(robot, links=tuple(map(other, robot.links)))


def _pattern(robot: CanonicalRobot) -> list[list[bool]]:
    """Which inertial numbers are not zero."""
    return [[bool(v) for v in (*link.J.flat, *link.u, link.M)] for link in robot.links]


def product(D: Array) -> list[Node]:
    """D q̈; a row may be the next one plus a difference, where that is shorter."""
    graph, scale, known = Graph(), float(np.abs(D).max()), list[float]()
    qdd = graph.inputs("qdd", len(D))

    def symbol(value: float) -> Any:
        """One parameter for all equal numbers; zero for a number that has vanished."""
        if abs(value) <= _VANISHED * scale:
            return 0.0
        same = [k for k, other in enumerate(known) if abs(other - value) <= _VANISHED * scale]
        known.extend([] if same else [value])
        return graph.parameter(f"D{same[0] if same else len(known) - 1}", value)

    def length(row: Array) -> int:
        return int(np.sum(np.abs(row) > _VANISHED * scale))

    torques: list[Any] = []
    for i in reversed(range(len(D))):
        row, start = D[i], graph.number(0)
        if torques and length(row - D[i + 1]) < length(row):
            row, start = row - D[i + 1], torques[-1]
        symbols = np.array([symbol(float(value)) for value in row], dtype=object)
        torques.append(start + symbols @ qdd)
    return reduce(torques[::-1])
