"""The distance cut joint: a light rod between two balls."""

from armdyn.model.cut_joints.cut_joint import CutJoint
from armdyn.model.cut_joints.rows import Distance

DISTANCE = CutJoint(
    "distance", (Distance(),), "a light rod of one length between two balls", has_length=True
)
