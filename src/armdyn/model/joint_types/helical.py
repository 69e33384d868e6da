"""The helical joint, a screw: the link turns about the axis and slides along it.

The position is the angle [rad]. The pitch is the distance for one radian [m/rad], positive for a
right-handed thread; the lead, the distance for a whole turn, is 2π·pitch.
"""

from dataclasses import replace

from armdyn.model.joint_types.revolute import REVOLUTE

HELICAL = replace(REVOLUTE, name="helical", letter="H", slide=1.0, pitched=True, urdf=(), mjcf="")
"""The screw of pitch 1 m/rad; `joint_type` makes those of other pitches."""
