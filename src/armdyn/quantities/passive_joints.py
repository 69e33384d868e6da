"""Where passive joints are: what kernels are told of a robot whose loops are solved beforehand."""

import numpy as np

from armdyn.arrays import Array
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _passive_joints(s: TracedRobot, q: Array) -> Array:
    """Two numbers for each passive joint."""
    found = [(s.model.joints[i], x) for i, x in enumerate(s.nodes(s.here(q).q))]
    passive = [(joint.type.only_turns, x) for joint, x in found if not joint.actuated]
    rows = [(x.cos(), x.sin()) if turns else (x, 0.0) for turns, x in passive]
    return s.nodes(np.array(rows, dtype=object).reshape(-1, 2))


PASSIVE_JOINTS = Quantity(
    "passive_joints",
    "Where the passive joints of loops are. Not a number where a loop cannot be closed.",
    ("q",),
    _passive_joints,
    symbol="P",
    result="cosine and sine of the angle of each passive joint, or its position [m] and 0",
    shape=("P", 2),
)
