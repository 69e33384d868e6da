"""Which elements of the equations of motion vanish, which are constant, and what the others need.

With τ_i = Σ D_ij q̈_j + Σ h_ikm q̇_k q̇_m + g_i, each element is zero, constant, or depends on certain
joints, for every value of the numbers of the robot that are not zero: these are symbols, while
zeros and quarter turns in the canonical frames are kept. Decided by exact evaluation over a finite
field, in which an element depends on q_k if drawing q_k anew changes it. Where a link carries
several joints its frame is that of the first, so an angle that is special for another one only in
sum with that frame's counts as any angle.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from armdyn.dynamics import Robot
from armdyn.errors import ModelError
from armdyn.model import RobotModel
from armdyn.structure import report as structure_report
from armdyn.structure.graph import Trunk, trunks
from armdyn.structure.probe import Pattern, Probe, Ranges
from armdyn.structure.why import BRANCHES, CANCELS, Why

Status = Literal["zero", "constant", "varies"]


@dataclass(frozen=True, slots=True)
class Element:
    """One element of D, h or g."""

    status: Status
    joints: tuple[int, ...] = ()
    """The joints it depends on, counted from 1."""
    reason: str = ""
    """Why it is zero or constant, or as good as constant."""
    low: float = 0.0
    """Lowest value over random configurations within the limits."""
    high: float = 0.0
    rounding: bool = False
    """Whether it varies in symbols, but with the numbers of this robot by rounding only."""
    parameters: tuple[str, ...] = ()
    """Inertial parameters that are zero, each of which would undo the status."""


Row = tuple[Element, ...]
Grid = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """The structure of the equations of motion of a robot, over all its moving joints."""

    robot: str
    title: str
    """What people call the robot."""
    joints: tuple[str, ...]
    mimics: tuple[str, ...]
    """Joints that follow another one; here they count as joints of their own."""
    D: Grid
    """Mass matrix with rotors: D[i][j]."""
    h: tuple[Grid, ...]
    """Christoffel symbols h[i][k][m] = h[i][m][k]."""
    g: Row
    """Torques of gravity."""

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many different elements of D, h and g are zero, constant or vary."""
        n = range(len(self.joints))
        each: dict[str, Iterable[Element]] = {
            "D": (self.D[i][j] for i in n for j in n[i:]),
            "h": (self.h[i][k][m] for i in n for k in n for m in n[k:]),
            "g": self.g,
        }
        found = {name: Counter(e.status for e in elements) for name, elements in each.items()}
        return {
            name: {status: count[status] for status in ("zero", "constant", "varies")}
            for name, count in found.items()
        }

    def text(self) -> str:
        """The report to read."""
        return structure_report.text(self)

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        return structure_report.data(self)

    def plot(self, path: str | Path) -> None:
        """Draw D, h and g to a .png, .pdf or .svg file, coloured by what they depend on."""
        from armdyn.structure.picture import plot_structure  # noqa: PLC0415 (it needs this)

        plot_structure(self, path)


def structure(robot: Robot | RobotModel) -> Structure:
    """Which elements of mass matrix, Christoffel symbols and gravity are zero, constant, varying.

    Args:
        robot: The robot; a joint that follows another one counts as a joint of its own.

    Returns:
        An `Element` for each of D_ij, h_ikm and g_i, with the reason where it is zero or constant.
    """
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"the structure is that of a Robot, got {robot!r}; load it first")
    model = robot.model if isinstance(robot, Robot) else robot
    n = len(model.joints)
    apart = Element("zero", reason=BRANCHES)
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
    D: list[list[Element]],
    h: list[list[list[Element]]],
    g: list[Element],
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
) -> Callable[[tuple[int, ...], str, tuple[str, ...]], Element]:
    """A function that makes the element at a place of one array."""
    low, high, rounding = numbers.low.tolist(), numbers.high.tolist(), numbers.rounding

    def make(place: tuple[int, ...], reason: str, parameters: tuple[str, ...]) -> Element:
        if pattern.zero[place]:
            return Element("zero", (), reason, parameters=parameters)
        lowest, highest = _entry(low, place), _entry(high, place)
        if pattern.constant[place]:
            return Element("constant", (), reason, lowest, highest, False, parameters)
        joints = tuple(trunk.members[k] + 1 for k in pattern.on[place].nonzero()[0])
        cancels = bool(rounding[place])
        return Element("varies", joints, CANCELS if cancels else "", lowest, highest, cancels)

    return make


def _entry(nested: Any, place: tuple[int, ...]) -> float:
    for index in place:
        nested = nested[index]
    return float(nested)


def _grid(rows: Sequence[Sequence[Element]]) -> Grid:
    return tuple(tuple(row) for row in rows)
