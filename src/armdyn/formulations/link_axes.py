"""Which frame of a link the vectors of a formulation are in, and who has to know.

A link has the frame on its joint, the frame at its far end and the frame that it is named after.
Whoever turns a vector by another one of them gets numbers, and nothing else tells.
"""

import warnings

import numpy as np

from armdyn.errors import ArmdynWarning, check_known, is_one_of, shown
from armdyn.formulations.lagrange_euler import far_end
from armdyn.model import RobotModel
from armdyn.model.transform import IDENTITY

LINK_AXES = {"newton_euler": "joint", "augmented_body": "joint", "newton_euler_link": "far_end"}
"""The frame of each link that vectors are in, for the formulations that do not use the world's."""
_PLACES = {"joint": lambda model, i: IDENTITY, "far_end": far_end}
"""Where these frames are in the frame on the joint of link i."""
_TURNED_BY = {
    "joint": "on the joints; joint_frames(q) turns them to the world",
    "far_end": 'at the far ends; formulate("lagrange_euler", ...).A turns them to the world',
}


def check_link_axes(model: RobotModel, formulation: str, frame: str | None) -> None:
    """Warn who does not name the frame that vectors are in, where links are named after another."""
    axes = LINK_AXES[formulation] if is_one_of(formulation, LINK_AXES) else "world"
    if frame is not None:
        check_known(f"frame of {shown(formulation)} named", frame, (axes,))
    elif axes != "world":
        named = {frame.name: frame.placement for frame in model.frames}
        other = [
            link.name
            for i, link in enumerate(model.links)
            if not np.allclose(named.get(link.name, IDENTITY), _PLACES[axes](model, i), atol=1e-9)
        ]
        if other:
            warnings.warn(
                f"vectors of {formulation!r} are in the frames {_TURNED_BY[axes]}. Those that the "
                f"links are named after, as link_frames(q) has them, differ ({', '.join(other)}) "
                f"and turn them wrongly; say frame={axes!r} if you know",
                ArmdynWarning,
                stacklevel=3,
            )
