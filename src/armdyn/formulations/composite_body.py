"""The mass matrix of the state-space equation τ = M q̈ + V + G, by composite rigid bodies.

The links beyond joint i, frozen, are one body of mass m, first moment h and inertia I in the frame
on joint i, about its origin O_i. A unit acceleration of joint i alone needs at O_i

    f = Z×h, n = I Z   (revolute)        f = m Z, n = h×Z   (prismatic)

and column i of the mass matrix is this wrench carried down to the base and projected on each axis.
Reference: M. Walker and D. Orin, 1982, method 3.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import joint_transforms
from armdyn.formulations.spatial import cross, dot, rotate, skew, transpose
from armdyn.model import RobotModel


def mass_matrix(model: RobotModel, q: Array) -> Array:
    """Mass matrix of the links (without rotors) at q (..., N), shape (..., N, N)."""
    batch, N = q.shape[:-1], len(model.joints)
    R, P = joint_transforms(model, q)
    m = [link.inertia.mass for link in model.links]
    h = [np.broadcast_to(link.inertia.first_moment, (*batch, 3)) for link in model.links]
    I = [np.broadcast_to(link.inertia.moment, (*batch, 3, 3)) for link in model.links]
    members: list[list[int]] = [[i] for i in range(N)]
    forces: list[list[Array]] = [[] for _ in range(N)]
    moments: list[list[Array]] = [[] for _ in range(N)]
    columns = [q] * N
    for i in range(N - 1, -1, -1):
        joint, Z = model.joints[i], model.joints[i].axis
        f = joint.type.combine(np.broadcast_to(m[i] * Z, (*batch, 3)), cross(Z, h[i]))
        n = joint.type.combine(cross(h[i], Z), rotate(I[i], Z))
        # with those of the joints beyond, all of which are carried down together
        f, n = (
            np.concatenate([own[..., None, :], *beyond[i]], -2)
            for own, beyond in ((f, forces), (n, moments))
        )
        columns[i] = dot(Z, joint.type.combine(f, n))
        up = joint.parent
        if up >= 0:
            # their rows by one product of matrices: among many products of objects NumPy goes on
            # after an error
            R_i = transpose(R[i])
            f = f @ R_i
            forces[up].append(f)
            moments[up].append(n @ R_i + cross(P[i][..., None, :], f))
            members[up] += members[i]
            # parallel axes: about the parent's origin, with h the first moment about O_i
            h_i = rotate(R[i], h[i])
            S = skew(P[i])
            S_h = skew(h_i)
            I_i = R[i] @ I[i] @ R_i
            I[up] = I[up] + I_i - S @ S_h - S_h @ S - m[i] * (S @ S)
            h[up] = h[up] + h_i + m[i] * P[i]
            m[up] = m[up] + m[i]
    M = np.full((*batch, N, N), 0.0, dtype=np.result_type(*columns))
    for i, column in enumerate(columns):
        M[..., members[i], i] = M[..., i, members[i]] = column
    return M
