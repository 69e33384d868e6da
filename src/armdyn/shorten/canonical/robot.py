"""The robot in modified Denavit-Hartenberg frames, as data."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.model.joint_types import JointType
from armdyn.model.robot import paths_from_parents
from armdyn.model.transform import quarter_exact, rotation_z

Scalar = Any
"""A number, or an expression node where the robot is symbolic."""


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalLink:
    """Link i with the joint that carries it; entries are numbers or nodes."""

    name: str
    """Name of the joint."""
    parent: int
    """Index of the parent link; -1 is the base."""
    type: JointType
    alpha: Scalar
    """Twist α from the parent's z axis to this one [rad]."""
    across: Array
    """Position of the joint in the parent frame, without the part r along z, shape (3,) [m]."""
    theta: Scalar
    """Angle offset θ [rad]."""
    r: Scalar
    """Offset along z [m]."""
    J: Array
    """Second moment ∫ r rᵀ dm about the frame origin, shape (3, 3) [kg m²]."""
    u: Array
    """First moment, shape (3,) [kg m]."""
    M: Scalar
    """Mass [kg]."""
    gamma: Scalar = 0.0
    """Angle γ about the parent's z axis to the common normal [rad]."""
    sign: int = 1
    """-1 where z points against the joint's own axis, so that q counts backwards."""
    gravity: Array = field(default_factory=lambda: frozen(np.zeros(3)))
    """For a joint on the base: the field of gravity in the axes before its motion [m/s²]."""


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalRobot:
    """A tree of links in modified Denavit-Hartenberg frames."""

    name: str
    links: tuple[CanonicalLink, ...]
    snapped: float = 0.0
    """What taking numbers for exact zeros did to the torques: the largest difference measured over
    random states, relative to the largest torque of the joint; 0 where only rounding was taken."""

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of the parent of each link; -1 is the base."""
        return tuple(link.parent for link in self.links)

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each link the joints from the base up to and including its own."""
        return paths_from_parents(self.parents)


def cos_sin(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine of a constant angle, exact for quarter turns."""
    return quarter_exact(angle) if isinstance(angle, float) else (np.cos(angle), np.sin(angle))


def is_quarter(angle: Scalar) -> bool:
    """Whether a constant angle is a whole number of quarter turns."""
    return isinstance(angle, float) and 0.0 in quarter_exact(angle)


def twist(link: CanonicalLink) -> Array:
    """The rotation Rz(γ) Rx(α) from the axes before the joint's motion to the parent's."""
    (cg, sg), (ca, sa) = cos_sin(link.gamma), cos_sin(link.alpha)
    rows = [[cg, -sg * ca, sg * sa], [sg, cg * ca, -cg * sa], [0.0, sa, ca]]
    return np.array(rows)


def with_tip_phase(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot with its last frames turned about z so that their first moment lies along x.

    It costs an addition to q where θ was no offset before, and saves a component of u.
    """
    carrying = set(robot.parents)
    links = []
    for i, link in enumerate(robot.links):
        if i in carrying or not link.type.turns or not (link.u[0] and link.u[1]):
            links.append(link)
            continue
        phi = math.atan2(link.u[1], link.u[0])
        c, s = math.cos(phi), math.sin(phi)
        R = rotation_z(c, s)
        u = np.array([math.hypot(link.u[0], link.u[1]), 0.0, link.u[2]])
        J = R.T @ link.J @ R
        links.append(replace(link, theta=link.theta + phi, u=frozen(u), J=frozen(J)))
    return replace(robot, links=tuple(links))
