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

from armdyn.dynamics import Robot
from armdyn.errors import ModelError
from armdyn.model import RobotModel
from armdyn.structure import report
from armdyn.structure.elements import ElementGrid, ElementTables, StructureElement
from armdyn.structure.graph import Trunk, trunks
from armdyn.structure.picture import plot_structure
from armdyn.structure.probe import Pattern, Probe, Ranges
from armdyn.structure.why import BRANCHES, CANCELS, Why


@dataclass(frozen=True, slots=True)
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
    """Which elements of mass matrix, Christoffel symbols and gravity are zero, constant, varying.

    Args:
        robot: The robot; a joint that follows another one counts as a joint of its own.

    Returns:
        For each of D_ij, h_ikm and g_i whether it is zero or constant, and why.
    """
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"the structure is that of a Robot, got {robot!r}; load it first")
    model = robot.model if isinstance(robot, Robot) else robot
    n = len(model.joints)
    apart = StructureElement("zero", reason=BRANCHES)
    D = [[apart] * n for _ in range(n)]
    h = [[[apart] * n for _ in range(n)] for _ in range(n)]
    g = [apart] * n
    for trunk in trunks(model):
        _fill(trunk, model, D, h, g)
    return Structure(
        model.name,
        model.title or model.name,
        tuple(joint.name for joint in model.joints),
        tuple(joint.name for joint in model.joints if joint.mimic is not None),
        _grid(D),
        tuple(map(_grid, h)),
        tuple(g),
    )


def _fill(
    trunk: Trunk,
    model: RobotModel,
    D: list[list[StructureElement]],
    h: list[list[list[StructureElement]]],
    g: list[StructureElement],
) -> None:
    """Put the elements of a trunk in their places."""
    probe = Probe(trunk)
    patterns = probe.patterns()
    ranges = probe.ranges([model.joints[i].range for i in trunk.members])
    why = Why(probe, *patterns)
    in_D, in_h, in_g = (
        _maker(trunk, pattern, numbers) for pattern, numbers in zip(patterns, ranges, strict=True)
    )
    at = trunk.members
    joints = range(len(at))
    for i in joints:
        g[at[i]] = in_g((i,), *why.weight(i))
        for k in joints:
            if k >= i:
                D[at[i]][at[k]] = D[at[k]][at[i]] = in_D((i, k), *why.mass(i, k))
            for m in joints[k:]:
                element = in_h((i, k, m), why.velocity(i, k, m), ())
                h[at[i]][at[k]][at[m]] = h[at[i]][at[m]][at[k]] = element


def _maker(
    trunk: Trunk, pattern: Pattern, numbers: Ranges
) -> Callable[[tuple[int, ...], str, tuple[str, ...]], StructureElement]:
    """A function that makes the element at a place of one array."""
    rounding = numbers.rounding

    def make(place: tuple[int, ...], reason: str, parameters: tuple[str, ...]) -> StructureElement:
        if pattern.zero[place]:
            return StructureElement("zero", (), reason, parameters=parameters)
        lowest, highest = float(numbers.low[place]), float(numbers.high[place])
        if pattern.constant[place]:
            return StructureElement("constant", (), reason, lowest, highest, False, parameters)
        joints = tuple(trunk.members[k] + 1 for k in pattern.on[place].nonzero()[0])
        cancels = bool(rounding[place])
        return StructureElement(
            "varies", joints, CANCELS if cancels else "", lowest, highest, cancels
        )

    return make


def _grid(rows: Sequence[Sequence[StructureElement]]) -> ElementGrid:
    return tuple(tuple(row) for row in rows)
