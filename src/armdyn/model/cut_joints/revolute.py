"""The revolute cut joint."""

from armdyn.model.cut_joints.cut_joint import PARALLEL, POINT, CutJoint

REVOLUTE_CUT = CutJoint("revolute", (*POINT, *PARALLEL), "turns about the z axes of both frames")
