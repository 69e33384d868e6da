"""Forward dynamics by articulated bodies.

Axes of the frame on joint i, moments and velocities at its origin O_i, six-vectors with the linear
part first. X takes a twist of the parent to link i, S is the axis of the joint, × and ×* are the
products of twists with twists and with wrenches, v_i = X v_p + S q̇ and c = v×S q̇. The links beyond
joint i, free to move, resist

    I^A_i = I_i + Σ X_cᵀ (I^A_c - U_c U_cᵀ/D_c) X_c
    p^A_i = v×*I_i v + Σ X_cᵀ (p^A_c + I^a_c c_c + U_c u_c/D_c)
    U = I^A S,   D = Sᵀ U + rotor,   u = τ - Sᵀ p^A

and outward from a_0 = -g:  a' = X a_p + c,   q̈ = (u - Uᵀ a')/D,   a = a' + S q̈.
Reference: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import joint_transform
from armdyn.formulations.spatial import cross, dot, per_link, rotate, rotate_back, times, transpose
from armdyn.model import RobotModel
from armdyn.model.transform import skew


def articulated_body(
    model: RobotModel, q: Array, qd: Array, tau: Array, wrench: Array | None = None
) -> tuple[Array, Array]:
    """D, the inertias felt by the joints of a tree, and their accelerations q̈, each (..., N).

    The torques are less friction [N m or N]; the other arguments are those of `newton_euler`.
    """
    N, batch = len(model.joints), q.shape[:-1]
    X, S, v, c, I_A, p_A = per_link(6)
    for i, joint in enumerate(model.joints):
        X.append(twist_transform(*joint_transform(joint, q[..., i])))
        S.append(joint.type.subspace(joint.axis))
        v_p = v[joint.parent] if joint.parent >= 0 else np.zeros((*batch, 6))
        Sqd = times(qd[..., i], S[i])
        v.append(rotate(X[i], v_p) + Sqd)
        c.append(twist_product(v[i], Sqd))
        I = spatial_inertia(model, i)
        I_A.append(np.broadcast_to(I, (*batch, 6, 6)))
        load = 0.0 if wrench is None else wrench[..., i, :]
        p_A.append(wrench_product(v[i], rotate(I, v[i])) + load)
    U, D, u = [v[0]] * N, [q[..., 0]] * N, [q[..., 0]] * N
    for i, joint in reversed(list(enumerate(model.joints))):
        U[i] = rotate(I_A[i], S[i])
        D[i] = dot(S[i], U[i]) + joint.rotor.reflected
        u[i] = tau[..., i] - dot(S[i], p_A[i])
        up = joint.parent
        if up >= 0:
            I_a = I_A[i] - U[i][..., :, None] * times(1.0 / D[i], U[i])[..., None, :]
            p_a = p_A[i] + rotate(I_a, c[i]) + times(u[i] / D[i], U[i])
            I_A[up] = I_A[up] + transpose(X[i]) @ I_a @ X[i]
            p_A[up] = p_A[up] + rotate_back(X[i], p_a)
    a0 = np.concatenate([rotate_back(model.base[:3, :3], -model.gravity), np.zeros(3)])
    a, qdd = per_link(2)
    for i, joint in enumerate(model.joints):
        a_p = a[joint.parent] if joint.parent >= 0 else np.broadcast_to(a0, (*batch, 6))
        a_i = rotate(X[i], a_p) + c[i]
        qdd.append((u[i] - dot(U[i], a_i)) / D[i])
        a.append(a_i + times(qdd[i], S[i]))
    return np.stack(D, -1), np.stack(qdd, -1)


def twist_transform(R: Array, P: Array) -> Array:
    """X: a twist of the parent in the frame on the joint of the link, (..., 6, 6)."""
    Rt = transpose(R)
    return np.block([[Rt, -(Rt @ skew(P))], [np.zeros_like(Rt), Rt]])


def spatial_inertia(model: RobotModel, i: int) -> Array:
    """Inertia of link i from twists to momenta, in the frame on its joint, (6, 6)."""
    body = model.links[i].inertia
    h = skew(body.first_moment)
    return np.block([[body.mass * np.eye(3), -h], [h, body.moment]])


def twist_product(a: Array, b: Array) -> Array:
    """A × b for two twists."""
    v, w = a[..., :3], a[..., 3:]
    return np.concatenate([cross(w, b[..., :3]) + cross(v, b[..., 3:]), cross(w, b[..., 3:])], -1)


def wrench_product(a: Array, f: Array) -> Array:
    """A ×* f for a twist and a wrench."""
    v, w = a[..., :3], a[..., 3:]
    return np.concatenate([cross(w, f[..., :3]), cross(w, f[..., 3:]) + cross(v, f[..., :3])], -1)
