"""The spherical cut joint."""

from armdyn.model.cut_joints.cut_joint import POINT, CutJoint

SPHERICAL = CutJoint("spherical", POINT, "turns freely about one point")
