"""Where every link is and how fast it moves; Jacobians."""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.spatial import cross, dot, per_link, rotate, skew, times, transpose
from armdyn.model import Frame, Joint, RobotModel

Push = Array | None
"""The wrenches that links exert, as in `newton_euler`; None: none."""
Turning = tuple[Array, Array] | None
"""ω_0 and ω̇_0 of a base in its own axes; None: it does not turn."""


def joint_transform(joint: Joint, q: Array) -> tuple[Array, Array]:
    """Rotation and position of the frame on a joint in that of its parent, for q (...)."""
    R, P, kind = joint.placement[:3, :3], joint.placement[:3, 3], joint.type
    if kind.slides:
        P = P + times(kind.travel(q), R @ joint.axis)
    if kind.turns:
        R = R @ kind.rotation(joint.axis, q)
    return np.broadcast_to(R, (*q.shape, 3, 3)), np.broadcast_to(P, (*q.shape, 3))


def joint_transforms(model: RobotModel, q: Array) -> tuple[list[Array], list[Array]]:
    """The same of all joints, for q (..., N)."""
    pairs = [joint_transform(joint, q[..., i]) for i, joint in enumerate(model.joints)]
    return [R for R, _ in pairs], [P for _, P in pairs]


@record
class WorldFrames:
    """The frames on the joints in world axes, each list indexed by link."""

    R: list[Array]
    """Rotation of the frame on joint i, which turns with link i, (..., 3, 3)."""
    O: list[Array]
    """Origin of this frame, on the axis of joint i and moving with link i, (..., 3)."""
    P: list[Array]
    """The point of joint i that is fixed on the parent (for a revolute joint the origin)."""
    z: list[Array]
    """Direction of joint axis i, (..., 3)."""
    base: tuple[Array, Array]
    """Rotation and position of the base."""

    def link(self, i: int) -> tuple[Array, Array]:
        """Rotation and origin of the frame on the joint of a link; -1 is the base."""
        return self.base if i < 0 else (self.R[i], self.O[i])

    def of_base(self, turning: Turning) -> tuple[Array, Array]:
        """ω_0 and ω̇_0 of the base in world axes."""
        if turning is None:
            return np.zeros_like(self.base[1]), np.zeros_like(self.base[1])
        return rotate(self.base[0], turning[0]), rotate(self.base[0], turning[1])


def world_frames(model: RobotModel, q: Array) -> WorldFrames:
    """The frames on all joints in the world at q (..., N)."""
    batch = q.shape[:-1]
    base = (
        np.broadcast_to(model.base[..., :3, :3], (*batch, 3, 3)),
        np.broadcast_to(model.base[..., :3, 3], (*batch, 3)),
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
    """Rotation and position in the world of a named frame, as that a link is named after."""
    R, O = frames.link(frame.link)
    return R @ frame.placement[:3, :3], O + rotate(R, frame.placement[:3, 3])


def velocities(
    model: RobotModel, frames: WorldFrames, qd: Array
) -> tuple[list[Array], list[Array]]:
    """Angular velocity of each link, and velocity of its origin, in world axes."""
    w, v = per_link(2)
    zero = np.zeros_like(frames.base[1])
    for i, joint in enumerate(model.joints):
        w_parent = w[joint.parent] if joint.parent >= 0 else zero
        w.append(w_parent + times(joint.type.angle(qd[..., i]), frames.z[i]))
    for i, joint in enumerate(model.joints):
        up = joint.parent
        v_i = np.zeros_like(frames.O[i])
        if up >= 0:
            v_i = v[up] + cross(w[up], frames.O[i] - frames.O[up])
        v.append(v_i + times(joint.type.travel(qd[..., i]), frames.z[i]))
    return w, v


def jacobian(model: RobotModel, q: Array, frame: Frame, axes: Frame | None = None) -> Array:
    """The velocity Jacobian: velocity of a frame's origin, then angular velocity, (..., 6, N).

    A revolute joint gives z×(p-O) and z, a prismatic one z and 0, in the axes of a frame or, with
    None, of the world.
    """
    frames = world_frames(model, q)
    p = frame_in_world(frames, frame)[1]
    columns = [np.zeros((*p.shape[:-1], 6)) for _ in model.joints]
    for j in model.paths[frame.link] if frame.link >= 0 else ():
        z, arm = frames.z[j], p - frames.O[j]
        combine = model.joints[j].type.combine
        columns[j] = np.concatenate([combine(z, cross(z, arm)), combine(0.0 * z, z)], -1)
    J = np.stack(columns, -1)
    return J if axes is None else _turned_back(frame_in_world(frames, axes)[0], J)


def jacobian_rate(
    model: RobotModel, q: Array, qd: Array, frame: Frame, axes: Frame | None = None
) -> Array:
    """Time derivative of the entries of `jacobian`, (..., 6, N).

    An axis turns with its link, z' = ω×z, and d/dt(z×(p-O)) = z'×(p-O) + z×(p'-O'). In axes that
    turn with ω_A the entries change by -ω_A× as well.
    """
    frames = world_frames(model, q)
    p = frame_in_world(frames, frame)[1]
    w, v = velocities(model, frames, qd)
    columns = [np.zeros((*p.shape[:-1], 6)) for _ in model.joints]
    for j in model.paths[frame.link] if frame.link >= 0 else ():
        v_p = v[frame.link] + cross(w[frame.link], p - frames.O[frame.link])
        z, arm = frames.z[j], p - frames.O[j]
        zd = cross(w[j], z)
        combine = model.joints[j].type.combine
        turning = cross(zd, arm) + cross(z, v_p - v[j])
        columns[j] = np.concatenate([combine(zd, turning), combine(0.0 * zd, zd)], -1)
    Jd = np.stack(columns, -1)
    if axes is None:
        return Jd
    if axes.link >= 0:
        S, J = skew(w[axes.link]), jacobian(model, q, frame)
        Jd = Jd - np.concatenate([S @ J[..., :3, :], S @ J[..., 3:, :]], -2)
    return _turned_back(frame_in_world(frames, axes)[0], Jd)


def _turned_back(R: Array, J: Array) -> Array:
    """Both halves of a Jacobian in the axes whose rotation to the world is R."""
    Rt = transpose(R)
    return np.concatenate([Rt @ J[..., :3, :], Rt @ J[..., 3:, :]], -2)


def wrench_torques(model: RobotModel, frames: WorldFrames, wrench: Array | None) -> Array | float:
    """Joint torques that let each link exert a wrench, (..., N): Σ J_iᵀ w_i by inward summation.

    The wrench is that of `newton_euler`; None: none.
    """
    if wrench is None:
        return 0.0
    f = [rotate(R, wrench[..., i, :3]) for i, R in enumerate(frames.R)]
    n = [rotate(R, wrench[..., i, 3:]) for i, R in enumerate(frames.R)]
    tau = []
    for i, joint in reversed(list(enumerate(model.joints))):
        tau.append(dot(frames.z[i], joint.type.combine(f[i], n[i])))
        up = joint.parent
        if up >= 0:
            f[up] = f[up] + f[i]
            n[up] = n[up] + n[i] + cross(frames.O[i] - frames.O[up], f[i])
    return np.stack(tau[::-1], -1)
