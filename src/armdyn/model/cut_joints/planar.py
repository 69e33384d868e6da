"""The planar cut joint."""

from armdyn.model.cut_joints.cut_joint import PARALLEL, CutJoint
from armdyn.model.cut_joints.rows import Slide

PLANAR = CutJoint(
    "planar",
    (*PARALLEL, Slide(2)),
    "slides in the plane of the x and y axes of frame b and turns about its normal",
)
