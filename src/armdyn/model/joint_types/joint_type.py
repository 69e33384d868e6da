"""The record of a joint type: everything that is a fact of the type, in one place.

Every type turns its link about the axis z and slides it along z, both in proportion to the position
q: by the angle turn·q and the distance slide·q. So the motion subspace is S = (slide·z, turn·z),
linear part first, constant in the axes of the link; revolute is (0, z), prismatic (z, 0), and
helical (p·z, z) with the pitch p.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.model.transform import rotation_about, transform


@dataclass(frozen=True, slots=True)
class JointType:
    """How a joint moves its link, in which units, and what the formats call it."""

    name: str
    """Name in TOML files, DH tables and reports."""
    letter: str
    """Letter in the short form of an arm, such as "RRP"."""
    turn: float
    """Angle for a unit of position [rad per unit of position]."""
    slide: float
    """Distance along the axis for a unit of position [m per unit of position]."""
    unit: str = "rad"
    """Unit of the position."""
    torque_unit: str = "N·m"
    """Unit of the torque, or force, of the actuator."""
    inertia_unit: str = "kg m²"
    """Unit of what the joint accelerates."""
    reach: float = 0.0
    """How far the joint goes to either side where it has no limits [unit of position]."""
    speed: float = 0.0
    """An ordinary speed, for states that are drawn at random [unit of position / s]."""
    acceleration: float = 0.0
    """An ordinary acceleration, for the same [unit of position / s²]."""
    pitched: bool = False
    """Whether each joint has a slide of its own, its pitch."""
    urdf: tuple[str, ...] = ()
    """Types of URDF joints that are read as this one; the first is written, the second instead of
    it where the joint has no limits of position."""
    mjcf: str = ""
    """Type of MJCF joints that are read as this one."""

    @property
    def turns(self) -> bool:
        """Whether the link turns about the axis."""
        return self.turn != 0

    @property
    def slides(self) -> bool:
        """Whether the link slides along the axis."""
        return self.slide != 0

    @property
    def moves(self) -> bool:
        """Whether the link moves at all."""
        return self.turns or self.slides

    def angle(self, x: Any) -> Any:
        """turn·x: the angle, angular rate or acceleration for a position, rate or acceleration."""
        return _multiple(self.turn, x)

    def travel(self, x: Any) -> Any:
        """slide·x: the same along the axis."""
        return _multiple(self.slide, x)

    def combine(self, linear: Any, angular: Any) -> Any:
        """slide·linear + turn·angular, as Sᵀ takes of a wrench, and S gives to a twist."""
        if not self.turns:
            return _multiple(self.slide, linear)
        turned = _multiple(self.turn, angular)
        return turned + self.slide * linear if self.slides else turned

    def subspace(self, axis: Array) -> Array:
        """S for a joint about `axis`, linear part first, (..., 6)."""
        return np.concatenate([self.slide * axis, self.turn * axis], -1)

    def generator(self, axis: Array) -> Array:
        """The derivative of the motion at q = 0, (4, 4)."""
        x, y, z = self.turn * axis
        along = self.slide * axis
        D = np.zeros((4, 4), along.dtype)
        D[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
        D[:3, 3] = along
        return D

    def rotation(self, axis: Array, q: Any) -> Array:
        """Rotation of the link at position q (any batch shape, floats or nodes), (..., 3, 3)."""
        return rotation_about(axis, self.angle(q)) if self.turns else np.eye(3)

    def motion(self, axis: Array, q: float) -> Array:
        """The motion of the link at a constant position, (4, 4)."""
        return transform(self.rotation(axis, q), self.travel(q) * axis)


def _multiple(factor: float, x: Any) -> Any:
    """x·factor; an exact 0 or x where the factor is 0 or 1, so that nothing is traced for it."""
    if factor == 0:
        return 0.0
    return x if factor == 1 else x * factor
