"""The fixed cut joint."""

from armdyn.model.cut_joints.cut_joint import ALIGNED, POINT, CutJoint

FIXED_CUT = CutJoint("fixed", (*POINT, *ALIGNED), "holds the two frames together")
