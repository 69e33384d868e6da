"""The prismatic joint: the link slides along the axis."""

from armdyn.model.joint_types.joint_type import JointType

PRISMATIC = JointType(
    name="prismatic",
    letter="P",
    turn=0.0,
    slide=1.0,
    unit="m",
    torque_unit="N",
    inertia_unit="kg",
    reach=0.5,
    speed=0.5,
    acceleration=2.0,
    urdf=("prismatic",),
    mjcf="slide",
)
