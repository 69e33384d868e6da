"""Where every link is, and the Jacobians that follow from it."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import cross, rotate, rotate_back, times
from armdyn.model import Frame, Joint, RobotModel
from armdyn.model.transform import rotation_about


def joint_transform(joint: Joint, q: Array) -> tuple[Array, Array]:
    """Rotation and position of a link in the frame of its parent, for joint position q (...)."""
    R, p = joint.placement[:3, :3], joint.placement[:3, 3]
    if joint.prismatic:
        slide = times(q, R @ joint.axis)
        return np.broadcast_to(R, (*q.shape, 3, 3)), p + slide
    return R @ rotation_about(joint.axis, q), np.broadcast_to(p, (*q.shape, 3))


@dataclass(frozen=True, slots=True)
class WorldFrames:
    """The links in world axes, each list indexed by link."""

    R: list[Array]
    """Rotation of link i, (..., 3, 3)."""
    O: list[Array]  # noqa: E741
    """Origin of link i, on the axis of joint i and moving with the link, (..., 3)."""
    P: list[Array]
    """The point of joint i that is fixed on the parent (for a revolute joint the origin)."""
    z: list[Array]
    """Direction of joint axis i, (..., 3)."""
    base: tuple[Array, Array]
    """Rotation and position of the base."""

    def link(self, i: int) -> tuple[Array, Array]:
        """Rotation and origin of a link; -1 is the base."""
        return self.base if i < 0 else (self.R[i], self.O[i])


def world_frames(model: RobotModel, q: Array) -> WorldFrames:
    """The frames of all links in the world at q (..., N)."""
    batch = q.shape[:-1]
    base = (
        np.broadcast_to(model.base[:3, :3], (*batch, 3, 3)),
        np.broadcast_to(model.base[:3, 3], (*batch, 3)),
    )
    frames = WorldFrames([], [], [], [], base)
    for i, joint in enumerate(model.joints):
        R_parent, O_parent = frames.link(joint.parent)
        R, p = joint_transform(joint, q[..., i])
        frames.R.append(R_parent @ R)
        frames.O.append(O_parent + rotate(R_parent, p))
        frames.P.append(O_parent + rotate(R_parent, joint.placement[:3, 3]))
        frames.z.append(rotate(frames.R[i], joint.axis))
    return frames


def frame_in_world(frames: WorldFrames, frame: Frame) -> tuple[Array, Array]:
    """Rotation and position of a named frame in the world."""
    R, O = frames.link(frame.link)
    return R @ frame.placement[:3, :3], O + rotate(R, frame.placement[:3, 3])


def angular_velocities(model: RobotModel, frames: WorldFrames, qd: Array) -> list[Array]:
    """Angular velocity of each link in world axes."""
    w: list[Array] = []
    zero = np.zeros_like(frames.base[1])
    for i, joint in enumerate(model.joints):
        w_parent = w[joint.parent] if joint.parent >= 0 else zero
        w.append(w_parent if joint.prismatic else w_parent + times(qd[..., i], frames.z[i]))
    return w


def jacobian(model: RobotModel, q: Array, frame: Frame, axes: str = "world") -> Array:
    """Velocity of a frame's origin and its angular velocity, per joint rate, (..., 6, N).

    The linear rows come first. The axes are those of the "world" or of the frame itself ("frame").
    """
    frames = world_frames(model, q)
    R, p = frame_in_world(frames, frame)
    zero = np.zeros_like(p)
    moving = model.paths[frame.link] if frame.link >= 0 else ()
    columns = []
    for j, joint in enumerate(model.joints):
        z = frames.z[j]
        if j not in moving:
            v, w = zero, zero
        elif joint.prismatic:
            v, w = z, zero
        else:
            v, w = cross(z, p - frames.O[j]), z
        if axes == "frame":
            v, w = rotate_back(R, v), rotate_back(R, w)
        columns.append(np.concatenate([v, w], -1))
    return np.stack(columns, -1)


def jacobian_rate(
    model: RobotModel, q: Array, qd: Array, frame: Frame, axes: str = "world"
) -> Array:
    """Time derivative of the entries of `jacobian`, (..., 6, N).

    With z' = ω×z for the axis of each joint, ω being that of the link which carries it, and
    v the velocity of a point fixed to the link: d/dt(z×(p-O)) = z'×(p-O) + z×(v_p-v_O).
    In the axes of the moving frame the entries change by -ω_frame× as well.
    """
    frames = world_frames(model, q)
    R, p = frame_in_world(frames, frame)
    zero = np.zeros_like(p)
    w = angular_velocities(model, frames, qd)
    v: list[Array] = []
    for i, joint in enumerate(model.joints):
        previous = joint.parent
        v_i = zero
        if previous >= 0:
            v_i = v[previous] + cross(w[previous], frames.O[i] - frames.O[previous])
        v.append(v_i + times(qd[..., i], frames.z[i]) if joint.prismatic else v_i)
    if frame.link < 0:
        return np.zeros((*p.shape[:-1], 6, len(model.joints)))
    w_frame = w[frame.link]
    v_frame = v[frame.link] + cross(w_frame, p - frames.O[frame.link])
    columns = []
    for j, joint in enumerate(model.joints):
        z = frames.z[j]
        z_rate = cross(w[j], z)
        linear, angular, linear_rate, angular_rate = zero, zero, zero, zero
        if j in model.paths[frame.link]:
            if joint.prismatic:
                linear, linear_rate = z, z_rate
            else:
                arm = p - frames.O[j]
                linear, angular, angular_rate = cross(z, arm), z, z_rate
                linear_rate = cross(z_rate, arm) + cross(z, v_frame - v[j])
        if axes == "frame":
            linear_rate = rotate_back(R, linear_rate - cross(w_frame, linear))
            angular_rate = rotate_back(R, angular_rate - cross(w_frame, angular))
        columns.append(np.concatenate([linear_rate, angular_rate], -1))
    return np.stack(columns, -1)
