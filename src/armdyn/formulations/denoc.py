"""The decoupled natural orthogonal complement (DeNOC).

World axes; O_i, the origin of the frame on joint i, is on the axis e_i and moves with link i; d_i
leads from it to the centre of mass. A twist is t_i = (ω_i, v_Oi), angular part first as in the
original.

    A_ij = [1 0; -S(O_i-O_j) 1]      t_i = A_{i,i-1} t_{i-1} + p_i q̇_i              (4), (5a)
    p_i = (e_i, 0) revolute, (0, e_i) prismatic                                    (5b)
    M_i = [I_i  m S(d); -m S(d)  m 1],   I_i about O_i
    T_l has the blocks A_ij for j on the path to i, T_d the blocks p_i              (3)
    W_i = diag(S(ω_i), S(ω_i)),   E_i = diag(1, 0)
    M̃ = T_lᵀ M T_l,   GIM = T_dᵀ M̃ T_d                                            (2a), (2b)
    C = T_dᵀ (T_lᵀ M Ṫ_l + M̃ W + T_lᵀ W M E T_l) T_d                              (2a)
    τ = GIM q̈ + C q̇ + G                                                           (1)
    A_ij A_jk = A_ik,   A_ii = 1                                                  (6)
    M̃_i = M_i + Σ A_{i+1,i}ᵀ M̃_{i+1} A_{i+1,i}     composite body i                (8), (9)
    M̃_i = [Ĩ  S(δ̃); -S(δ̃)  m̃ 1]    inertia, first moment, mass     (10), (11a), (11b)
    i_ij = p_iᵀ M̃_i A_ij p_j                                                      (7)

(7) for revolute joints is (12), and (13a) to (13f) and (14a) to (14f) for the three-link arm.

C gives the right C q̇, but dM/dt - 2C is not skew. With B in place of W M E in the third term,

    B_i = [½(S(ω)I - I S(ω) - S(Iω))  0;  -m S(ω×d)  0],

C is the Christoffel matrix (`C_skew`), for which it is.
Reference: S. Saha, B. Shirinzadeh, G. Alici, Dynamic model simplification of serial manipulators;
S. Saha, ASME J. Appl. Mech. 66, 1999.
"""

from collections.abc import Callable

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import WorldFrames, velocities, world_frames, wrench_torques
from armdyn.formulations.spatial import dot, matrix_from_entries, rotate, skew, transpose
from armdyn.model import RobotModel

ANGULAR = np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
"""E_i: the angular part of a twist."""


@record
class Denoc:
    """The matrices of the method (world axes, angular part first); G and τ are torques (..., N)."""

    A: Array
    """A_ij, (..., N, N, 6, 6); zero unless joint j is on the path to link i."""
    p: Array
    """p_i, (..., N, 6)."""
    T_l: Array
    T_d: Array
    M_i: list[Array]
    """M_i of each link about O_i, (..., 6, 6)."""
    M_tilde: list[Array]
    """M̃_i of each composite body about O_i, (..., 6, 6): the book's M̃_3 is M_tilde[2]."""
    GIM: Array
    C: Array
    C_skew: Array
    G: Array
    tau: Array


def denoc(model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Array | None = None) -> Denoc:
    """Joint torques of a tree of links; arguments as in `newton_euler`."""
    frames, N = world_frames(model, q), len(model.joints)
    w, v = velocities(model, frames, qd)
    zero = np.zeros((*q.shape[:-1], 6, 6))
    on_path = [[j in model.paths[i] for j in range(N)] for i in range(N)]
    A = _grid(lambda i, j: propagation(frames.O[i] - frames.O[j]) if on_path[i][j] else zero, N)
    Ad = _grid(lambda i, j: propagation_rate(v[i] - v[j]) if on_path[i][j] else zero, N)
    p = np.stack(motion_vectors(model, frames), -2)
    T_l: Array = np.block(A)  # (3)
    T_l_rate: Array = np.block(Ad)
    T_d = _diagonal([p[..., i, :, None] for i in range(N)])
    M_i = link_masses(model, frames)
    W_i = [turning_blocks(w_i) for w_i in w]
    M, W = _diagonal(M_i), _diagonal(W_i)
    WME = _diagonal([W_i[i] @ M_i[i] @ ANGULAR for i in range(N)])
    B = _diagonal([gyroscopic(M_i[i], w[i]) for i in range(N)])
    T_lt, T_dt = transpose(T_l), transpose(T_d)
    M_all = T_lt @ M @ T_l  # (2b)
    common = T_lt @ M @ T_l_rate + M_all @ W
    C = T_dt @ (common + T_lt @ WME @ T_l) @ T_d  # (2a)
    C_skew = T_dt @ (common + T_lt @ B @ T_l) @ T_d

    M_tilde = composite_masses(model, frames, M_i)  # (8)
    entries = {}
    for i in range(N):
        for j in model.paths[i]:
            carried = rotate(M_tilde[i] @ A[i][j], p[..., j, :])
            entries[i, j] = entries[j, i] = dot(p[..., i, :], carried)  # (7)
    GIM = matrix_from_entries(entries, N, q.shape[:-1])
    g = model.gravity
    weights = np.concatenate([rotate(M[..., 3:], g) for M in M_i], -1)  # (m d × g, m g) = M (0, g)
    G = -rotate(T_dt @ T_lt, weights)
    tau = rotate(GIM, qdd) + rotate(C, qd) + G + wrench_torques(model, frames, wrench)
    blocks = np.stack([np.stack(row, -3) for row in A], -4)
    return Denoc(blocks, p, T_l, T_d, M_i, M_tilde, GIM, C, C_skew, G, tau)


def propagation(arm: Array) -> Array:
    """A_ij for O_i - O_j, (..., 6, 6)."""
    return np.eye(6) + propagation_rate(arm)


def propagation_rate(velocity: Array) -> Array:
    """Time derivative of A_ij for v_Oi - v_Oj, (..., 6, 6)."""
    S = skew(velocity)
    zero = np.zeros_like(S)
    return np.block([[zero, zero], [-S, zero]])


def motion_vectors(model: RobotModel, frames: WorldFrames) -> list[Array]:
    """p_i, (..., 6), for each joint."""
    return [
        np.concatenate([joint.type.combine(0.0 * e, e), joint.type.combine(e, 0.0 * e)], -1)
        for joint, e in zip(model.joints, frames.z, strict=True)
    ]


def link_masses(model: RobotModel, frames: WorldFrames) -> list[Array]:
    """M_i, (..., 6, 6), for each link, about its origin in world axes."""
    masses = []
    for link, R in zip(model.links, frames.R, strict=True):
        body = link.inertia
        S = skew(rotate(R, body.first_moment))
        I = R @ body.moment @ transpose(R)
        m = np.broadcast_to(body.mass * np.eye(3), I.shape)
        masses.append(np.block([[I, S], [-S, m]]))
    return masses


def composite_masses(model: RobotModel, frames: WorldFrames, M_i: list[Array]) -> list[Array]:
    """M̃_i by inward recursion (8)."""
    M = list(M_i)
    for i, joint in reversed(list(enumerate(model.joints))):
        up = joint.parent
        if up >= 0:
            A = propagation(frames.O[i] - frames.O[up])
            M[up] = M[up] + transpose(A) @ M[i] @ A
    return M


def turning_blocks(w: Array) -> Array:
    """W_i = diag(S(ω), S(ω)), (..., 6, 6)."""
    S = skew(w)
    zero = np.zeros_like(S)
    return np.block([[S, zero], [zero, S]])


def gyroscopic(M: Array, w: Array) -> Array:
    """B_i of the skew-consistent C for the mass matrix M_i of a link, (..., 6, 6)."""
    I, S_d, S_w = M[..., :3, :3], M[..., :3, 3:], skew(w)
    spin = 0.5 * (S_w @ I - I @ S_w - skew(rotate(I, w)))
    zero = np.zeros_like(spin)
    # m S(ω×d) = S(ω) m S(d) - m S(d) S(ω)
    return np.block([[spin, zero], [S_d @ S_w - S_w @ S_d, zero]])


def _grid(block: Callable[[int, int], Array], N: int) -> list[list[Array]]:
    return [[block(i, j) for j in range(N)] for i in range(N)]


def _diagonal(blocks: list[Array]) -> Array:
    """One matrix with the blocks (..., 6, k) on its diagonal and zeros elsewhere."""
    zero = np.zeros_like(blocks[0])
    return np.block(_grid(lambda i, j: blocks[i] if i == j else zero, len(blocks)))
