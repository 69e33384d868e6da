"""The types of joints, one file each; a new type is added here."""

from armdyn.errors import UnknownNameError
from armdyn.model.joint_types.fixed import FIXED as FIXED
from armdyn.model.joint_types.joint_type import JointType as JointType
from armdyn.model.joint_types.prismatic import PRISMATIC as PRISMATIC
from armdyn.model.joint_types.revolute import REVOLUTE as REVOLUTE

JOINT_TYPES = {kind.name: kind for kind in (REVOLUTE, PRISMATIC, FIXED)}
"""Every type by its name."""


def joint_type(given: JointType | str) -> JointType:
    """The type itself, or the type of that name."""
    if isinstance(given, JointType):
        return given
    if given not in JOINT_TYPES:
        raise UnknownNameError("joint type", given, JOINT_TYPES)
    return JOINT_TYPES[given]
