"""How many operations the torque of a designed arm takes, with what the design has made vanish.

The shortest program is written for symbols that stand for any numbers, and zeros alone are seen in
it. A design makes sums vanish (m2 x2 + m3 a2 = 0) and numbers equal (Jxx2 = Jyy2), so that it is
looked at in three ways, and the shortest counts:

    the arm as it is; its base parameters, of which those that vanish are zeros;
    D q̈ + g(q), if the mass matrix D is constant.
"""

from dataclasses import replace

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
from armdyn.programs.minimal import Effort, minimal_outputs
from armdyn.programs.symbolic_model import branches

SNAP = 1e-9
"""What a design has made zero, or equal, relative to the numbers it is made of."""


def program_size(model: RobotModel) -> Operations:
    """Multiplications and additions of inverse dynamics, links only."""
    parts = [_vanished(part) for part in branches(canonical(model, SNAP))]
    found = [count_operations(model, snap=SNAP), _sum(parts, "inverse_dynamics")]
    D = _constant(model)
    if D is not None:
        gravity = _sum(parts, "gravity")
        lifted = sum(bool(output) for part in parts for output in _outputs(part, "gravity"))
        found.append(_product(D) + gravity + Operations(0, lifted))
    return min(found, key=lambda operations: operations.total)


def _sum(parts: list[CanonicalRobot], quantity: str) -> Operations:
    total = Operations(0, 0)
    for part in parts:
        total += count(_outputs(part, quantity))
    return total


def _outputs(part: CanonicalRobot, quantity: str) -> list[Node]:
    return minimal_outputs(part, quantity, Effort())
