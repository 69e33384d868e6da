"""The Coriolis matrix by composite bodies, and the Christoffel symbols.

The skew-consistent matrix of `denoc` without its large matrices. With k the outer one of joints i
and j, the sums over the links beyond k are gathered inward once, for M, for B of `denoc` and for
H_k = Σ_l A_lkᵀ M_l Ȧ_lk:

    M̃_k = M_k + Σ A_ckᵀ M̃_c A_ck,    B̃_k = B_k + Σ A_ckᵀ B̃_c A_ck
    H̃_k = Σ A_ckᵀ (H̃_c + M̃_c Ȧ_ck)                                  sums over the children c of k
    C_ij = p_iᵀ A_kiᵀ (H̃_k + M̃_k Ȧ_kj + M̃_k A_kj W_j + B̃_k A_kj) p_j

because Ȧ_lj = Ȧ_lk + Ȧ_kj and A_lk Ȧ_kj = Ȧ_kj. So the cost is quadratic in the number of joints.
C is linear in the velocities, and C_ij = Σ_k c_ijk q̇_k gives the Christoffel symbols.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.denoc import (
    composite_masses,
    gyroscopic,
    link_masses,
    motion_vectors,
    propagation,
    propagation_rate,
    turning_blocks,
)
from armdyn.formulations.kinematics import velocities, world_frames
from armdyn.formulations.spatial import dot, matrix_from_entries, rotate, transpose
from armdyn.model import RobotModel


def coriolis_matrix(model: RobotModel, q: Array, qd: Array) -> Array:
    """C(q, q̇) with dM/dt - 2C skew, (..., N, N)."""
    frames, N = world_frames(model, q), len(model.joints)
    w, v = velocities(model, frames, qd)
    p = motion_vectors(model, frames)
    M_i = link_masses(model, frames)
    M = composite_masses(model, frames, M_i)
    B = [gyroscopic(M_i[i], w[i]) for i in range(N)]
    H = [np.zeros_like(M_i[0]) for _ in range(N)]
    for c, joint in reversed(list(enumerate(model.joints))):
        up = joint.parent
        if up >= 0:
            A = propagation(frames.O[c] - frames.O[up])
            B[up] = B[up] + transpose(A) @ B[c] @ A
            H[up] = H[up] + transpose(A) @ (H[c] + M[c] @ propagation_rate(v[c] - v[up]))

    C = {}
    for k in range(N):
        for j in model.paths[k]:
            A = propagation(frames.O[k] - frames.O[j])
            Wp = rotate(turning_blocks(w[j]), p[j])
            moved = rotate(A, Wp) + rotate(propagation_rate(v[k] - v[j]), p[j])
            C[k, j] = dot(
                p[k], rotate(H[k], p[j]) + rotate(M[k], moved) + rotate(B[k], rotate(A, p[j]))
            )
            if j != k:
                own = rotate(H[k] + B[k], p[k]) + rotate(M[k], rotate(turning_blocks(w[k]), p[k]))
                C[j, k] = dot(rotate(A, p[j]), own)
    return matrix_from_entries(C, N, q.shape[:-1])


def christoffel(model: RobotModel, q: Array) -> Array:
    """Christoffel symbols c_ijk of the first kind, (..., N, N, N), symmetric in j and k."""
    shape = (*q.shape, q.shape[-1])
    units = np.broadcast_to(np.eye(len(model.joints)), shape)
    C = coriolis_matrix(model, np.broadcast_to(q[..., None, :], shape), units)
    return np.moveaxis(C, -3, -1)


@record
class ConfigurationSpace:
    """τ = M q̈ + B [q̇_j q̇_k] + C [q̇²] + G, where B and C depend on the configuration alone."""

    M: Array
    B: Array
    """Coriolis coefficients, (..., n, n(n-1)/2); columns jk in the order 12, 13, ..., (n-1)n."""
    C: Array
    G: Array

    @classmethod
    def of(cls, columns: Array) -> "ConfigurationSpace":
        """Of the columns of M, B, C and G side by side."""
        n = columns.shape[-2]
        return cls(
            columns[..., :n],
            columns[..., n : -n - 1],
            columns[..., -n - 1 : -1],
            columns[..., -1],
        )


def configuration_space(M: Array, symbols: Array, G: Array) -> ConfigurationSpace:
    """The configuration-space equation: C_ij = c_ijj and B_i,jk = 2 c_ijk for j < k."""
    j, k = np.triu_indices(M.shape[-1], 1)
    C = np.einsum("...ijj->...ij", symbols)
    return ConfigurationSpace(M, 2.0 * symbols[..., j, k], C.copy(), G)
