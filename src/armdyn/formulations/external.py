"""Wrenches of the environment on the arm, brought to the form the formulations take."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, check_text
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.kinematics import frame_in_world, world_frames
from armdyn.formulations.spatial import cross, rotate, rotate_back
from armdyn.model import RobotModel

Wrench = npt.ArrayLike | Mapping[str, npt.ArrayLike]
"""A wrench (..., 6) of the environment on the arm, or one for each of several links."""


def exerted_wrenches(
    at: Coordinates, external: Wrench | None, link: str, axes: str, states: dict[str, Array]
) -> tuple[Array | None, list[Array]]:
    """The wrenches as formulations take them, and the states in the batch shape of both.

    The states are vectors of the coordinates by name, the positions first. A wrench without the
    name of a link acts on `link`.
    """
    if external is None:
        return None, list(states.values())
    check_text("wrench_frame", axes)
    link = check_text("wrench_link", link)
    given = external if isinstance(external, Mapping) else {link: external}
    noun = "components (force, moment)"
    on = {k: check_joint_vector(f"wrench on {k!r}", w, 6, noun) for k, w in given.items()}
    shapes = {f"wrench on {k!r}": w for k, w in on.items()}
    q, *others = broadcast(**states, **shapes)[: len(states)]
    return exerted_wrench(at.model, at.positions(q), on, axes), [q, *others]


def exerted_wrench(model: RobotModel, q: Array, on: Mapping[str, Array], axes: str) -> Array:
    """What each link exerts on the environment, (..., N, 6), in the frame on its joint.

    On the arm acts a wrench (force, moment), (..., 6), at the origin of each frame named in `on`,
    in the axes of the world or of a frame.
    """
    frames = world_frames(model, q)
    batch = np.broadcast_shapes(q.shape[:-1], *(w.shape[:-1] for w in on.values()))
    rows = [np.zeros((*batch, 6)) for _ in model.joints]
    for name, given in on.items():
        frame = model.frame(name)
        if frame.link < 0:
            continue  # the base does not move, so nothing acts through the joints
        f, n = -given[..., :3], -given[..., 3:]
        if axes != "world":
            R = frame_in_world(frames, model.frame(axes))[0]
            f, n = rotate(R, f), rotate(R, n)
        R = frames.R[frame.link]
        f, n = rotate_back(R, f), rotate_back(R, n)
        moment = n + cross(np.broadcast_to(frame.placement[:3, 3], f.shape), f)
        rows[frame.link] = rows[frame.link] + np.concatenate([f, moment], -1)
    return np.stack(rows, -2)
