"""The fixed joint of descriptions, which does not move; `assemble` merges its link."""

from armdyn.model.joint_types.joint_type import JointType

FIXED = JointType(
    name="fixed",
    letter="F",
    turn=0.0,
    slide=0.0,
    unit="rad",
    torque_unit="N·m",
    inertia_unit="kg m²",
    reach=0.0,
    speed=0.0,
    acceleration=0.0,
    urdf=("fixed",),
)
