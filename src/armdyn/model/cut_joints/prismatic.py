"""The prismatic cut joint."""

from armdyn.model.cut_joints.cut_joint import ALIGNED, CutJoint
from armdyn.model.cut_joints.rows import Slide

PRISMATIC_CUT = CutJoint(
    "prismatic", (*ALIGNED, Slide(0), Slide(1)), "slides along the z axes of both frames"
)
