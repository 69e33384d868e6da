"""Which elements of the equations of motion vanish, which are constant, and what the others need.

With τ_i = Σ D_ij q̈_j + Σ h_ikm q̇_k q̇_m + g_i, each element is zero, constant, or depends on certain
joints, for every value of the numbers of the robot that are not zero: these are symbols, while
zeros and quarter turns in the canonical frames are kept. Exact evaluation over a finite field
decides: an element depends on q_k if another random q_k changes it. A link that carries several
joints has the frame of the first one. The angle of another joint is then a sum with an angle of
that frame, and counts as special only if both are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.errors import ModelError
from armdyn.model import RobotModel
from armdyn.structure import report
from armdyn.structure.elements import ElementTables, Status, StructureElement, is_mirror
from armdyn.structure.graph import Trunk, trunks
from armdyn.structure.picture import plot_structure
from armdyn.structure.probe import Probe
from armdyn.structure.ranges import Ranges, ranges
from armdyn.structure.why import BRANCHES, CANCELS, Reason, Why


@dataclass(frozen=True, slots=True, eq=False)
class Structure(ElementTables):
    """The structure of the equations of motion of a robot, over all its moving joints."""

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{name}: {count['zero']} of {sum(count.values())} zero"
            for name, count in self.counts.items()
        )
        return f"<Structure of {self.robot!r}, {counts}>"

    def text(self) -> str:
        """The report to read."""
        return report.text(self)

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        return report.data(self)

    def plot(self, path: str | Path) -> None:
        """Draw D, h and g to a .png, .pdf or .svg file, coloured by what they depend on."""
        plot_structure(self, path)


def structure(robot: Robot | RobotModel) -> Structure:
    """Which elements of mass matrix, Christoffel symbols and gravity are zero or constant, and why.

    A joint that follows another one counts as a joint of its own.
    """
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"the structure is that of a Robot, got {robot!r}; load it first")
    model = robot.model if isinstance(robot, Robot) else robot
    n, apart = len(model.joints), StructureElement("zero", reason=BRANCHES)
    tables = [np.full((n,) * rank, apart, dtype=object) for rank in (2, 3, 1)]
    numbers = ranges(model)
    for trunk in trunks(model):
        _fill(trunk, numbers, tables)
    return Structure(
        model.name,
        model.title or model.name,
        tuple(joint.name for joint in model.joints),
        tuple(joint.name for joint in model.joints if joint.mimic is not None),
        *tables,
    )


def _fill(trunk: Trunk, numbers: Sequence[Ranges], tables: Sequence[Array]) -> None:
    """Put the elements of a trunk in their places in D, h and g."""
    probe = Probe(trunk)
    patterns = probe.patterns()
    why = Why(probe, *patterns)
    reasons: list[Callable[..., Reason]] = [why.mass, why.velocity, why.weight]
    for table, pattern, values, reason in zip(tables, patterns, numbers, reasons, strict=True):
        for place in np.ndindex(pattern.zero.shape):
            if not is_mirror(place):
                at = tuple(trunk.members[i] for i in place)
                joints = tuple(trunk.members[k] + 1 for k in pattern.on[place].nonzero()[0])
                status: Status = "varies" if joints else "constant"
                status = "zero" if pattern.zero[place] else status
                element = _element(status, joints, values, at, *reason(*place))
                table[at] = table[*at[:-2], *reversed(at[-2:])] = element


def _element(
    status: Status,
    joints: tuple[int, ...],
    values: Ranges,
    at: tuple[int, ...],
    reason: str,
    parameters: tuple[str, ...],
) -> StructureElement:
    if status == "zero":
        return StructureElement(status, (), reason, parameters=parameters)
    cancels = status == "varies" and bool(values.rounding[at])
    reason = CANCELS if cancels else reason
    low, high = float(values.low[at]), float(values.high[at])
    return StructureElement(status, joints, reason, low, high, cancels, parameters)
