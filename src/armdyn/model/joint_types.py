"""The types of joints as a table: everything that is a fact of a type, in one place.

Every simple type turns its link about the axis z and slides it along z, both in proportion to the
position q: by the angle turn·q and the distance slide·q. So the motion subspace is S = (slide·z,
turn·z), linear part first, constant in the axes of the link; revolute is (0, z), prismatic (z, 0),
and helical (p·z, z) with the pitch p. A compound type is a chain of simple ones, with links without
mass between them: joint "hip" becomes "hip_x", "hip_y" and so on, from the parent to the child.
Their axes are those of the joint frame, turned the shortest way so that its z lies along the axis.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import ModelError, UnknownNameError, shown
from armdyn.model.transform import rotation_about, transform


@record
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
    def only_turns(self) -> bool:
        """Whether it does nothing but turn, so that whole turns of it are alike."""
        return self.turns and not self.slides

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


@record
class CompoundType:
    """A joint of descriptions with several coordinates."""

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


REVOLUTE = JointType(
    name="revolute",
    letter="R",
    turn=1.0,
    slide=0.0,
    reach=math.pi,
    speed=2.0,
    acceleration=5.0,
    urdf=("revolute", "continuous"),
    mjcf="hinge",
)
PRISMATIC = JointType(
    name="prismatic",
    letter="P",
    turn=0.0,
    slide=1.0,
    unit="m",
    torque_unit="N",
    inertia_unit="kg",
    reach=0.5,
    speed=0.5,
    acceleration=2.0,
    urdf=("prismatic",),
    mjcf="slide",
)
HELICAL = replace(REVOLUTE, name="helical", letter="H", slide=1.0, pitched=True, urdf=(), mjcf="")
"""The screw of pitch 1 m/rad, right-handed; `joint_type` makes those of other pitches. The position
is the angle; the lead, the distance for a whole turn, is 2π·pitch."""
FIXED = JointType(name="fixed", letter="F", turn=0.0, slide=0.0, urdf=("fixed",))
"""A joint of descriptions, which does not move; `assemble` merges its link."""
JOINT_TYPES = {kind.name: kind for kind in (REVOLUTE, PRISMATIC, HELICAL, FIXED)}
"""Every simple type by its name."""

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
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
DESCRIBED_TYPES: dict[str, JointType | CompoundType] = {**JOINT_TYPES, **COMPOUND_TYPES}
"""Every type that a description may have, by its name."""


def described_type(name: str, pitch: float | None = None) -> JointType | CompoundType:
    """The simple or compound type of that name; see `joint_type`."""
    if name not in COMPOUND_TYPES:
        return joint_type(name, pitch)
    _check_no_pitch(name, pitch)
    return COMPOUND_TYPES[name]


def joint_type(given: JointType | str, pitch: float | None = None) -> JointType:
    """The simple type itself, or the one of that name.

    Args:
        given: A type or its name.
        pitch: Distance for one radian of a helical joint, and of no other [m/rad].
    """
    if isinstance(given, JointType):
        return given
    if given not in JOINT_TYPES:
        raise UnknownNameError("joint type", given, DESCRIBED_TYPES)
    kind = JOINT_TYPES[given]
    if not kind.pitched:
        _check_no_pitch(given, pitch)
        return kind
    if pitch is None:
        raise ModelError(
            f"a {given} joint needs its pitch, in metres per radian: the lead divided by 2π"
        )
    if not math.isfinite(pitch) or pitch == 0:
        raise ModelError(
            f"the pitch of a {given} joint is a finite number of metres per radian, and not 0, "
            f"with which it would be revolute; got {shown(pitch)}"
        )
    return replace(kind, slide=float(pitch))


def _check_no_pitch(name: str, pitch: float | None) -> None:
    if pitch is not None:
        raise ModelError(f"a {name} joint has no pitch; leave it out, or make the joint helical")


def _multiple(factor: float, x: Any) -> Any:
    """x·factor; an exact 0 or x where the factor is 0 or 1, so that nothing is traced for it."""
    if factor == 0:
        return 0.0
    return x if factor == 1 else x * factor
