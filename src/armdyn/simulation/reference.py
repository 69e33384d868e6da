"""What a controller was to follow, beside what the arm did."""

from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.simulation.controllers import Following
from armdyn.simulation.result import Simulation


def with_reference(found: Simulation, controller: Any) -> Simulation:
    """The simulation with the positions that a controller of joints was to follow."""
    if not isinstance(controller, Following):
        return found
    wanted = np.array([controller.target(t).q for t in found.t.tolist()], dtype=float)
    return replace(found, reference=np.broadcast_to(wanted, found.q.shape).copy())
