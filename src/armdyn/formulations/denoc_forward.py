"""Recursive forward dynamics from the DeNOC factorisation of the generalised inertia matrix.

GIM = U D Uᵀ by elimination from the last joint (World axes, notation of `denoc`). Inward, with
M̂_i = M_i + Σ A_ciᵀ M̄_c A_ci and φ = τ - C q̇ - G:

    ψ̂_i = M̂_i p_i,   m̂_i = p_iᵀ ψ̂_i (+ rotor),   ψ_i = ψ̂_i / m̂_i,   M̄_i = M̂_i - ψ̂_i ψ_iᵀ
    η̃_i = Σ A_ciᵀ η_c,   φ̂_i = φ_i - p_iᵀ η̃_i,   η_i = ψ_i φ̂_i + η̃_i

and outward:  μ̃_i = A_{i,i-1} μ_{i-1},   q̈_i = φ̂_i / m̂_i - ψ_iᵀ μ̃_i,   μ_i = p_i q̈_i + μ̃_i.
Reference: S. Saha, ASME J. Appl. Mech. 66, 1999, pp. 986-996.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.denoc import link_masses, motion_vectors, propagation
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.spatial import dot, per_link, rotate, rotate_back, times, transpose
from armdyn.model import RobotModel


def denoc_forward(model: RobotModel, q: Array, phi: Array) -> tuple[Array, Array]:
    """m̂, the diagonal of D, and q̈ from φ, the torques less friction, Coriolis and gravity."""
    frames, N = world_frames(model, q), len(model.joints)
    p, M_hat = motion_vectors(model, frames), link_masses(model, frames)
    eta = [np.zeros_like(p[0]) for _ in range(N)]
    psi, m_hat, phi_hat = [p[0]] * N, [q[..., 0]] * N, [q[..., 0]] * N
    arms = [
        propagation(frames.O[i] - frames.O[j.parent]) if j.parent >= 0 else np.eye(6)
        for i, j in enumerate(model.joints)
    ]
    for i, joint in reversed(list(enumerate(model.joints))):
        psi_hat = rotate(M_hat[i], p[i])
        m_hat[i] = dot(p[i], psi_hat) + joint.rotor.reflected
        psi[i] = times(1.0 / m_hat[i], psi_hat)
        phi_hat[i] = phi[..., i] - dot(p[i], eta[i])
        up = joint.parent
        if up >= 0:
            rest = M_hat[i] - psi_hat[..., :, None] * psi[i][..., None, :]
            M_hat[up] = M_hat[up] + transpose(arms[i]) @ rest @ arms[i]
            eta[up] = eta[up] + rotate_back(arms[i], times(phi_hat[i], psi[i]) + eta[i])
    mu, qdd = per_link(2)
    for i, joint in enumerate(model.joints):
        carried = rotate(arms[i], mu[joint.parent]) if joint.parent >= 0 else np.zeros_like(p[i])
        qdd.append(phi_hat[i] / m_hat[i] - dot(psi[i], carried))
        mu.append(times(qdd[i], p[i]) + carried)
    return np.stack(m_hat, -1), np.stack(qdd, -1)
