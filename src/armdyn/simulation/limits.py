"""Where a motion or its torques go beyond the limits of the joints."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from armdyn.arrays import Array
from armdyn.model import Joint, RobotModel
from armdyn.report.result import Section

DEGREES_BEYOND = 4 * np.pi
"""An angle beyond its limits and beyond this is taken for one in degrees [rad]."""


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit of a joint that a motion exceeds, at the instant where it does so most."""

    joint: str
    what: Literal["position", "speed", "torque", "force"]
    limit: float
    value: float
    """What is reached there; of a speed or a torque the magnitude."""
    t: float
    """When it is reached [s]."""
    first: float
    """When the limit is first exceeded [s]."""
    unit: str

    @property
    def beyond(self) -> float:
        """By how much the limit is exceeded."""
        return abs(self.value - self.limit)

    @property
    def looks_like_degrees(self) -> bool:
        """Whether it is an angle that may have been written in degrees."""
        angle = self.what == "position" and self.unit == "rad"
        return angle and abs(self.value) > DEGREES_BEYOND

    def __str__(self) -> str:
        hint = "; degrees?" if self.looks_like_degrees else ""
        since = "" if self.first == self.t else f", beyond it from {self.first:.4g} s on"
        return (
            f"{self.joint}: {self.what} {self.value:.4g} {self.unit} at {self.t:.4g} s, "
            f"{self.beyond:.3g} beyond its limit of {self.limit:.4g}{since}{hint}"
        )

    def data(self) -> dict[str, Any]:
        """The excess as plain data, with the sentence that says it."""
        return asdict(self) | {"beyond": self.beyond, "text": str(self)}


def excess_section(excesses: Sequence[Excess], *, given: bool = True) -> Section:
    """By how much and when limits are exceeded, by a motion that was given; empty if none is."""
    rows = tuple(
        (
            *(x.joint, x.what, x.unit, *(f"{v:.4g}" for v in (x.limit, x.value, x.beyond))),
            *(f"{x.t:.3f}", f"{x.first:.3f}"),
        )
        for x in excesses
    )
    degrees = given and any(excess.looks_like_degrees for excess in excesses)
    hint = "angles so far beyond their limits may be in degrees; armdyn takes radians"
    columns = ("joint", "what", "", "limit", "reached", "beyond", "at [s]", "from [s]")
    title = "warning: beyond limits" if rows else ""
    return Section(title, (hint,) if degrees else (), columns, rows, 3)


def many_turns(model: RobotModel, q: Array) -> Iterator[str]:
    """Sentences on joints without limits whose positions (..., n) may be in degrees."""
    for i, joint in enumerate(model.coordinate_joints):
        largest = float(np.abs(q[..., i]).max())
        free = np.isinf(joint.limits.lower) and np.isinf(joint.limits.upper)
        if joint.type.turns and free and largest > DEGREES_BEYOND:
            turns = largest / (2 * np.pi)
            yield f"{joint.name} is at {largest:.4g} rad, {turns:.3g} turns, and has no limits"


def excesses(model: RobotModel, t: Array, q: Array, qd: Array, tau: Array) -> tuple[Excess, ...]:
    """The limits exceeded at times (m,) [s] by the joints of one arm or many, (..., m, n)."""
    return tuple(
        found
        for i, joint in enumerate(model.coordinate_joints)
        for each in _limited(joint, q[..., i], qd[..., i], tau[..., i])
        if (found := _excess(joint, t, *each)) is not None
    )


def _limited(joint: Joint, q: Array, qd: Array, tau: Array) -> Iterator[tuple[Any, ...]]:
    """What is limited: its name, unit, limit and values, and how far they are beyond it."""
    limits = joint.limits
    unit = joint.type.unit
    yield "position", unit, limits.lower, q, limits.lower - q
    yield "position", unit, limits.upper, q, q - limits.upper
    # zero is written where a limit is not known
    speed = limits.velocity or np.inf
    yield "speed", f"{unit}/s", speed, np.abs(qd), np.abs(qd) - speed
    effort = limits.effort or np.inf
    what = "torque" if joint.type.turns else "force"
    yield what, joint.type.torque_unit, effort, np.abs(tau), np.abs(tau) - effort


def _excess(
    joint: Joint, t: Array, what: Any, unit: str, limit: float, values: Array, over: Array
) -> Excess | None:
    over = over.reshape(-1, len(t))
    beyond = (over > 0).any(axis=0)
    if not beyond.any():
        return None
    arm, k = np.unravel_index(over.argmax(), over.shape)
    value = values.reshape(-1, len(t))[arm, k]
    first = t[beyond.argmax()]
    return Excess(joint.name, what, limit, float(value), float(t[k]), float(first), unit)
