"""Joints and drives: how one link moves on another, what motors add and what friction takes."""

import math
from dataclasses import field

from armdyn.arrays import Array, record
from armdyn.model.friction import FrictionLaw
from armdyn.model.joint_types import JointType


@record
class Limits:
    """Lowest and highest position, highest speed and highest torque or force of the actuator.

    Units are rad or m, rad/s or m/s, N m or N; a limit is infinite where nothing is known. The
    continuous effort is the root mean square that the actuator can give for ever.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    continuous_effort: float = math.inf


@record
class Rotor:
    """The rotor of a motor behind a gear.

    Without an axis it adds to the diagonal of the mass matrix alone. With one it spins on its
    carrier as well, whose mass and tensor hold it as if it were locked.
    """

    inertia: float = 0.0
    """Inertia of the rotor about its own axis, on the motor side [kg m² or kg]."""
    gear_ratio: float = 1.0
    """Turns of the motor, against its carrier, for one of the joint [rad/rad or rad/m]; the sign
    matters only if the rotor spins."""
    axis: tuple[float, float, float] | None = None
    """Unit vector that it spins about, in the axes of the carrier; None: it is neglected."""
    carrier: str = ""
    """The link, or named frame on a link, that its stator is part of."""

    @property
    def spins(self) -> bool:
        """Whether more of it is known than its inertia behind the gear."""
        return self.axis is not None

    @property
    def reflecting(self) -> "Rotor":
        """The rotor with no more than its inertia behind the gear."""
        return Rotor(self.inertia, self.gear_ratio)

    @property
    def reflected(self) -> float:
        """What the rotor adds to the diagonal of the mass matrix: gear_ratio² · inertia."""
        return self.gear_ratio * self.gear_ratio * self.inertia

    @property
    def fault(self) -> str:
        """Why no joint can have this rotor; empty if one can."""
        if not 0 <= self.inertia < math.inf:
            return f"rotor_inertia cannot be negative or infinite, got {self.inertia!r}"
        turns = bool(self.inertia) or self.spins
        if not math.isfinite(self.gear_ratio) or (turns and not self.gear_ratio):
            return (
                f"gear_ratio is {self.gear_ratio!r}; a rotor that turns with the joint needs a "
                "finite ratio other than 0"
            )
        if not math.isfinite(self.reflected):
            return f"gear_ratio² · rotor_inertia is infinite, with the ratio {self.gear_ratio!r}"
        if (self.axis is None) != (not self.carrier):
            return "a rotor that spins needs both rotor_axis and rotor_carrier, or neither of them"
        if self.axis is not None and not abs(math.hypot(*self.axis) - 1.0) < 1e-9:
            return f"the axis of its rotor is no unit vector, {self.axis!r}"
        return ""


@record
class Transmission:
    """What gives between a motor and its joint: a spring, and a damper beside it, behind the gear.

    Quantities of the rigid arm know nothing of it; `Robot.elastic` has those of motor and link.
    """

    stiffness: float = math.inf
    """How far it winds up, at the side of the link [N m/rad or N/m]; infinite: it is rigid."""
    damping: float = 0.0
    """What takes the energy of its vibrations, at the same side [N m s/rad or N s/m]."""
    friction_side: str = "motor"
    """Which of its ends the friction of the joint acts on, "motor" or "link"."""

    @property
    def gives(self) -> bool:
        """Whether motor and link move apart."""
        return math.isfinite(self.stiffness)

    def fault(self, rotor: Rotor) -> str:
        """Why no joint with this rotor can have it; empty if one can."""
        if not self.stiffness > 0:
            return f"transmission_stiffness must be positive, got {self.stiffness!r}"
        if not 0 <= self.damping < math.inf:
            return f"transmission_damping cannot be negative or infinite, got {self.damping!r}"
        if self.gives and not rotor.inertia:
            return (
                "a transmission_stiffness lets the motor move apart from the link, and the motor "
                "has no inertia; give it a rotor_inertia"
            )
        return ""


@record
class Mimic:
    """A joint that follows the one named leader: q = multiplier · q_leader + offset [rad or m]."""

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


@record(eq=False)
class Joint:
    """Joint i, which carries link i.

    The frame of link i in the frame of its parent is `placement` @ motion(q); the motion turns
    about `axis` and slides along it as the type says. So the origin of link i lies on the axis of
    joint i, whatever convention the robot came from.
    """

    name: str
    type: JointType
    """How it moves; fixed ones exist only until `assemble` has merged them."""
    parent: int
    """Index of the parent link; -1 is the base."""
    placement: Array
    """The joint in the frame of the parent link, shape (4, 4)."""
    axis: Array
    """Unit vector of the axis, the same in the frames before and after the motion, shape (3,)."""
    limits: Limits = field(default_factory=Limits)
    friction: FrictionLaw = field(default_factory=FrictionLaw)
    rotor: Rotor = field(default_factory=Rotor)
    mimic: Mimic | None = None
    actuated: bool = True
    """Whether it has a motor; one that has none follows from the loops of the robot."""
    transmission: Transmission = field(default_factory=Transmission)

    @property
    def kind(self) -> str:
        """The name of its type, such as "revolute"."""
        return self.type.name

    @property
    def fault(self) -> str:
        """Why its motor cannot move apart from it as its transmission says; empty if it can."""
        follows = self.mimic is not None or not self.actuated
        if self.transmission.gives and follows:
            return "it follows others and has no motor of its own, so no transmission_stiffness"
        return self.transmission.fault(self.rotor)

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest position [rad or m]; finite, by the type's reach without limits."""
        low, high = sorted((self.limits.lower, self.limits.upper))
        if math.isinf(low) and math.isinf(high):
            return -self.type.reach, self.type.reach
        if math.isinf(low):
            return high - 2 * self.type.reach, high
        return low, low + 2 * self.type.reach if math.isinf(high) else high


@record
class Drive:
    """A motor behind a gear whose rate is a combination of the rates of joints.

    Its rotor and its friction act along that combination: what they need is felt at each joint
    times its ratio. What turns with one joint alone belongs to that joint.
    """

    name: str
    ratios: tuple[tuple[str, float], ...]
    """The joints, and how much the output of the gear turns with each."""
    rotor: Rotor = field(default_factory=Rotor)
    friction: FrictionLaw = field(default_factory=FrictionLaw)

    @property
    def fault(self) -> str:
        """Why no robot can have this drive; empty if one can."""
        names = [joint for joint, _ in self.ratios]
        if not names:
            return "it turns with no joint"
        if len(set(names)) < len(names):
            return "a joint is named twice"
        for joint, ratio in self.ratios:
            if not math.isfinite(ratio) or not ratio:
                return f"the ratio of {joint!r} must be finite and not 0, got {ratio!r}"
        return self.rotor.fault or self.friction.fault
