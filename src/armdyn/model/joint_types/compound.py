"""Compound joints of descriptions: chains of simple joints, with links without mass between them.

Joint "hip" becomes "hip_x", "hip_y" and so on, from the parent to the child. Their axes are those
of the joint frame, turned the shortest way so that its z lies along the axis of the joint.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.model.joint_types.joint_type import JointType
from armdyn.model.joint_types.prismatic import PRISMATIC
from armdyn.model.joint_types.revolute import REVOLUTE
from armdyn.model.transform import skew

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class CompoundType:
    """A joint with several coordinates."""

    name: str
    """Name in TOML files."""
    parts: tuple[tuple[str, JointType, tuple[float, float, float]], ...]
    """Ending of the name, type and axis of each simple joint, in the order in which they move."""
    urdf: tuple[str, ...] = ()
    """Types of URDF joints that are read as this one."""
    mjcf: str = ""
    """Type of MJCF joints that are read as this one."""

    @property
    def turns(self) -> bool:
        """Whether the link turns."""
        return any(kind.turns for _, kind, _ in self.parts)

    @property
    def has_one_unit(self) -> bool:
        """Whether all its positions have the same unit, so that one number can be for all."""
        return len({kind.unit for _, kind, _ in self.parts}) == 1


PLANAR = CompoundType(
    "planar", (("x", PRISMATIC, X), ("y", PRISMATIC, Y), ("turn", REVOLUTE, Z)), urdf=("planar",)
)
UNIVERSAL = CompoundType("universal", (("x", REVOLUTE, X), ("y", REVOLUTE, Y)))
CYLINDRICAL = CompoundType("cylindrical", (("turn", REVOLUTE, Z), ("slide", PRISMATIC, Z)))
SPHERICAL = CompoundType(
    "spherical", (("x", REVOLUTE, X), ("y", REVOLUTE, Y), ("z", REVOLUTE, Z)), mjcf="ball"
)
"""R = Rx Ry Rz; at a right angle of y the axes of x and z are parallel: singular."""

COMPOUND_TYPES = {kind.name: kind for kind in (PLANAR, UNIVERSAL, CYLINDRICAL, SPHERICAL)}
"""Every compound type by its name."""


def frame_along(axis: Array) -> Array:
    """The shortest turn that takes z to a unit vector, (3, 3); a half turn about x to -z."""
    if axis[2] < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    S = skew(np.cross(Z, axis))
    turn: Array = np.eye(3) + S + S @ S / (1 + axis[2])
    return turn
