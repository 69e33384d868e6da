"""One robot, the same states, several libraries: who computes what, and why it differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from armdyn.arrays import check_names, check_whole
from armdyn.errors import ModelError, PeerError, check_known, counted
from armdyn.model.validate import Physical
from armdyn.report.result import Result, Section, parts_of
from armdyn.robot import Robot
from armdyn.study.compare.explain import Explainer, causes
from armdyn.study.compare.peers import PEERS, Case, Peer, Sources, sources, version
from armdyn.study.states import Over, StateSet, Workspace, states_of

Status = Literal["agrees", "explained", "unexplained", "refused", "not installed"]


@dataclass(frozen=True, slots=True)
class Effect:
    """A cause of a difference."""

    name: str
    """Such as "viscous", "rotors" or "inertial rpy"."""
    text: str
    """What the library does, to follow its name."""
    largest: float
    """How much it alone changes a torque, at most [N m or N]."""


@dataclass(frozen=True, slots=True)
class LibraryResult:
    """What one library computes for the robot, and why."""

    library: str
    """The name by which it is asked for."""
    title: str
    version: str | None
    """None if it is not installed, or says none."""
    status: Status
    explanation: str
    """A sentence."""
    causes: tuple[Effect, ...] = ()
    """The causes that explain the difference, or that come nearest to it."""
    joint: str | None = None
    """The joint with the largest difference."""
    state: int | None = None
    """Where that is among the states."""
    motion: dict[str, tuple[float, ...]] | None = field(default=None, repr=False)
    """The state itself: q, qd and qdd."""
    here: float | None = None
    """Its torque by armdyn [N m or N]."""
    there: float | None = None
    """Its torque by the library."""
    differences: tuple[float, ...] = field(default=(), repr=False)
    """The largest difference of each joint, in the order of the report."""
    residual: float | None = None
    """The largest difference that the causes leave [N m or N]."""

    @property
    def difference(self) -> float | None:
        """Torque there less torque here."""
        return None if self.there is None or self.here is None else self.there - self.here


@dataclass(frozen=True)
class CompareReport(Result):
    """The same states through several libraries."""

    source: str
    robot: str
    joints: tuple[str, ...]
    states: int
    """How many were compared."""
    seed: int | None
    """What random states were drawn with; None for states that were given."""
    rows: tuple[LibraryResult, ...]

    def __repr__(self) -> str:
        return f"<CompareReport of {self.robot!r}, {counted(self.states, 'state')}: {self.summary}>"

    def __getitem__(self, library: str) -> LibraryResult:
        """The row of a library."""
        return next(row for row in self.rows if row.library == library)

    @property
    def exit_code(self) -> int:
        """0: all agree; 1: some do not, or refuse the file; 2: there was none to compare with."""
        tried = [row for row in self.rows if row.status != "not installed"]
        if not tried:
            return 2
        return int(any(row.status != "agrees" for row in tried))

    @property
    def summary(self) -> str:
        """Who agrees and who does not."""
        parts = [
            f"{', '.join(names)}: {'agree' if status == 'agrees' and len(names) > 1 else status}"
            for status in get_args(Status)
            if (names := [row.title for row in self.rows if row.status == status])
        ]
        return "; ".join(parts)

    def sections(self) -> tuple[Section, ...]:
        """The table, one row a library, and who agrees."""
        drawn = "as given" if self.seed is None else f"within the limits, seed {self.seed}"
        names = ("source", "robot", "joints", "states", "seed", "exit_code")
        rows = [asdict(row) | {"difference": row.difference} for row in self.rows]
        table = [
            (
                f"{row.title} {row.version or ''}".strip(),
                *(row.status, row.joint or ""),
                *("" if torque is None else f"{torque:.6g}" for torque in (row.here, row.there)),
                "" if row.difference is None else f"{row.difference:.3g}",
            )
            for row in self.rows
        ]
        reasons = [f"{x.title}: {x.explanation.removeprefix(x.title).strip()}" for x in self.rows]
        return (
            Section(
                f"{self.robot}: {counted(self.states, 'state')}, {drawn}",
                (self.summary,),
                data={**parts_of(self, *names), "rows": rows},
            ),
            Section(
                "Torque of the joint that differs most",
                reasons,
                ("library", "status", "joint", "armdyn", "there", "difference"),
                table,
                3,
            ),
        )


DEFAULT_STATES = 16
"""States that are compared by default."""
MOST_STATES = 100_000
"""The most states that are compared; other libraries compute them one by one."""
MOTION = ("q", "qd", "qdd")
MORE_STATES = 16
"""Random states that are compared as well, since one state cannot distinguish all causes."""


def compare(
    robot_or_path: Robot | str | Path,
    with_: Sequence[str] | None = None,
    over: int | Over = DEFAULT_STATES,
    *,
    seed: int = 0,
    physical: Physical = "error",
) -> CompareReport:
    """Inverse dynamics of one robot by armdyn and by other libraries.

    Each library reads the file itself. A difference is explained by causes that turn our torque
    into the other one, up to rounding, at the given states and at further random ones.

    Args:
        robot_or_path: A catalog name, a file, or a robot.
        with_: Names of `armdyn.study.compare.peers.PEERS`; None: all of them.
        over: How many random states within the limits, or states as in `armdyn.terms`.
        seed: What random states are drawn with.
        physical: What to do about inertias that cannot exist: "error", "warn" or "ignore".

    Raises:
        UnknownNameError: There is no such library, or no such robot.
        ModelError: The number of states or the file cannot be used.
        TrajectoryError: The states cannot be used.

    Example:
        >>> compare("ur5e", ["pinocchio"])["pinocchio"].status
        'agrees'
    """
    if isinstance(with_, str):
        raise ModelError(f"with_: expected a list of libraries such as [{with_!r}], got {with_!r}")
    for name in () if with_ is None else check_names("with_", with_):
        check_known("library to compare with named", name, PEERS)
    check_whole("seed", seed, 0)
    if drawn := isinstance(over, int):
        check_whole("states", over, 1, MOST_STATES)
    with sources(robot_or_path, physical) as given:
        robot = given.robot
        asked = states_of(robot, Workspace(over, seed=seed) if drawn else over, "ignore")
        more = states_of(robot, Workspace(MORE_STATES, seed=seed + 1))
        states = asked.joined([more])
        named = dict.fromkeys(with_ or PEERS)
        rows = tuple(_row(given, states, len(asked), name, PEERS[name]) for name in named)
    of = given.name, robot.name, robot.joint_names
    return CompareReport(*of, len(asked), seed if drawn else None, rows)


def _row(given: Sources, states: StateSet, asked: int, name: str, peer: Peer) -> LibraryResult:
    """What a library says at states, of which so many first ones were asked for, and why."""
    material = next(given.formats[kind] for kind in peer.formats if kind in given.formats)
    model = material.model
    explainer = Explainer(model, given.robot, states)
    joints = tuple(joint.name for joint in model.joints)
    row = partial(LibraryResult, name, peer.title)
    try:
        case = Case(material.file, joints, model.base_link.name, explainer.states)
        answer = peer.answer(case)
    except PeerError as reason:
        refusal = f"{peer.title} refuses it: {reason}"
        return row(version(peer.package), "refused", refusal)
    if answer is None:
        advice = f"it can be installed with: pip install {peer.package}"
        return row(None, "not installed", advice)
    here = given.robot.inverse_dynamics(*states.motion)
    theirs = explainer.coordinates(answer.torque)
    gap = np.abs(theirs - here)[:asked]
    # the first of those that differ by as much but for rounding, as by dry friction alone
    worst = np.argmax(gap >= gap.max(initial=0.0) * (1 - 1e-9))
    state, joint = (int(i) for i in np.unravel_index(worst, gap.shape))
    row = partial(
        row,
        version(peer.package),
        joint=given.robot.joint_names[joint],
        state=state,
        motion={k: tuple(getattr(states, k)[state].tolist()) for k in MOTION},
        here=float(here[state, joint]),
        there=float(theirs[state, joint]),
        differences=tuple(gap.max(axis=0).tolist()),
    )
    if (gap <= explainer.tolerance).all():
        return row(status="agrees", explanation="the same to rounding", residual=float(gap.max()))
    whole, choices = explainer.explain(theirs, causes(given, material, answer))
    ours = explainer.torque()
    torque = explainer.torque(choices[0])
    residual = float(np.abs(theirs - torque).max())
    effects = (explainer.torque((cause,)) - ours for cause in choices[0])
    said = ", or it ".join("; ".join(cause.text for cause in choice) for choice in choices)
    sentence = f"{peer.title} {said}" if said else ""
    if not whole:
        partly = f", if {sentence}" if said else ""
        sentence = f"unexplained, largest residual {residual:.3g}{partly}"
    return row(
        status="explained" if whole else "unexplained",
        explanation=sentence,
        causes=tuple(
            Effect(cause.name, cause.text, float(np.abs(effect[:asked]).max()))
            for cause, effect in zip(choices[0], effects, strict=True)
        ),
        residual=residual,
    )
