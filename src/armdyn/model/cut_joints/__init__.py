"""The joints that close loops, one file each; a new one is added here."""

from armdyn.errors import check_known
from armdyn.model.cut_joints.coupling import COUPLING as COUPLING
from armdyn.model.cut_joints.cut_joint import CutJoint as CutJoint
from armdyn.model.cut_joints.cylindrical import CYLINDRICAL
from armdyn.model.cut_joints.distance import DISTANCE as DISTANCE
from armdyn.model.cut_joints.fixed import FIXED_CUT
from armdyn.model.cut_joints.planar import PLANAR
from armdyn.model.cut_joints.prismatic import PRISMATIC_CUT
from armdyn.model.cut_joints.revolute import REVOLUTE_CUT as REVOLUTE_CUT
from armdyn.model.cut_joints.rows import FrameMotion as FrameMotion
from armdyn.model.cut_joints.spherical import SPHERICAL as SPHERICAL

CUT_JOINTS = {
    kind.name: kind
    for kind in (
        *(REVOLUTE_CUT, PRISMATIC_CUT, CYLINDRICAL),
        *(SPHERICAL, PLANAR, DISTANCE, FIXED_CUT, COUPLING),
    )
}
"""Every cut joint by its name."""


def cut_joint(name: str) -> CutJoint:
    """The cut joint of that name."""
    check_known("cut joint of a loop named", name, CUT_JOINTS)
    return CUT_JOINTS[name]
