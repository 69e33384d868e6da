"""Several arms, or variants of one, on one task: torques, power, coupling, conditioning.

A task is a motion of the joints, so all arms must have the same joints: as many, of the same types
in the same order. The torques of joints that turn and the forces of joints that slide are told
apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError, check_known, counted, shown
from armdyn.report.figures import COLOURS, INK, panel_grid
from armdyn.report.panels import bar_rows, name_rows, panel_title, sheet
from armdyn.report.result import DrawnResult, Section, number, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.study.operations.count import count_operations
from armdyn.study.states import OnLimits, Over, StateSet, is_workspace, states_of

PANELS_A_ROW = 3
_BEST, _OTHERS = COLOURS["inertial"], "#A9CBE4"


MEASURES = {
    "peak_torque": "peak torque [N·m]",
    "rms_torque": "RMS torque [N·m]",
    "peak_force": "peak force [N]",
    "rms_force": "RMS force [N]",
    "peak_power": "peak power [W]",
    "mean_power": "mean power [W]",
    "load": "of effort limits",
    "coupling": "coupling",
    "condition": "condition of M",
    "operations": "operations",
}
"""What arms are ranked by, with units; less is better everywhere."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One arm on the task."""

    name: str
    peak_torque: float
    """Largest torque of any joint that turns [N m]."""
    rms_torque: float
    """Root mean square over time of the torques of all joints that turn, √Σ τ_i² [N m]."""
    peak_force: float
    """The same for joints that slide [N]."""
    rms_force: float
    peak_power: float
    """Largest Σ |τ_i q̇_i| [W]: no drive gives back what it brakes."""
    mean_power: float
    """Its mean over time [W]."""
    load: float
    """Largest torque relative to the effort limit of its joint; NaN if no limit is known."""
    coupling: float
    """Share of the elements off the diagonal in Σ |M_ij| / √(M_ii M_jj), mean over time."""
    condition: float
    """Largest condition number of the mass matrix."""
    operations: int
    """Multiplications and additions of inverse dynamics, links only."""
    joints: tuple[float, ...] = field(repr=False)
    """Largest torque of each joint [N m or N]."""


@dataclass(frozen=True, eq=False)
class Ranking(DrawnResult):
    """Arms on one task, the best first."""

    task: str
    by: str
    """The measure that decides."""
    arms: tuple[Ranked, ...]
    joints: tuple[str, ...] = field(repr=False)
    """Names of the joints in the first robot that was given."""
    units: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def best(self) -> str:
        """The name of the best arm."""
        return self.arms[0].name

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that tell something: forces only where joints slide, and so on."""
        return tuple(
            name
            for name in MEASURES
            if name not in ("peak_torque", "rms_torque", "peak_force", "rms_force", "load")
            or any(getattr(arm, name) > 0 for arm in self.arms)
        )

    def figure(self) -> Any:
        """A panel a measure with a bar an arm, the smallest one dark."""
        names, measures = [arm.name for arm in self.arms], self.measures
        height = 1.0 + -(-len(measures) // PANELS_A_ROW) * (0.75 + 0.3 * len(names))
        title = f"{counted(len(names), 'arm')} on one task, by {_plain(self.by)}"
        figure = sheet(12.0, height, title, f"{self.task}; shorter is better", 0.02)
        left = min(0.3, 0.03 + 0.0068 * max(map(len, names)))
        between = 0.3 * len(names) + 0.2
        room = {"left": left, "right": 0.98, "top": 1 - 1.2 / height, "bottom": 0.15 / height}
        room |= {"wspace": 0.12, "hspace": 0.75 / between}
        places = panel_grid(figure, len(measures), PANELS_A_ROW, room, sharey=True)
        for panel, name in zip(places, measures, strict=True):
            values = np.array([getattr(arm, name) for arm in self.arms], dtype=float)
            known = values[np.isfinite(values)]
            most = float(known.max(initial=0.0)) or 1.0
            least = known.min(initial=np.inf)
            words = [
                "not known" if np.isnan(x) else f"{x:.0f}" if x > 1e4 else f"{x:.4g}"
                for x in values
            ]
            ends = np.minimum(np.nan_to_num(values), 1.1 * most)
            colours = [_BEST if value == least else _OTHERS for value in values]
            bar_rows(panel, ends, words, colours, 1.3 * most)
            for text, value in zip(panel.texts, values, strict=True):
                if value == least:
                    text.set(color=INK, weight="bold")
            panel_title(panel, MEASURES[name])
        name_rows(places[0], names)
        return figure

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        columns = [MEASURES[name] for name in self.measures]
        rows = [
            (str(place), arm.name, *(number(getattr(arm, name)) for name in self.measures))
            for place, arm in enumerate(self.arms, start=1)
        ]
        arms = [{"place": k, **asdict(arm)} for k, arm in enumerate(self.arms, start=1)]
        data = {**parts_of(self, "task", "by", "notes"), "arms": arms}
        lines = [f"note: {note}" for note in self.notes]
        title = f"Arms by {_plain(self.by)}, {self.task}"
        peaks = [
            (f"{name} [{unit}]", *(f"{arm.joints[i]:.4g}" for arm in self.arms))
            for i, (name, unit) in enumerate(zip(self.joints, self.units, strict=True))
        ]
        return (
            Section(title, lines, ("", "arm", *columns), rows, texts=2, data=data),
            Section(
                "Largest torque of each joint", (), ("joint", *(a.name for a in self.arms)), peaks
            ),
        )


def rank(
    robots: Sequence[Robot] | Mapping[str, Robot],
    over: Over,
    *,
    by: str = "peak_torque",
    limits: OnLimits = "error",
) -> Ranking:
    """Rank arms by what one task asks of them, the least first.

    Args:
        robots: Arms with the same joints, in a list, or in a mapping by what they are called.
        over: A motion of the joints, as in `armdyn.terms`; or "workspace", that of the first arm.
        by: What decides: "peak_torque", "rms_torque", "peak_force", "rms_force", "peak_power",
            "mean_power", "load", "coupling", "condition" or "operations".
        limits: "error", "warn" or "ignore": what to do where the task leaves the limits of an arm.
    """
    named = _named(robots)
    check_known("measure to rank by", by, MEASURES)
    reference, first = next(iter(named.items()))
    expected = _kinds(first)
    for name, robot in named.items():
        if _kinds(robot) != expected:
            raise ModelError(
                f"{name!r} has {_kinds(robot)} but {reference!r} has {expected}: a task is a "
                "motion of the joints, so arms in one ranking need as many joints, of the same "
                "types in the same order; lock joints (with_locked), or rank these arms apart"
            )
    states = states_of(first, over, limits)
    for robot in () if is_workspace(over) else list(named.values())[1:]:
        states_of(robot, states, limits)
    found = [_ranked(name, robot, states) for name, robot in named.items()]
    joints = first.model.coordinate_joints
    if by in ("peak_torque", "rms_torque") and not any(joint.type.turns for joint in joints):
        by = by.replace("torque", "force")
    worth = {arm.name: float(np.nan_to_num(getattr(arm, by), nan=np.inf)) for arm in found}
    return Ranking(
        states.words,
        by,
        tuple(sorted(found, key=lambda arm: worth[arm.name])),
        first.joint_names,
        tuple(joint.type.torque_unit for joint in joints),
        states.notes,
    )


def _named(robots: Any) -> dict[str, Robot]:
    """The robots by name; equal names are numbered."""
    if isinstance(robots, Mapping):
        found = {str(name): check_robot(robot) for name, robot in robots.items()}
    elif np.iterable(robots) and not isinstance(robots, str):
        found = {}
        for robot in map(check_robot, robots):
            same = (robot.name, *(f"{robot.name} ({k})" for k in range(2, len(found) + 2)))
            found[next(name for name in same if name not in found)] = robot
    else:
        raise ModelError(f"robots to rank: expected a list of robots, got {shown(robots)}")
    if not found:
        raise ModelError("robots to rank: expected at least one robot, got none")
    return found


def _kinds(robot: Robot) -> str:
    """How many joints a robot has, and of which types."""
    kinds = [joint.kind for joint in robot.model.coordinate_joints]
    return f"{counted(len(kinds), 'joint')} ({', '.join(kinds)})"


def _ranked(name: str, robot: Robot, states: StateSet) -> Ranked:
    n, m = robot.n, len(states)
    tau = np.empty((m, n))
    coupling = np.empty(m)
    condition = np.empty(m)
    for part in states.parts(n * n):
        tau[part] = robot.inverse_dynamics(*states.at(part).motion)
        M = robot.mass_matrix(states.q[part])
        coupling[part], condition[part] = _coupling(M), np.linalg.cond(M)
    joints = robot.model.coordinate_joints
    turning = np.array([joint.type.turns for joint in joints], dtype=bool)
    w = states.weights
    power = np.abs(tau * states.qd).sum(1)
    limits, peaks = robot.effort_limits, np.abs(tau).max(0)
    known = np.isfinite(limits)

    def sizes(of: Array) -> tuple[float, float]:
        peak = float(peaks[of].max(initial=0.0))
        return peak, float(np.sqrt(w @ (tau[:, of] ** 2).sum(1)))

    return Ranked(
        name,
        *sizes(turning),
        *sizes(~turning),
        float(power.max()),
        float(w @ power),
        float((peaks / limits)[known].max()) if known.any() else float("nan"),
        float(w @ coupling),
        float(condition.max()),
        count_operations(robot).total,
        tuple(peaks.tolist()),
    )


def _coupling(M: Array) -> Array:
    """The share of the elements off the diagonal, each relative to those on it, (m,)."""
    own = np.sqrt(np.abs(np.einsum("sii->si", M)))
    sizes = own[:, :, None] * own[:, None]
    relative = np.abs(M) / np.where(sizes > 0, sizes, 1.0)
    total = relative.sum((1, 2))
    return 1 - np.einsum("sii->s", relative) / np.where(total > 0, total, 1.0)


def _plain(name: str) -> str:
    return name.replace("_", " ")
