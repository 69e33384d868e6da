"""What a motion keeps its distance from, as it is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ExcitationError
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.identification.excitation.shapes import (
    check_length,
    link_solids,
    obstacle_solids,
    table_solid,
)
from armdyn.robot import Robot

CLEARANCE = 0.05
"""Clearance where there are surroundings or a geometry and none is given [m]."""

Obstacles = str | Path | Sequence[Mapping[str, Any]] | None
"""Shapes that stand around, or a TOML file of them."""
Radius = float | Mapping[str, float] | None
"""Radius of capsules, one for all links or some by name [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The options of `excite` that are about distances."""

    clearance: float | None
    table: float | None
    obstacles: Obstacles
    geometry: str | Path | None
    radius: Radius

    def around(
        self, robot: Robot, limits: MotionLimits, seed: int
    ) -> tuple[Clearance | None, tuple[str, ...]]:
        """The pairs that keep a distance, None if none do, and what is to be said of them."""
        if all(x is None for x in (self.clearance, self.table, self.obstacles, self.geometry)):
            if self.radius is not None:
                raise ExcitationError(
                    "radius: it is that of links which keep a distance; give clearance= or table= "
                    "too"
                )
            return None, ("distances between links, and to what is around, are not looked at",)
        given = self.clearance
        least = CLEARANCE if given is None else check_length("clearance", given)
        links, notes = link_solids(robot, self.geometry, self.radius)
        around = [] if self.table is None else [table_solid(self.table)]
        solids = [*links, *around, *obstacle_solids(self.obstacles)]
        ranges = np.stack([limits.lower, limits.upper], -1)
        found = Clearance.of(robot, solids, least, ranges, seed)
        if found.left_out:
            pairs = "; ".join(found.left_out)
            notes.append(f"touch by construction and are not looked at: {pairs}")
        if found.lowered:
            notes.append(f"always near each other, and keep less: {'; '.join(found.lowered)}")
        return found, tuple(notes)
