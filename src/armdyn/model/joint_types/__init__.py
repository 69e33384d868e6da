"""The types of joints, one file each; a new type is added here."""

import math
from dataclasses import replace

from armdyn.errors import ModelError, UnknownNameError, shown
from armdyn.model.joint_types.compound import COMPOUND_TYPES as COMPOUND_TYPES
from armdyn.model.joint_types.compound import CompoundType as CompoundType
from armdyn.model.joint_types.fixed import FIXED as FIXED
from armdyn.model.joint_types.helical import HELICAL
from armdyn.model.joint_types.joint_type import JointType as JointType
from armdyn.model.joint_types.prismatic import PRISMATIC as PRISMATIC
from armdyn.model.joint_types.revolute import REVOLUTE as REVOLUTE

JOINT_TYPES = {kind.name: kind for kind in (REVOLUTE, PRISMATIC, HELICAL, FIXED)}
"""Every simple type by its name."""
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
