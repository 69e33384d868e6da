"""Recursive inverse dynamics with the matrices of the DeNOC.

The torques T_dᵀ T_lᵀ w of `denoc`, without its large matrices: T_l is a product of the steps from
link to link. World axes, notation of `denoc`; outward, from t_0 = (ω_0, 0) and ṫ_0 = (ω̇_0, -g),

    t_i = A_{i,i-1} t_{i-1} + p_i q̇_i                                                    (4)
    ṫ_i = A_{i,i-1} ṫ_{i-1} + Ȧ_{i,i-1} t_{i-1} + p_i q̈_i + W_i p_i q̇_i
    w_i = M_i ṫ_i + W_i M_i E_i t_i

and inward, summed over the children of link i,

    w̃_i = w_i + Σ A_{i+1,i}ᵀ w̃_{i+1},    τ_i = p_iᵀ w̃_i                                  (2)

The cost is linear in the number of links.
Reference: S. Saha, ASME J. Appl. Mech. 66, 1999, pp. 986-996; numbers of S. Saha, B. Shirinzadeh,
G. Alici, Dynamic model simplification of serial manipulators.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.denoc import (
    ANGULAR,
    link_masses,
    motion_vectors,
    propagation,
    propagation_rate,
    turning_blocks,
)
from armdyn.formulations.kinematics import Push, Turning, world_frames
from armdyn.formulations.spatial import dot, per_link, rotate, rotate_back, times
from armdyn.model import RobotModel


@record
class DenocRecursive:
    """Matrices and vectors of each link in world axes, angular part first, and τ (..., N).

    A list has one entry for each link; O_i is the origin of the frame on its joint.
    """

    A: list[Array]
    """A_{i,i-1} from the parent of link i, (..., 6, 6); for a link on the base that of the base."""
    p: list[Array]
    """p_i, motion vector of joint i, (..., 6)."""
    M: list[Array]
    """M_i, mass matrix of link i about O_i, (..., 6, 6)."""
    t: list[Array]
    """t_i = (ω_i, v_Oi), twist of link i, (..., 6)."""
    td: list[Array]
    """ṫ_i, its rate less gravity, (..., 6)."""
    w: list[Array]
    """w_i, inertial wrench of link i, moment about O_i and force, (..., 6)."""
    w_tilde: list[Array]
    """w̃_i, wrench that link i receives from its parent, moment about O_i and force, (..., 6)."""
    tau: Array


def denoc_recursive(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Push = None, turning: Turning = None
) -> DenocRecursive:
    """Joint torques of a tree of links; arguments as in `newton_euler`."""
    frames = world_frames(model, q)
    p, M = motion_vectors(model, frames), link_masses(model, frames)
    w0, wd0 = frames.of_base(turning)
    t0 = np.concatenate([w0, 0.0 * w0], -1)
    td0 = np.concatenate([wd0, 0.0 * wd0 - model.gravity], -1)
    A, t, td, w = per_link(4)
    for i, joint in enumerate(model.joints):
        up = joint.parent
        t_p, td_p = (t[up], td[up]) if up >= 0 else (t0, td0)
        A.append(propagation(frames.O[i] - frames.link(up)[1]))
        t.append(rotate(A[i], t_p) + times(qd[..., i], p[i]))  # (4)
        W = turning_blocks(t[i][..., :3])
        A_rate = propagation_rate((t[i] - t_p)[..., 3:])
        td_i = rotate(A[i], td_p) + rotate(A_rate, t_p)
        td.append(td_i + times(qdd[..., i], p[i]) + rotate(W, times(qd[..., i], p[i])))
        w.append(rotate(M[i], td[i]) + rotate(W, rotate(M[i] @ ANGULAR, t[i])))
    w_tilde = list(w)
    if wrench is not None:
        for i, R in enumerate(frames.R):
            load = rotate(R, wrench[..., i, 3:]), rotate(R, wrench[..., i, :3])
            w_tilde[i] = w[i] + np.concatenate(load, -1)
    tau = []
    for i, joint in reversed(list(enumerate(model.joints))):
        tau.append(dot(p[i], w_tilde[i]))  # (2)
        if joint.parent >= 0:
            w_tilde[joint.parent] = w_tilde[joint.parent] + rotate_back(A[i], w_tilde[i])
    return DenocRecursive(A, p, M, t, td, w, w_tilde, np.stack(tau[::-1], -1))
