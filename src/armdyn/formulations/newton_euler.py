"""Newton-Euler outward and inward, vectors in the frame on the joint of their link (Craig).

Frame i sits on joint i, Z is the axis of the joint, R = ⁱR_{i-1}, P = position of frame i in frame
i-1, P_C, m, I the centre of mass, mass and inertia about it. Terms marked R belong to revolute
joints, P to prismatic ones. Outward iteration, from v̇_0 = -g and, unless the base turns,
ω_0 = ω̇_0 = 0:

    ω_i  = R ω_{i-1} + q̇ Z                                             (R)
    ω̇_i = R ω̇_{i-1} + q̈ Z + (R ω_{i-1}) × q̇ Z                          (R)
    v̇_i = R [v̇_{i-1} + ω̇_{i-1}×P + ω_{i-1}×(ω_{i-1}×P)] + 2 ω_i×q̇ Z + q̈ Z   (last two: P)
    v̇_C = v̇_i + ω̇_i×P_C + ω_i×(ω_i×P_C),   F = m v̇_C,   N_C = I ω̇_i + ω_i×I ω_i

and inward iteration, summed over the children of link i (in a chain there is one):

    f_i = Σ ⁱR_{i+1} f_{i+1} + F
    n_i = Σ (ⁱR_{i+1} n_{i+1} + P_{i+1} × ⁱR_{i+1} f_{i+1}) + N_C + P_C × F
    τ_i = Z·n_i (R) or Z·f_i (P)

The same sums for the base, link 0, are what it receives from the ground.
About 130 multiplications and 110 additions a link, linear in the number of links.
Reference: J. Craig, Introduction to Robotics, section 6.5.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import Push, Turning, joint_transforms
from armdyn.formulations.spatial import cross, dot, per_link, rotate, rotate_back, times
from armdyn.model import Inertia, RobotModel


@record
class NewtonEuler:
    """The vectors of each link, (..., 3), and τ (..., N).

    A list has one vector for each link, in the axes of the frame on the joint of that link. "The
    origin" is that of this frame. Accelerations are less gravity.
    """

    w: list[Array]
    """ω_i, angular velocity."""
    wd: list[Array]
    """ω̇_i, angular acceleration."""
    vd: list[Array]
    """v̇_i, acceleration of the origin."""
    vd_C: list[Array]
    """v̇_C, acceleration of the centre of mass; NaN for a regrouped link, which has none."""
    F: list[Array]
    """Inertial force, m v̇_C."""
    N_C: list[Array]
    """Inertial moment about the centre of mass; NaN for a regrouped link, which has none."""
    N_O: list[Array]
    """Inertial moment about the origin, N_C + P_C × F."""
    f: list[Array]
    """Force that the link receives from its parent."""
    n: list[Array]
    """Moment that the link receives from its parent, about the origin."""
    base: tuple[Array, Array]
    """f_0 and n_0, what the base receives from the ground, in base axes about its origin."""
    tau: Array


def newton_euler(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Push = None, turning: Turning = None
) -> NewtonEuler:
    """Joint torques of a tree of links by outward and inward recursion.

    Args:
        model: The robot.
        q: Joint positions, (..., N) [rad or m].
        qd: Joint velocities.
        qdd: Joint accelerations.
        wrench: Force and moment that each link exerts on the environment, (..., N, 6), in the axes
            of the frame on its joint, the moment about the origin of this frame.
        turning: ω_0 and ω̇_0 of the base, in its own axes; None: it does not turn.
    """
    zero = np.zeros((*q.shape[:-1], 3))
    w0, wd0 = turning or (zero, zero)
    vd0 = rotate_back(model.base[..., :3, :3], zero - model.gravity)
    R, P = joint_transforms(model, q)
    w, wd, vd = per_link(3)
    for i, joint in enumerate(model.joints):
        up = joint.parent
        w_p, wd_p, vd_p = (w[up], wd[up], vd[up]) if up >= 0 else (w0, wd0, vd0)
        Z, Rw = joint.axis, rotate_back(R[i], w_p)
        turn, turn_rate = (times(joint.type.angle(x[..., i]), Z) for x in (qd, qdd))
        slide, slide_rate = (times(joint.type.travel(x[..., i]), Z) for x in (qd, qdd))
        vd_i = rotate_back(R[i], vd_p + cross(wd_p, P[i]) + cross(w_p, cross(w_p, P[i])))
        w.append(Rw + turn)
        wd.append(rotate_back(R[i], wd_p) + turn_rate + cross(Rw, turn))
        vd.append(vd_i + 2.0 * cross(Rw, slide) + slide_rate)
    bodies = [_inertial(link.inertia, w[i], wd[i], vd[i]) for i, link in enumerate(model.links)]
    vd_C, F, N_C, N_O = (list(vectors) for vectors in zip(*bodies, strict=True))

    f = [F[i] + (0.0 if wrench is None else wrench[..., i, :3]) for i in range(len(F))]
    n = [N_O[i] + (0.0 if wrench is None else wrench[..., i, 3:]) for i in range(len(F))]
    _, f0, _, n0 = _inertial(model.base_link.inertia, w0, wd0, vd0)
    tau = []
    for i, joint in reversed(list(enumerate(model.joints))):
        tau.append(dot(joint.axis, joint.type.combine(f[i], n[i])))
        up, f_up = joint.parent, rotate(R[i], f[i])
        n_up = rotate(R[i], n[i]) + cross(P[i], f_up)
        if up >= 0:
            f[up], n[up] = f[up] + f_up, n[up] + n_up
        else:
            f0, n0 = f0 + f_up, n0 + n_up
    return NewtonEuler(w, wd, vd, vd_C, F, N_C, N_O, f, n, (f0, n0), np.stack(tau[::-1], -1))


def _inertial(body: Inertia, w: Array, wd: Array, vd: Array) -> tuple[Array, Array, Array, Array]:
    """v̇_C, F, N_C and N_O of a body."""
    if not body.has_com:  # m v̇_C = m v̇ + ω̇×h + ω×(ω×h) holds with m = 0 too
        h, I, none = body.first_moment, body.moment, np.full(w.shape, np.nan)
        F = cross(wd, h) + cross(w, cross(w, h))
        return none, F, none, rotate(I, wd) + cross(w, rotate(I, w)) + cross(h, vd)
    P_C, I = body.com, body.moment_about_com
    vd_C = vd + cross(wd, P_C) + cross(w, cross(w, P_C))
    F = body.mass * vd_C
    N_C = rotate(I, wd) + cross(w, rotate(I, w))
    return vd_C, F, N_C, N_C + cross(P_C, F)
