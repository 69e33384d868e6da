"""One robot, the same states, several libraries: who computes what, and why it differs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.compare.cause import Cause
from armdyn.compare.causes import causes
from armdyn.compare.explain import Choice, Explainer, Explanation
from armdyn.compare.files import Sources, sources
from armdyn.compare.peers import PEERS, Case, Peer
from armdyn.compare.report import CompareReport, Effect, LibraryResult
from armdyn.compare.states import States, check_states, random_states
from armdyn.dynamics import Robot
from armdyn.errors import ModelError, PeerError, check_known
from armdyn.model.validate import Physical

DEFAULT_STATES = 16
"""States that are compared by default."""
MORE_STATES = 16
"""Random states that are compared as well, since one state cannot distinguish all causes."""


def compare(
    robot_or_path: Robot | str | Path,
    with_: Sequence[str] | None = None,
    states: int | str | Path | Sequence[npt.ArrayLike] = DEFAULT_STATES,
    *,
    seed: int = 0,
    physical: Physical = "error",
) -> CompareReport:
    """Inverse dynamics of one robot by armdyn and by other libraries.

    Each library reads the file itself. A difference is explained by causes that turn our torque
    into the other one, up to rounding, at the given states and at further random ones.

    Args:
        robot_or_path: A catalog name, a file, or a robot.
        with_: Names of `armdyn.compare.peers.PEERS`; None: all of them.
        states: How many random states within the limits, a trajectory file, or the arrays
            (q, qd, qdd), each (..., n).
        seed: What random states are drawn with.
        physical: What to do about inertias that cannot exist: "error", "warn" or "ignore".

    Raises:
        UnknownNameError: There is no such library, or no such robot.
        ModelError: The states or the file cannot be used.

    Example:
        >>> compare("ur5", ["pinocchio"])["pinocchio"].status
        'agrees'
    """
    names = _libraries(with_)
    if not isinstance(seed, int) or seed < 0:
        raise ModelError(f"seed: expected a whole number that is not negative, got {seed!r}")
    with sources(robot_or_path, physical) as given:
        asked = check_states(given.robot.model, states, seed)
        every = asked + random_states(given.robot.model, MORE_STATES, seed + 1)
        comparison = _Comparison(given, every, len(asked))
        rows = tuple(comparison.row(name, PEERS[name]) for name in names)
    robot = given.robot
    drawn = seed if isinstance(states, int) else None
    return CompareReport(given.name, robot.name, robot.joint_names, len(asked), drawn, rows)


def _libraries(with_: Sequence[str] | None) -> list[str]:
    if isinstance(with_, str):
        raise ModelError(f"with_: expected a list of libraries such as [{with_!r}], got {with_!r}")
    for name in with_ or ():
        check_known("library to compare with named", name, PEERS)
    return list(dict.fromkeys(with_)) if with_ else list(PEERS)


class _Comparison:
    """The robot at its states, of which the first ones were asked for."""

    def __init__(self, given: Sources, states: States, asked: int):
        self._given, self._states, self._asked = given, states, asked
        ledger = given.robot.ledger(states.q, states.qd, states.qdd)
        self._scale = sum(map(np.abs, ledger.terms.values()), np.zeros_like(ledger.inertial))
        self._ours = given.robot.inverse_dynamics(states.q, states.qd, states.qdd)

    def row(self, name: str, peer: Peer) -> LibraryResult:
        """What a library says, and why."""
        material, names = self._given.material(peer.formats), self._given.robot.joint_names
        explainer = Explainer(material.model, names, self._states, self._scale)
        case = Case(
            material.file,
            tuple(joint.name for joint in material.model.joints),
            material.model.base_link.name,
            explainer.states,
        )
        row = partial(LibraryResult, name, peer.title)
        try:
            answer = peer.answer(case)
        except PeerError as reason:
            return row(peer.version, "refused", f"{peer.title} refuses it: {reason}")
        if answer is None:
            advice = f"it can be installed with: pip install {peer.package}"
            return row(None, "not installed", advice)
        theirs = explainer.coordinates(answer.torque)
        row = partial(row, peer.version, **self._place(theirs))
        asked = slice(self._asked)
        if explainer.equal(theirs[asked], self._ours[asked]):
            gap = float(np.abs(theirs - self._ours)[asked].max())
            return row(status="agrees", explanation="the same to rounding", residual=gap)
        found = explainer.explain(theirs, causes(self._given, material, answer))
        chosen = found.choices[0] if found.choices else found.nearest
        return row(
            status="explained" if found.choices else "unexplained",
            explanation=_sentence(peer.title, found),
            causes=tuple(self._effect(explainer, cause) for cause in chosen),
            residual=float(np.abs(found.residual).max()),
        )

    def _place(self, theirs: Array) -> dict[str, Any]:
        """Where the largest difference is among the states that were asked for."""
        gap = np.abs(theirs - self._ours)[: self._asked]
        state, joint = (int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
        vectors = {key: getattr(self._states, key)[state] for key in ("q", "qd", "qdd")}
        return {
            "joint": self._given.robot.joint_names[joint],
            "state": state,
            "motion": {key: tuple(vector.tolist()) for key, vector in vectors.items()},
            "here": float(self._ours[state, joint]),
            "there": float(theirs[state, joint]),
            "differences": tuple(gap.max(axis=0).tolist()),
        }

    def _effect(self, explainer: Explainer, cause: Cause) -> Effect:
        change = explainer.torque((cause,)) - explainer.torque()
        return Effect(cause.name, cause.text, float(np.abs(change[: self._asked]).max()))


def _sentence(title: str, found: Explanation) -> str:
    if found.choices:
        return f"{title} " + ", or it ".join(map(_listed, found.choices))
    left = np.abs(found.residual).max()
    text = f"unexplained, largest residual {left:.3g}"
    return f"{text}, if {title} {_listed(found.nearest)}" if found.nearest else text


def _listed(choice: Choice) -> str:
    return "; ".join(cause.text for cause in choice)
