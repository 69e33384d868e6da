"""Joints that follow a polynomial of another: a coupling, taken before or between loops."""

from dataclasses import dataclass, replace
from typing import Any, NoReturn

from armdyn.errors import LoopError
from armdyn.loops.dyad import Dyad, StandingDyad
from armdyn.loops.linear_step import LinearStep
from armdyn.loops.values import Values
from armdyn.model import Joint, Loop, RobotModel
from armdyn.model.cut_joints.coupling import composed, derivative, polynomial

MOST_TURNS = 12
"""Largest whole ratio at which a joint follows an angle that is known by its sine and cosine."""


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

    def accelerations(
        self, q: Values, qd: Values, qdd: Values, other: Values | None = None
    ) -> None:
        """Write the acceleration of the joint; with other rates it is the bilinear form of both."""
        leader = self.of.leader
        twin = qd if other is None else other
        turning = self.curvature * (qd[leader] * twin[leader])
        qdd[self.of.joint] = self.slope * qdd[leader] + turning

    def torques(self, q: Values, tau: Values) -> None:
        """Move the torque of the joint to its leader."""
        tau[self.of.leader] = tau[self.of.leader] + self.slope * tau[self.of.joint]


Step = Dyad | LinearStep | Follower
"""Joints that follow from those before; a LinearDyad is a linear step."""
StandingStep = StandingDyad | LinearStep | StandingFollower
"""A step at a configuration."""


def only_turns(joint: Joint) -> bool:
    """Whether a joint does nothing but turn, so that whole turns of it are alike."""
    return joint.type.turns and not joint.type.slides


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
    return whole and 0 < abs(ratio) <= MOST_TURNS and all(map(only_turns, ends))


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
