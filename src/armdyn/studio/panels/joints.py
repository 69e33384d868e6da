"""The joints, in groups: where they are, what they hold, the torques, and a sentence on them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import check_known, counted
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.studio.arm import KINDS, Arm, Snapshot, State, slider_limits
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import TERMS, WORDS
from armdyn.studio.wire import index, number

MOST, HALF = 0.8, 0.5
"""Shares of the torque from which on a term is "nearly all" or "most" of it."""
NEAR = 0.8
"""Share of a motor beyond which it is near its limit."""
AT_STOP = 1e-3
"""A joint nearer to its limit than this part of its range is at it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and how bad it is."""

    text: str
    level: Literal["fine", "near", "over"] = "fine"


def what_matters(arm: Arm, snapshot: Snapshot) -> Sentence:
    """What matters now: a motor that is too weak, a speed or a stop, else the motor used most."""
    model, state, names = arm.robot.model, snapshot.state, arm.robot.joint_names
    joints = model.coordinate_joints
    limits = arm.robot.effort_limits
    share = np.abs(snapshot.total) / limits
    most = int(np.argmax(share))
    name = _name(most, names)
    if share[most] > 1:
        text = f"{name} needs {_percent(share[most])} of its motor here: that is more than it has"
        return Sentence(f"{text}; {_cause(snapshot, most)}.", "over")
    speeds = np.abs(state.qd) / arm.robot.velocity_limits
    fast = int(np.argmax(speeds))
    if speeds[fast] > 1 + 1e-9:
        verb = "turns" if joints[fast].type.turns else "slides"
        over = f"{_name(fast, names)} {verb} at {_percent(speeds[fast])}"
        return Sentence(f"{over} of its highest speed.", "over")
    stop = _stop(arm.robot.limits, state.q)
    at = "" if stop is None else f" {_name(stop, names)} is at its stop."
    if not np.abs(snapshot.total).any():
        forces = "No motor is needed here: every term is zero"
        if any(v.any() for v in snapshot.terms.values()):
            forces = "No motor is needed here: the terms of every joint add up to zero"
        return Sentence(f"{forces}.{at}")
    if share[most] > 0:
        level: Literal["fine", "near"] = "near" if share[most] > NEAR else "fine"
        text = f"{name} uses {_percent(share[most])} of its motor here"
        return Sentence(f"{text}; {_cause(snapshot, most)}.{at}", level)
    most = int(np.argmax(np.abs(snapshot.total)))
    unit = joints[most].type.torque_unit
    text = f"{_name(most, names)} needs most: {abs(snapshot.total[most]):.3g} {unit}"
    return Sentence(f"{text}; {_cause(snapshot, most)}. No limit of its motor is known.{at}")


def _cause(snapshot: Snapshot, joint: int) -> str:
    """Which term the torque of a joint is made of."""
    total = float(snapshot.total[joint])
    shares = {k: float(v[joint]) / total for k, v in snapshot.terms.items() if v[joint]}
    (first, share), *others = sorted(shares.items(), key=lambda item: -item[1])
    word = WORDS.get(first, first)
    against = [WORDS.get(k, k) for k, value in others if value < -HALF]
    if share > 1 + HALF and against:
        return f"{word} is more than that, and {' and '.join(against)} takes part of it"
    if share > MOST:
        return f"{word} is nearly all of it"
    if share > HALF:
        return f"{word} is most of it"
    return " and ".join([word, *(WORDS.get(k, k) for k, _ in others[:1])]) + " share it"


def _name(joint: int, names: Sequence[str]) -> str:
    """What a joint is called: Joint 2, with its own name where that says more."""
    own = names[joint]
    plain = own.lower().replace("_", "").replace(" ", "") in (f"joint{joint + 1}", f"j{joint + 1}")
    return f"Joint {joint + 1}" if plain else f"Joint {joint + 1} ({own})"


def _stop(ends: Array, q: Array) -> int | None:
    """The first joint at one of its limits (n, 2), which are infinite where there are none."""
    low, high = ends.T
    room = high - low
    at = np.isfinite(room) & (room > 0) & (np.minimum(q - low, high - q) <= AT_STOP * room)
    return int(np.argmax(at)) if at.any() else None


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 1 else "less than 1 %"


GROUPED_JOINTS = 10
"""An arm with more joints is shown in groups."""
_EDGES = "_- ./0123456789"


def joint_groups(model: RobotModel) -> list[str]:
    """The group of each coordinate; all are "" for an arm with few joints.

    A group is a chain without branches. Its name is how most of the names of its joints begin, or
    that of its first joint.
    """
    if len(model.independent) <= GROUPED_JOINTS:
        return [""] * len(model.independent)
    children: dict[int, list[int]] = defaultdict(list)
    for i, joint in enumerate(model.joints):
        children[joint.parent].append(i)
    chain: dict[int, int] = {}
    for i, joint in enumerate(model.joints):
        alone = joint.parent >= 0 and len(children[joint.parent]) == 1
        chain[i] = chain[joint.parent] if alone else i
    members: dict[int, list[str]] = defaultdict(list)
    for i in model.independent:
        members[chain[i]].append(model.joints[i].name)
    names = {first: _common(own) for first, own in members.items()}
    return [names[chain[i]] for i in model.independent]


def _common(names: list[str]) -> str:
    """How more than half of the names begin, up to a whole word; else the first name."""
    first = names[0]
    ends = [i for i, letter in enumerate(first) if letter in _EDGES]
    for end in reversed(ends):
        start = first[:end].rstrip(_EDGES)
        if start and 2 * sum(name.startswith(first[:end]) for name in names) > len(names) > 1:
            return start
    return first


BEYOND_ORDINARY = 2.0
"""Where sliders of velocities and accelerations end, relative to the ordinary ones of the type."""
MAX_PAYLOAD = 0.5
"""The heaviest payload on the slider, relative to the mass of the arm."""
HEAVIEST = 1e6
"""The heaviest payload that may be typed [kg]."""
SPELT_JOINTS = 12
"""An arm with at most so many joints has their kinds spelt out."""
MATRIX_DIGITS = 10


class JointsPanel(Panel):
    """The column of our own: a row for each joint, what is held, and the mass matrix."""

    early = True

    def __init__(self, session: Session):
        super().__init__(session)
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
            "state": state.table,
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
        joint = index(message, "joint", len(state.q))
        kind = message.get("kind", "")
        check_known("kind", kind, KINDS)
        low, high = ends(session.robot)[kind][joint]
        values = np.array(getattr(state, kind))
        values[joint] = number(message, "value", low, high)
        changed: Any = {kind: values}
        session.take(replace(state, **changed))

    def _hold(self, message: dict[str, Any]) -> None:
        """Another payload is held."""
        self._session.hold(number(message, "value", 0.0, HEAVIEST))

    def _select(self, message: dict[str, Any]) -> None:
        """A joint is chosen, for panels that are about one."""
        self._session.select(index(message, "joint", self._session.robot.n))

    def _look(self, message: dict[str, Any]) -> None:
        """The page shows the mass matrix, or no longer."""
        self._matrix = message.get("shown") is True
        self._session.ask()


def described(arm: Arm) -> dict[str, Any]:
    """A robot as plain data for the page."""
    robot = arm.robot
    model = robot.model
    joints = model.coordinate_joints
    letters = "".join(joint.type.letter for joint in model.joints)
    spelt = f" ({letters})" if len(letters) <= SPELT_JOINTS else ""
    limits, ranges = robot.effort_limits, ends(robot)
    return {
        "title": arm.title,
        "source": arm.source,
        "catalog": arm.in_catalog,
        "about": f"{counted(robot.n, 'joint')}{spelt}, {arm.mass:.3g} kg moving",
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
    joints = robot.model.coordinate_joints
    limits = robot.velocity_limits
    speeds = BEYOND_ORDINARY * np.array([joint.type.speed for joint in joints])
    bends = BEYOND_ORDINARY * np.array([joint.type.acceleration for joint in joints])
    speeds = np.minimum(limits, np.where(np.isfinite(limits), 10, 1) * speeds)
    sides = np.array([-1.0, 1.0])
    return {
        "q": slider_limits(robot),
        "qd": np.outer(speeds, sides),
        "qdd": np.outer(bends, sides),
    }


def within(robot: Robot, state: State) -> State:
    """A state within the ends of the page."""
    rows: Any = {k: np.clip(getattr(state, k), *end.T) for k, end in ends(robot).items()}
    return replace(state, payload=min(state.payload, HEAVIEST), **rows)


def _triangle(matrix: Array | None) -> list[float] | None:
    """The elements on and above the diagonal, row by row."""
    if matrix is None:
        return None
    largest = float(np.abs(matrix).max()) or 1.0
    upper = matrix[np.triu_indices(len(matrix))]
    upper = np.where(np.abs(upper) > 1e-12 * largest, upper, 0.0)
    return [float(f"{value:.{MATRIX_DIGITS}g}") for value in upper]
