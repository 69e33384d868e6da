"""Newton-Euler for chains, with each link's frame at its far end: in base axes and in link axes.

z = z_{i-1} is the axis of joint i, p* leads from O_{i-1} to O_i and s from O_i to the centre of
mass; a joint is revolute (R) or prismatic (P). In base axes (Table 1), from ω_0, ω̇_0 and v̇_0 of
the base, less gravity, at O_0; for one at rest 0, 0 and -g:

    ω_i  = ω_{i-1} + z q̇                                               (R)
    ω̇_i = ω̇_{i-1} + z q̈ + ω_{i-1}×z q̇                                 (R)
    v̇_i = v̇_{i-1} + ω̇_i×p* + ω_i×(ω_i×p*) + z q̈ + 2 ω_i×z q̇            (last two: P)
    ā_i  = v̇_i + ω̇_i×s + ω_i×(ω_i×s),    F_i = m ā,    N_i = I ω̇ + ω×Iω
    f_i  = f_{i+1} + F_i
    n_i  = n_{i+1} + p*×f_{i+1} + (p*+s)×F_i + N_i                      (about O_{i-1})
    τ_i  = n_i·z (R) or f_i·z (P)

Table 2 has the same equations with every vector in the axes of its own link, so that s, I and p* of
a revolute joint are constants and only ω, ω̇, v̇, f, n are rotated from link to link.
Reference: K. Fu, R. Gonzalez, C. Lee, Robotics, 1987, section 3.3; tables of I. Milićević,
D. Golubović, N. Slavković, Transformation matrix approach to dynamics of manipulative robots.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import ModelError, TopologyError
from armdyn.formulations.kinematics import Push, Turning, world_frames
from armdyn.formulations.lagrange_euler import far_end
from armdyn.formulations.spatial import cross, dot, per_link, rotate, rotate_back, times
from armdyn.model import RobotModel
from armdyn.model.transform import inverse


@record
class NewtonEulerTable:
    """The vectors of each link, (..., 3), and τ (..., N).

    A list has one vector for each link. Table 1 has them in the axes of the world, Table 2 in those
    of frame i of the book, at the far end O_i of link i: in a standard DH table this is the frame
    that the link is named after, and not the frame on its joint. Accelerations are less gravity.
    """

    w: list[Array]
    """ω_i, angular velocity."""
    wd: list[Array]
    """ω̇_i, angular acceleration."""
    vd: list[Array]
    """v̇_i, acceleration of O_i."""
    a: list[Array]
    """ā_i, acceleration of the centre of mass."""
    F: list[Array]
    """F_i, the inertial force m ā_i."""
    N: list[Array]
    """N_i, the inertial moment about the centre of mass; some texts call it M_i."""
    f: list[Array]
    """f_i, the force of link i-1 on link i."""
    n: list[Array]
    """n_i, the moment of link i-1 on link i, about O_{i-1} on the axis of joint i."""
    tau: Array


@record
class _LinkStep:
    """Geometry and body of one link, in the axes that the table uses for it."""

    R: Array
    """Rotation from these axes to those of the link before it."""
    z0: Array
    """Joint axis in the axes of the link before it."""
    z: Array
    """The same in these axes, as are p* and s."""
    p: Array
    s: Array
    I: Array
    """Inertia about the centre of mass, in the axes from which `I_axes` rotates."""
    I_axes: Array
    wrench_axes: Array
    """Rotation from the axes of the model's link, in which wrenches are given."""
    wrench_point: Array
    """From O_{i-1} to the point that wrenches are given about."""


def newton_euler_base(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Push = None, turning: Turning = None
) -> NewtonEulerTable:
    """Joint torques of a chain in world axes (Table 1); arguments as in `newton_euler`."""
    check_chain(model, "newton_euler_base")
    check_centred(model, "newton_euler_base")
    frames, steps = world_frames(model, q), []
    for i, (R, O, P, z) in enumerate(zip(frames.R, frames.O, frames.P, frames.z, strict=True)):
        body = model.links[i].inertia
        O_i = O + rotate(R, far_end(model, i)[:3, 3])
        s = O + rotate(R, body.com) - O_i
        steps.append(_LinkStep(np.eye(3), z, z, O_i - P, s, body.moment_about_com, R, R, O - P))
    moving = None if turning is None else frames.of_base(turning)
    start = _start(frames.P[0] - frames.base[1], model.gravity, moving)
    return _recursion(model, steps, start, qd, qdd, wrench)


def newton_euler_link(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Push = None, turning: Turning = None
) -> NewtonEulerTable:
    """Joint torques of a chain in far-end axes (Table 2); arguments as in `newton_euler`."""
    check_chain(model, "newton_euler_link")
    check_centred(model, "newton_euler_link")
    steps = []
    for i, joint in enumerate(model.joints):
        E, z0 = far_end(model, i), joint.axis
        axes = E[:3, :3].T
        body = model.links[i].inertia.moved(inverse(E))
        R = joint.type.rotation(z0, q[..., i]) @ E[:3, :3]  # ^{i-1}R_i
        R = np.broadcast_to(R, (*q.shape[:-1], 3, 3))
        z = axes @ z0
        slide = times(joint.type.travel(q[..., i]), z)
        p, I = axes @ E[:3, 3] + slide, body.moment_about_com
        steps.append(_LinkStep(R, z0, z, p, body.com, I, np.eye(3), axes, slide))
    R = model.joints[0].placement[:3, :3]
    p = model.joints[0].placement[:3, 3]
    moving = None if turning is None else (rotate_back(R, turning[0]), rotate_back(R, turning[1]))
    start = _start(R.T @ p, rotate_back(model.base[..., :3, :3] @ R, model.gravity), moving)
    return _recursion(model, steps, start, qd, qdd, wrench)


def _start(arm: Array, field: Array, turning: Turning) -> list[Array]:
    """ω_0, ω̇_0 and v̇_0, less the field of gravity, at O_0 on an arm of the base."""
    if turning is None:
        return [np.zeros(3), np.zeros(3), -field]
    w, wd = turning
    return [w, wd, cross(wd, arm) + cross(w, cross(w, arm)) - field]


def _recursion(
    model: RobotModel,
    steps: list[_LinkStep],
    start: list[Array],
    qd: Array,
    qdd: Array,
    wrench: Push,
) -> NewtonEulerTable:
    """The equations of both tables for given axes."""
    w, wd, vd, a, F, N = per_link(6)
    w_p, wd_p, vd_p = start
    for i, (joint, at) in enumerate(zip(model.joints, steps, strict=True)):
        turn, turn_rate = (times(joint.type.angle(x[..., i]), at.z0) for x in (qd, qdd))
        slide = times(joint.type.travel(qd[..., i]), at.z)
        slide_rate = times(joint.type.travel(qdd[..., i]), at.z0)
        w_p, wd_p = (
            rotate_back(at.R, w_p + turn),
            rotate_back(at.R, wd_p + turn_rate + cross(w_p, turn)),
        )
        vd_p = rotate_back(at.R, vd_p + slide_rate) + cross(wd_p, at.p)
        vd_p = vd_p + cross(w_p, cross(w_p, at.p)) + 2.0 * cross(w_p, slide)
        a.append(vd_p + cross(wd_p, at.s) + cross(w_p, cross(w_p, at.s)))
        F.append(model.links[i].inertia.mass * a[i])
        Iw, Iwd = (rotate(at.I_axes, rotate(at.I, rotate_back(at.I_axes, x))) for x in (w_p, wd_p))
        N.append(Iwd + cross(w_p, Iw))
        w.append(w_p)
        wd.append(wd_p)
        vd.append(vd_p)
    f_n, n_n = np.zeros_like(w_p), np.zeros_like(w_p)
    f, n, tau = per_link(3)
    for i, (joint, at) in reversed(list(enumerate(zip(model.joints, steps, strict=True)))):
        # f_{i+1} and n_{i+1} arrive in the axes of link i
        f_i = f_n + F[i]
        n_i = n_n + cross(at.p, f_n) + cross(at.p + at.s, F[i]) + N[i]
        if wrench is not None:
            load = rotate(at.wrench_axes, wrench[..., i, :3])
            f_i, n_i = (
                f_i + load,
                n_i + rotate(at.wrench_axes, wrench[..., i, 3:]) + cross(at.wrench_point, load),
            )
        tau.append(dot(at.z, joint.type.combine(f_i, n_i)))
        f.append(f_i)
        n.append(n_i)
        f_n, n_n = rotate(at.R, f_i), rotate(at.R, n_i)
    return NewtonEulerTable(w, wd, vd, a, F, N, f[::-1], n[::-1], np.stack(tau[::-1], -1))


def check_chain(model: RobotModel, formulation: str) -> None:
    """Nothing for a serial chain; a TopologyError that names the branching link for a tree."""
    if model.is_chain:
        return
    branches = [i for i in range(len(model.joints)) if len(model.children[i]) > 1]
    where = model.links[branches[0]].name if branches else model.base_link.name
    raise TopologyError(
        f"formulation {formulation!r} is written for serial chains, and {model.name!r} branches at "
        f"link {where!r}; use 'newton_euler', which handles trees"
    )


def check_centred(model: RobotModel, formulation: str) -> None:
    """Nothing if every link has a centre of mass; otherwise a ModelError that names the link."""
    for link in model.links:
        if not link.inertia.has_com:
            raise ModelError(
                f"formulation {formulation!r} needs centres of mass, and link {link.name!r} of "
                f"{model.name!r} has a first moment without mass (a reduced parameter set); use "
                "'newton_euler' or 'augmented_body'"
            )
