"""The revolute joint: the link turns about the axis."""

import math

from armdyn.model.joint_types.joint_type import JointType

REVOLUTE = JointType(
    name="revolute",
    letter="R",
    turn=1.0,
    slide=0.0,
    unit="rad",
    torque_unit="N·m",
    inertia_unit="kg m²",
    reach=math.pi,
    speed=2.0,
    acceleration=5.0,
    urdf=("revolute", "continuous"),
    mjcf="hinge",
)
