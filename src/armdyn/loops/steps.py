"""Steps of a closure: joints that follow others linearly, or along a polynomial of one.

So they do behind gears, in parallelograms, where the vectors of a dyad turn with known ones, and in
couplings, which are taken before or between loops.
"""

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, NoReturn

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.graph.nodes import Node
from armdyn.loops.dyad import Dyad, StandingDyad
from armdyn.loops.plane import Path, Segment, angle_of
from armdyn.loops.values import Values, turned
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import composed, derivative, polynomial

SAME_LENGTH = 1e-12
"""Largest relative difference of sides that are taken as equal."""
SAME_VECTOR = 1e-6
"""Largest relative difference of vectors in the assembly that tells which mode it is."""
EXACT_TURN = 1e-12
"""Angles this near to a multiple of a quarter turn are taken as one [rad]."""
MOST_TURNS = 12
"""Largest whole ratio at which a joint follows an angle that is known by its sine and cosine."""


@dataclass(frozen=True, slots=True)
class LinearStep:
    """Passive joints q = Σ ratio q_j + offset."""

    unknown: tuple[int, ...]
    ratios: tuple[Path, ...]
    """For each of them the joints that it follows, with ratios."""
    offsets: tuple[float, ...]

    def at(self, q: Values) -> "LinearStep":
        """The step itself, which is the same at all positions; those of its joints go into q."""
        for joint, ratios, offset in zip(self.unknown, self.ratios, self.offsets, strict=True):
            total: Any = 0.0
            for other, ratio in ratios:
                total = total + _times(ratio, q[other])
            q[joint] = total + offset
        return self

    def rates(self, q: Values, qd: Values) -> None:
        """Write the rates of the unknown joints."""
        for joint, ratios in zip(self.unknown, self.ratios, strict=True):
            qd[joint] = angle_of(qd, ratios)

    def accelerations(self, q: Values, qd: Values, twin: Values, qdd: Values) -> None:
        """Write the accelerations of the unknown joints."""
        self.rates(q, qdd)

    def torques(self, q: Values, tau: Values) -> None:
        """Move the torques of the unknown joints to the known ones."""
        for joint, ratios in zip(self.unknown[::-1], self.ratios[::-1], strict=True):
            for other, ratio in ratios:
                tau[other] = tau[other] + ratio * tau[joint]


def _times(ratio: float, x: Any) -> Any:
    """A multiple; a whole one of an angle is a sum, of which sine and cosine are known."""
    if isinstance(x, Node) and x.op != "input" and ratio and float(ratio).is_integer():
        total = reduce(add, [x] * int(abs(ratio)))
        return total if ratio > 0 else -total
    return ratio * x


@dataclass(frozen=True, slots=True)
class LinearDyad(LinearStep):
    """Two passive joints of a loop that follow linearly."""

    dyad: Dyad


def linear_dyad(dyad: Dyad, assembly: Array) -> LinearDyad | None:
    """The dyad as a linear one; None if it is none in the mode of the assembly."""
    if not all(dyad.turning):
        return None
    groups: dict[int, list[Segment]] = {-1: [], 0: [], 1: []}
    for segment in dyad.plane.segments:
        groups[dyad.group(segment)].append(segment)
    sides = [groups[0], groups[1]]
    known = groups[-1]
    simple = len(known) == 2 and all(len(side) == 1 for side in sides)
    if not simple or any(s.slide >= 0 for s in dyad.plane.segments):
        return None
    x, y = sides[0][0], sides[1][0]
    if dyad.after(x, 0) or dyad.after(y, 1):
        return None
    for a, b in (known, known[::-1]):
        if _opposite(x, a, assembly) and _opposite(y, b, assembly):
            return _following(dyad, ((x, a), (y, b)), assembly)
    return None


def _opposite(x: Segment, a: Segment, assembly: Array) -> bool:
    """Whether x is -a in the assembly, and as long."""
    lengths = np.hypot(*x.v), np.hypot(*a.v)
    if abs(lengths[0] - lengths[1]) > SAME_LENGTH * lengths[1]:
        return False
    X, A = (turned(float(angle_of(list(assembly), s.path)), s.v) for s in (x, a))
    return bool(np.hypot(X[0] + A[0], X[1] + A[1]) < SAME_VECTOR * lengths[1])


def _following(
    dyad: Dyad, pairs: tuple[tuple[Segment, Segment], ...], assembly: Array
) -> LinearDyad:
    """R(Θ) x = -R(θ) a, so Θ = θ + the angle from x to -a."""
    ratios, offsets = [], []
    for k, (x, a) in enumerate(pairs):
        *before, (joint, sign) = dyad.paths[k]
        phase = float(np.arctan2(-a.v[1], -a.v[0]) - np.arctan2(x.v[1], x.v[0]))
        quarters = round(phase / (np.pi / 2))
        phase = quarters * np.pi / 2 if abs(phase - quarters * np.pi / 2) < EXACT_TURN else phase
        total: dict[int, float] = {}
        for path, factor in ((a.path, sign), (tuple(before), -sign)):
            for other, ratio in path:
                total[other] = total.get(other, 0.0) + factor * ratio
        ratios.append(tuple((j, ratio) for j, ratio in total.items() if ratio))
        offset = sign * phase
        missing = float(assembly[joint]) - offset - float(angle_of(list(assembly), ratios[-1]))
        offsets.append(offset + 2 * np.pi * round(missing / (2 * np.pi)))
    return LinearDyad(dyad.unknown, tuple(ratios), tuple(offsets), dyad)


@dataclass(frozen=True, slots=True)
class Follower:
    """A joint q = c₀ + c₁ q_leader + c₂ q_leader² + ..."""

    joint: int
    leader: int
    coefficients: tuple[float, ...]

    @property
    def unknown(self) -> tuple[int, ...]:
        """The joint that follows."""
        return (self.joint,)

    def at(self, q: Values) -> "StandingFollower":
        """The coupling at the position of its leader; that of the joint is written into q."""
        x = q[self.leader]
        slopes = derivative(self.coefficients)
        q[self.joint] = polynomial(self.coefficients, x)
        return StandingFollower(self, polynomial(slopes, x), polynomial(derivative(slopes), x))


@dataclass(frozen=True, slots=True, eq=False)
class StandingFollower:
    """A coupling at one position of its leader, or a batch of them."""

    of: Follower
    slope: Any
    """First derivative of the polynomial."""
    curvature: Any
    """The second one."""

    def rates(self, q: Values, qd: Values) -> None:
        """Write the rate of the joint."""
        qd[self.of.joint] = self.slope * qd[self.of.leader]

    def accelerations(self, q: Values, qd: Values, twin: Values, qdd: Values) -> None:
        """Write the acceleration of the joint, by the bilinear form of its rates and their twin."""
        leader = self.of.leader
        turning = self.curvature * (qd[leader] * twin[leader])
        qdd[self.of.joint] = self.slope * qdd[leader] + turning

    def torques(self, q: Values, tau: Values) -> None:
        """Move the torque of the joint to its leader."""
        tau[self.of.leader] = tau[self.of.leader] + self.slope * tau[self.of.joint]


Step = Dyad | LinearStep | Follower
"""Joints that follow from those before; a LinearDyad is a linear step."""
StandingStep = StandingDyad | LinearStep | StandingFollower
"""A step at a configuration."""


def from_root(model: RobotModel, loop: Loop) -> Loop:
    """A coupling to the joint that leads its leader, and that follows no other."""
    leading = {other.link_a: other for other in model.loops if other.couples}
    while (up := leading.get(loop.link_b)) is not None:
        coefficients = composed(loop.coefficients, up.coefficients)
        loop = replace(loop, link_b=up.link_b, coefficients=coefficients)
    return loop


def turns_wholly(model: RobotModel, loop: Loop) -> bool:
    """Whether a joint that turns follows one that turns by a whole ratio.

    Sine and cosine of the leader are all that is needed then.
    """
    ratio = loop.coefficients[1]
    whole = not any(loop.coefficients[2:]) and float(ratio).is_integer()
    ends = (model.joints[i] for i in (loop.link_a, loop.link_b))
    return whole and 0 < abs(ratio) <= MOST_TURNS and all(joint.type.only_turns for joint in ends)


def following(loop: Loop) -> LinearStep | Follower:
    """A coupling as a step of a closure."""
    if any(loop.coefficients[2:]):
        return Follower(loop.link_a, loop.link_b, loop.coefficients)
    offset, ratio = loop.coefficients[:2]
    return LinearStep((loop.link_a,), (((loop.link_b, ratio),),), (offset,))


def refuse_leader(model: RobotModel, loop: Loop) -> NoReturn:
    """Refuse a coupling to the angle of a passive joint, of which nothing but a whole ratio is."""
    leader, joint = model.joints[loop.link_b], model.joints[loop.link_a]
    raise LoopError(
        f"{loop.where} of {model.name!r}: joint {joint.name!r} follows {leader.name!r}, which is "
        "moved by a loop, so that its angle is known by sine and cosine alone; a joint can follow "
        f"it by a whole ratio up to {MOST_TURNS} if both turn, or make {leader.name!r} the "
        "actuated one",
        loop=loop.name,
    )
