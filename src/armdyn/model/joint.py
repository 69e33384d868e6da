"""Joints: how one link moves on another, what the motor adds and what friction takes."""

import math
from dataclasses import dataclass, field
from typing import Literal

from armdyn.arrays import Array

Kind = Literal["revolute", "prismatic", "fixed"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a joint may do; infinite where nothing is known."""

    lower: float = -math.inf
    """Lowest position [rad or m]."""
    upper: float = math.inf
    """Highest position [rad or m]."""
    velocity: float = math.inf
    """Highest speed [rad/s or m/s]."""
    effort: float = math.inf
    """Highest torque or force of the actuator [N m or N]."""


@dataclass(frozen=True, slots=True)
class Friction:
    """Friction at the joint (not at the motor), which the actuator must overcome.

    With s = sgn(qd), sgn(0) = 0, or s = tanh(qd / smooth_velocity) where that is set, the torque is

        viscous·qd  +  coulomb·s  +  stribeck·exp(-(qd / stribeck_velocity)²)·s

    where `coulomb` is `coulomb_positive` for qd > 0 and `coulomb_negative` for qd < 0.
    """

    viscous: float = 0.0
    """Viscous coefficient [N m s/rad or N s/m]."""
    coulomb_positive: float = 0.0
    """Magnitude of dry friction against motion in the positive direction [N m or N]."""
    coulomb_negative: float = 0.0
    """Magnitude of dry friction against motion in the negative direction [N m or N]."""
    stribeck: float = 0.0
    """How much the break-away torque exceeds the Coulomb torque [N m or N]."""
    stribeck_velocity: float = math.inf
    """Speed over which that excess dies out [rad/s or m/s]."""
    smooth_velocity: float = 0.0
    """Speed over which the sign changes smoothly [rad/s or m/s]; 0: a true sign."""

    @property
    def is_zero(self) -> bool:
        """Whether the joint is free of friction."""
        return not (self.viscous or self.coulomb_positive or self.coulomb_negative or self.stribeck)

    @property
    def fault(self) -> str:
        """Why no joint can have this friction; empty if one can."""
        for key, value in (
            ("viscous", self.viscous),
            ("coulomb", self.coulomb_positive),
            ("coulomb", self.coulomb_negative),
            ("stribeck", self.stribeck),
            ("smooth_velocity", self.smooth_velocity),
        ):
            if not 0 <= value < math.inf:
                return f"{key} is a magnitude and cannot be negative or infinite, got {value!r}"
        if self.stribeck and not self.stribeck_velocity > 0:
            return (
                f"stribeck = {self.stribeck!r} needs a positive stribeck_velocity [rad/s or m/s], "
                f"got {self.stribeck_velocity!r}"
            )
        if not self.stribeck_velocity >= 0:
            return (
                "stribeck_velocity is a magnitude and cannot be negative, "
                f"got {self.stribeck_velocity!r}"
            )
        return ""


@dataclass(frozen=True, slots=True)
class Rotor:
    """The rotor of a motor behind a gear, whose gyroscopic effect is neglected."""

    inertia: float = 0.0
    """Inertia of the rotor about its own axis, on the motor side [kg m² or kg]."""
    gear_ratio: float = 1.0
    """Turns of the motor for one of the joint; the sign has no effect on the inertia."""

    @property
    def reflected(self) -> float:
        """What the rotor adds to the diagonal of the mass matrix: gear_ratio² · inertia."""
        return self.gear_ratio**2 * self.inertia

    @property
    def fault(self) -> str:
        """Why no joint can have this rotor; empty if one can."""
        if not 0 <= self.inertia < math.inf:
            return f"rotor_inertia cannot be negative or infinite, got {self.inertia!r}"
        if not math.isfinite(self.gear_ratio) or (self.inertia and not self.gear_ratio):
            return (
                f"gear_ratio is {self.gear_ratio!r}; a rotor that turns with the joint needs a "
                "finite ratio other than 0"
            )
        return ""


@dataclass(frozen=True, slots=True)
class Mimic:
    """A joint that follows another: q = multiplier · q_leader + offset."""

    leader: str
    """Name of the joint that is followed."""
    multiplier: float = 1.0
    """Ratio of the two motions."""
    offset: float = 0.0
    """Position of the follower when the leader is at zero [rad or m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Joint i, which carries link i.

    The frame of link i in the frame of its parent is `placement` @ motion(q); the motion turns
    about `axis` (revolute) or slides along it (prismatic). So the origin of link i lies on the axis
    of joint i, whatever convention the robot came from.
    """

    name: str
    kind: Kind
    """"revolute" or "prismatic"; "fixed" exists only until `assemble` has merged it."""
    parent: int
    """Index of the parent link; -1 is the base."""
    placement: Array
    """The joint in the frame of the parent link, shape (4, 4)."""
    axis: Array
    """Unit vector of the axis, the same in the frames before and after the motion, shape (3,)."""
    limits: Limits = field(default_factory=Limits)
    friction: Friction = field(default_factory=Friction)
    rotor: Rotor = field(default_factory=Rotor)
    mimic: Mimic | None = None

    @property
    def prismatic(self) -> bool:
        """Whether the joint slides."""
        return self.kind == "prismatic"
