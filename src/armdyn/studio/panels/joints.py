"""The joints: where they are, what they hold, and the torques that this takes."""

from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import StudioError, shown
from armdyn.model import Joint
from armdyn.robot import Robot
from armdyn.simulation.limits import effort_limits
from armdyn.studio.arm import Arm, Snapshot, State, slider_limits
from armdyn.studio.groups import joint_groups
from armdyn.studio.panel import Panel
from armdyn.studio.sentence import what_matters
from armdyn.studio.session import Session
from armdyn.studio.style import TERMS, WORDS
from armdyn.studio.wire import index, number

BEYOND_ORDINARY = 2.0
"""Where sliders of velocities and accelerations end, relative to the ordinary ones of the type."""
MAX_PAYLOAD = 0.5
"""The heaviest payload on the slider, relative to the mass of the arm."""
HEAVIEST = 1e6
"""The heaviest payload that may be typed [kg]."""
KINDS = ("q", "qd", "qdd")
SPELT_JOINTS = 12
"""An arm with at most so many joints has their kinds spelt out."""
MATRIX_DIGITS = 10


class JointsPanel(Panel):
    """The column of our own: a row for each joint, what is held, and the mass matrix."""

    early = True

    def __init__(self, session: Session):
        self._session = session
        self._matrix = True
        """Whether the page shows the mass matrix."""
        page = session.page
        page.on("move", self._move)
        page.on("hold", self._hold)
        page.on("matrix", self._look)
        page.on("select", self._select)

    def enter(self, arm: Arm) -> None:
        """Begin with another robot."""
        self._session.page.show(robot=described(arm))

    def show(self, snapshot: Snapshot) -> None:
        """Show where the joints are, and the torques."""
        state = snapshot.state
        said = what_matters(self._session.arm, snapshot)
        parts: dict[str, Any] = {
            "said": {"text": said.text, "level": said.level},
            "state": {
                **{key: getattr(state, key).tolist() for key in KINDS},
                "payload": float(state.payload),
            },
            "torque": {
                "total": snapshot.total.tolist(),
                "terms": {k: v.tolist() for k, v in snapshot.terms.items() if v.any()},
            },
        }
        if self._matrix:
            parts["matrix"] = _triangle(snapshot.mass_matrix)
        self._session.page.show(**parts)

    def _move(self, message: dict[str, Any]) -> None:
        """A joint has another position, velocity or acceleration."""
        session = self._session
        state = session.state
        joint, kind = index(message, "joint", len(state.q)), _kind(message.get("kind"))
        low, high = ends(session.arm.robot)[kind][joint]
        values = np.array(getattr(state, kind))
        values[joint] = number(message, "value", low, high)
        changed: Any = {kind: values}
        session.take(replace(state, **changed))

    def _hold(self, message: dict[str, Any]) -> None:
        """Another payload is held."""
        session = self._session
        payload = number(message, "value", 0.0, HEAVIEST)
        session.hold(payload)

    def _select(self, message: dict[str, Any]) -> None:
        """A joint is chosen, for panels that are about one."""
        joint = index(message, "joint", self._session.arm.robot.n)
        for panel in self._session.panels:
            panel.select(joint)

    def _look(self, message: dict[str, Any]) -> None:
        """The page shows the mass matrix, or no longer."""
        self._matrix = message.get("shown") is True
        self._session.ask()


def described(arm: Arm) -> dict[str, Any]:
    """A robot as plain data for the page."""
    robot = arm.robot
    model = robot.model
    joints = [model.joints[i] for i in model.independent]
    letters = "".join(joint.type.letter for joint in model.joints)
    limits, ranges = effort_limits(model), ends(robot)
    return {
        "title": arm.title,
        "source": arm.source,
        "catalog": arm.in_catalog,
        "about": f"{_counted(robot.n)}{f' ({letters})' if len(letters) <= SPELT_JOINTS else ''}, "
        f"{arm.mass:.3g} kg moving",
        "faults": [f"{finding.where}: {finding.message}" for finding in arm.faults],
        "payload": max(1.0, float(np.ceil(MAX_PAYLOAD * arm.mass))),
        "terms": {name: {"colour": TERMS[name], "word": WORDS.get(name, name)} for name in TERMS},
        "joints": [
            {
                "name": joint.name,
                "unit": joint.type.unit,
                "torque": joint.type.torque_unit,
                "turns": joint.type.turns,
                "effort": float(limits[i]) if np.isfinite(limits[i]) else None,
                "group": group,
                **{kind: ranges[kind][i].tolist() for kind in KINDS},
            }
            for i, (joint, group) in enumerate(zip(joints, joint_groups(model), strict=True))
        ],
    }


def ends(robot: Robot) -> dict[str, Array]:
    """Where positions, velocities and accelerations end on the page, (n, 2) each."""
    joints: list[Joint] = [robot.model.joints[i] for i in robot.model.independent]
    given = np.array([joint.limits.velocity or np.inf for joint in joints])
    speeds = BEYOND_ORDINARY * np.array([joint.type.speed for joint in joints])
    bends = BEYOND_ORDINARY * np.array([joint.type.acceleration for joint in joints])
    speeds = np.minimum(given, np.where(np.isfinite(given), 10, 1) * speeds)
    sides = np.array([-1.0, 1.0])
    return {
        "q": slider_limits(robot),
        "qd": np.outer(speeds, sides),
        "qdd": np.outer(bends, sides),
    }


def within(robot: Robot, state: State) -> State:
    """A state within the ends of the page."""
    found: Any = {k: np.clip(getattr(state, k), *end.T) for k, end in ends(robot).items()}
    return replace(state, **found)


def _triangle(matrix: Array | None) -> list[float] | None:
    """The elements on and above the diagonal, row by row."""
    if matrix is None:
        return None
    largest = float(np.abs(matrix).max()) or 1.0
    upper = matrix[np.triu_indices(len(matrix))]
    upper = np.where(np.abs(upper) > 1e-12 * largest, upper, 0.0)
    return [float(f"{value:.{MATRIX_DIGITS}g}") for value in upper]


def _kind(value: Any) -> str:
    if value not in KINDS:
        raise StudioError(f"kind: expected one of {', '.join(KINDS)}, got {shown(value)}")
    return str(value)


def _counted(n: int) -> str:
    return f"{n} joint{'s' if n != 1 else ''}"
