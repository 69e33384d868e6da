"""The cylindrical cut joint."""

from armdyn.model.cut_joints.cut_joint import PARALLEL, CutJoint
from armdyn.model.cut_joints.rows import Slide

CYLINDRICAL = CutJoint(
    "cylindrical",
    (*PARALLEL, Slide(0), Slide(1)),
    "turns about and slides along the z axes of both frames",
)
