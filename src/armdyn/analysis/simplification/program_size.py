"""How many operations the torque of a designed arm takes, with what the design has made vanish.

The shortest program is written for symbols that stand for any numbers, and zeros alone are seen in
it. A design makes sums vanish (m2 x2 + m3 a2 = 0) and numbers equal (Jxx2 = Jyy2), so that it is
looked at in three ways, and the shortest counts:

    the arm as it is; its base parameters, of which those that vanish are zeros;
    D q̈ + g(q), if the mass matrix D is constant.
"""

from dataclasses import replace
from functools import reduce as fold
from typing import Any

import numpy as np

from armdyn.analysis.operations import count_operations
from armdyn.analysis.simplification.linear import samples
from armdyn.arrays import Array, frozen
from armdyn.compiler.count import Operations, count
from armdyn.compiler.passes import reduce
from armdyn.expr.graph import Graph
from armdyn.expr.node import Node
from armdyn.formulations.composite_body import mass_matrix
from armdyn.model import RobotModel
from armdyn.model.canonical import CanonicalLink, CanonicalRobot, canonical
from armdyn.model.regroup import regroup
from armdyn.model.snapping import torque_difference
from armdyn.programs.kept import Kept, default_folder
from armdyn.programs.minimal import Effort, minimal_outputs
from armdyn.programs.symbolic_model import branches

SNAP = 1e-9
"""What a design has made zero, or equal, relative to the numbers it is made of."""


def program_size(model: RobotModel) -> Operations:
    """Multiplications and additions of inverse dynamics, links only."""
    robot = canonical(model, SNAP)
    found = [count_operations(model, snap=SNAP)]
    bare = _vanished(robot)
    if torque_difference(model, bare) <= 10 * SNAP:
        robot = bare
        found.append(_count(robot, "inverse_dynamics"))
    D = _constant(model)
    if D is not None:
        lifted = sum(not _is_zero(torque) for part in _outputs(robot, "gravity") for torque in part)
        found.append(_product(D) + _count(robot, "gravity") + Operations(0, lifted))
    return min(found, key=lambda operations: operations.total)


def _count(robot: CanonicalRobot, quantity: str) -> Operations:
    return fold(Operations.__add__, map(count, _outputs(robot, quantity)))


def _outputs(robot: CanonicalRobot, quantity: str) -> list[list[Node]]:
    """The torques of each arm that stands on the base."""
    effort = Effort(kept=Kept(default_folder()))
    return [minimal_outputs(part, quantity, effort) for part in branches(robot)]


def _is_zero(node: Node) -> bool:
    return node.op == "number" and node.value == 0


def _vanished(robot: CanonicalRobot) -> CanonicalRobot:
    """The base parameters, what has cancelled in them being zero."""
    second = max(float(np.abs(link.J).max()) for link in robot.links)
    masses = [abs(float(link.M)) for link in robot.links]
    first = max(
        *(float(np.abs(link.u).max()) for link in robot.links), (sum(masses) * second) ** 0.5
    )

    def cleared(link: CanonicalLink) -> CanonicalLink:
        J = np.where(np.abs(link.J) <= SNAP * second, 0.0, link.J)
        u = np.where(np.abs(link.u) <= SNAP * first, 0.0, link.u)
        return replace(link, J=frozen(J), u=frozen(u))

    return replace(robot, links=tuple(map(cleared, regroup(robot).links)))


def _constant(model: RobotModel) -> Array | None:
    """The mass matrix of the links, if it is the same in all configurations."""
    D = mass_matrix(model, samples(model))
    mean = D.mean(axis=0)
    scale = np.sqrt(np.abs(np.outer(np.diag(mean), np.diag(mean))))
    return mean if np.all(np.ptp(D, axis=0) <= SNAP * scale) else None


def _product(D: Array) -> Operations:
    """Operations of D q̈, with numbers that are equal being one symbol and zeros left out."""
    graph, known = Graph(), list[float]()
    scale = float(np.abs(D).max())

    def entry(value: float) -> Any:
        if abs(value) <= SNAP * scale:
            return 0.0
        same = [k for k, other in enumerate(known) if abs(other - value) <= SNAP * scale]
        if not same:
            known.append(value)
        return graph.parameter(f"D{same[0] if same else len(known) - 1}", value)

    symbols = np.array([[entry(float(value)) for value in row] for row in D], dtype=object)
    torques = symbols @ graph.inputs("qdd", len(D))
    return count(reduce(list(torques)).outputs)
