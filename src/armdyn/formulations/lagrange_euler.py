"""Lagrange-Euler with 4x4 matrices, the closed form of the textbooks.

⁰A_i is the frame of link i in the base, at its far end: on the next joint, or at the flange. For a
standard DH table it is the frame of the table (2.1). ⁰A_{j-1} is where joint j moves, and Q_j is
the 4x4 matrix of its axis (about z: Q[1,2] = -1, Q[2,1] = 1; along z: Q[3,4] = 1). J_i is the
pseudo-inertia of link i in frame i, g̃ = (g, 0), r̄_i = (c_i, 1). Lagrange's equation, (2.2) or in
the book (3.2-1), gives, with lo, hi the nearer and the farther of j, k:

    U_ij  = ∂⁰A_i/∂q_j = ⁰A_{j-1} Q_j ^{j-1}A_i                            (2.3)
    U_ijk = ∂U_ij/∂q_k = ⁰A_{lo-1} Q_lo ^{lo-1}A_{hi-1} Q_hi ^{hi-1}A_i     (0 if j or k > i)
    D_ik  = Σ_j Tr(U_jk J_j U_jiᵀ)                                         (2.11)
    h_ikm = Σ_j Tr(U_jkm J_j U_jiᵀ)        the Christoffel symbols           (2.14)
    c_i   = -Σ_j m_j g̃ᵀ U_ji r̄_j                                          (2.15)
    τ     = D q̈ + h + c,   h_i = Σ_km h_ikm q̇_k q̇_m            (2.4), (2.5), (2.6), (2.13)

In a tree j and k count only if they lie on the path from the base to link i. The cost grows with
the fourth power of the number of joints.
Reference: K. Fu, R. Gonzalez, C. Lee, Robotics, 1987, section 3.2; numbers of I. Milićević,
D. Golubović, N. Slavković, Transformation matrix approach to dynamics of manipulative robots.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import world_frames, wrench_torques
from armdyn.formulations.spatial import rotate
from armdyn.model import RobotModel
from armdyn.model.transform import IDENTITY, inverse


@record
class LagrangeEuler:
    """The matrices of the method; link indices come before joint indices, counted from 0.

    The book's U_21 is U[1, 0], (4, 4) as are the entries of A, of U3, which is U_ijk, and of J.
    h, c and τ are torques (..., N).
    """

    A: Array
    """⁰A_i, frame at the far end of link i in the world, (..., N, 4, 4)."""
    U: Array
    """U_ij, its slope for joint j, (..., N, N, 4, 4)."""
    U3: Array
    J: Array
    """J_i, pseudo-inertia in the frame at the far end of link i, (N, 4, 4)."""
    D: Array
    h_ikm: Array
    h: Array
    c: Array
    tau: Array


def lagrange_euler(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Array | None = None
) -> LagrangeEuler:
    """Joint torques of a tree of links; arguments as in `newton_euler`."""
    frames, N = world_frames(model, q), len(model.joints)
    far = [far_end(model, i) for i in range(N)]
    J = np.stack(
        [link.inertia.moved(inverse(E)).pseudo for link, E in zip(model.links, far, strict=True)]
    )
    A = [homogeneous(R, O) @ E for R, O, E in zip(frames.R, frames.O, far, strict=True)]
    # W_j = ⁰A_{j-1} Q_j (⁰A_{j-1})⁻¹, so that U_ij = W_j ⁰A_i and U_ijk = W_lo W_hi ⁰A_i
    W = []
    for joint in model.joints:
        before = homogeneous(*frames.link(joint.parent)) @ joint.placement
        W.append(before @ joint.type.generator(joint.axis) @ inverse(before))
    zero = np.zeros_like(A[0])
    U = [[W[j] @ A[i] if j in model.paths[i] else zero for j in range(N)] for i in range(N)]
    U3 = [
        [
            [
                W[min(j, k)] @ U[i][max(j, k)] if {j, k} <= set(model.paths[i]) else zero
                for k in range(N)
            ]
            for j in range(N)
        ]
        for i in range(N)
    ]
    U_ = np.stack([np.stack(row, -3) for row in U], -4)
    U3_ = np.stack([np.stack([np.stack(r, -3) for r in plane], -4) for plane in U3], -5)
    D = np.einsum("...jkab,...jiab->...ik", U_ @ J[:, None], U_)  # (2.11)
    h_ikm = np.einsum("...jkmab,...jiab->...ikm", U3_ @ J[:, None, None], U_)  # (2.14)
    h = np.einsum("...ikm,...k,...m->...i", h_ikm, qd, qd)  # (2.13)
    g = np.concatenate([model.gravity, np.zeros((*model.gravity.shape[:-1], 1))], -1)
    c = -np.einsum("...a,...jiab,jb->...i", g, U_, J[:, :, 3])  # (2.15), m r̄ = last column of J
    tau = rotate(D, qdd) + h + c + wrench_torques(model, frames, wrench)  # (2.6)
    return LagrangeEuler(np.stack(A, -3), U_, U3_, J, D, h_ikm, h, c, tau)


def far_end(model: RobotModel, i: int) -> Array:
    """Where on link i the book puts its frame: on the next joint, at the flange, or on its own."""
    children = model.children[i]
    if len(children) == 1:
        return model.joints[children[0]].placement
    return model.flange.placement if model.flange.link == i and not children else IDENTITY


def homogeneous(R: Array, p: Array) -> Array:
    """The 4x4 transforms of rotations and positions, (..., 4, 4)."""
    last = np.broadcast_to(np.array([0.0, 0.0, 0.0, 1.0]), (*p.shape[:-1], 1, 4))
    return np.concatenate([np.concatenate([R, p[..., None]], -1), last], -2)
