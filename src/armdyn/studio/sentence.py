"""The sentence on top of the page: what matters about the arm now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.simulation.limits import effort_limits
from armdyn.studio.arm import Arm, Snapshot
from armdyn.studio.style import WORDS

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
    model, state = arm.robot.model, snapshot.state
    joints = [model.joints[i] for i in model.independent]
    limits = effort_limits(model)
    share = np.abs(snapshot.total) / limits
    most = int(np.argmax(share))
    name = _name(most, arm.robot.joint_names)
    if share[most] > 1:
        text = f"{name} needs {_percent(share[most])} of its motor here: that is more than it has"
        return Sentence(f"{text}; {_cause(snapshot, most)}.", "over")
    speeds = np.abs(state.qd) / [joint.limits.velocity or np.inf for joint in joints]
    fast = int(np.argmax(speeds))
    if speeds[fast] > 1 + 1e-9:
        verb = "turns" if joints[fast].type.turns else "slides"
        over = f"{_name(fast, arm.robot.joint_names)} {verb} at {_percent(speeds[fast])}"
        return Sentence(f"{over} of its highest speed.", "over")
    stop = _stop(arm.robot.limits, state.q)
    at = "" if stop is None else f" {_name(stop, arm.robot.joint_names)} is at its stop."
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
    text = (
        f"{_name(most, arm.robot.joint_names)} needs most: {abs(snapshot.total[most]):.3g} {unit}"
    )
    return Sentence(f"{text}; {_cause(snapshot, most)}. No limit of its motor is known.{at}")


def _cause(snapshot: Snapshot, joint: int) -> str:
    """Which term the torque of a joint is made of."""
    total = float(snapshot.total[joint])
    shares = {k: float(v[joint]) / total for k, v in snapshot.terms.items() if v[joint]}
    (first, share), *others = sorted(shares.items(), key=lambda item: -item[1])
    word = WORDS.get(first, first)
    against = [WORDS.get(k, k) for k, value in others if value < -HALF]
    if share > 1 + HALF and against:
        return f"{word} is more than that, and {_listed(against)} takes part of it"
    if share > MOST:
        return f"{word} is nearly all of it"
    if share > HALF:
        return f"{word} is most of it"
    return f"{_listed([WORDS.get(k, k) for k, value in [(first, share), *others][:2]])} share it"


def _name(joint: int, names: Sequence[str]) -> str:
    """What a joint is called: Joint 2, with its own name where that says more."""
    own = names[joint]
    plain = own.lower().replace("_", "").replace(" ", "") in (f"joint{joint + 1}", f"j{joint + 1}")
    return f"Joint {joint + 1}" if plain else f"Joint {joint + 1} ({own})"


def _stop(ends: Array, q: Array) -> int | None:
    """The first joint at one of its limits (n, 2), which are infinite where there are none."""
    low, high = ends.T
    limited = np.isfinite(low) & np.isfinite(high) & (high > low)
    near = np.where(limited, AT_STOP * np.where(limited, high - low, 0.0), 0.0)
    at = limited & ((q <= low + near) | (q >= high - near))
    return int(np.argmax(at)) if at.any() else None


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 1 else "less than 1 %"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(words)
