"""The fixed joint of descriptions, which does not move; `assemble` merges its link."""

from armdyn.model.joint_types.joint_type import JointType

FIXED = JointType(name="fixed", letter="F", turn=0.0, slide=0.0, urdf=("fixed",))
