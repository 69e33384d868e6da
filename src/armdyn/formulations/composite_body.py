"""The mass matrix by composite rigid bodies.

The links beyond joint i, frozen, are one body of mass m, first moment h and inertia I about O_i, in
the axes of link i. A unit acceleration of joint i alone needs at O_i

    f = Z×h, n = I Z   (revolute)        f = m Z, n = h×Z   (prismatic)

and column i of the mass matrix is this wrench carried down to the base and projected on each axis.
Reference: M. Walker and D. Orin, 1982, method 3.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import joint_transform
from armdyn.formulations.spatial import cross, dot, matrix_from_entries, rotate, skew, transpose
from armdyn.model import RobotModel


def mass_matrix(model: RobotModel, q: Array) -> Array:
    """Mass matrix of the links (without rotors) at q (..., N), shape (..., N, N)."""
    batch, N = q.shape[:-1], len(model.joints)
    R, P = zip(*(joint_transform(j, q[..., i]) for i, j in enumerate(model.joints)), strict=True)
    m = [link.inertia.mass for link in model.links]
    h = [np.broadcast_to(link.inertia.first_moment, (*batch, 3)) for link in model.links]
    I = [np.broadcast_to(link.inertia.moment, (*batch, 3, 3)) for link in model.links]
    M = {}
    for i in range(N - 1, -1, -1):
        joint, Z = model.joints[i], model.joints[i].axis
        f = joint.type.combine(np.broadcast_to(m[i] * Z, (*batch, 3)), cross(Z, h[i]))
        n = joint.type.combine(cross(h[i], Z), rotate(I[i], Z))
        j = i
        while j >= 0:
            other = model.joints[j]
            M[i, j] = M[j, i] = dot(other.axis, other.type.combine(f, n))
            f = rotate(R[j], f)
            n = rotate(R[j], n) + cross(P[j], f)
            j = other.parent
        up = joint.parent
        if up >= 0:
            # parallel axes: about the parent's origin, with h the first moment about O_i
            h_i, S = rotate(R[i], h[i]), skew(P[i])
            S_h = skew(h_i)
            I_i = R[i] @ I[i] @ transpose(R[i])
            I[up] = I[up] + I_i - S @ S_h - S_h @ S - m[i] * (S @ S)
            h[up] = h[up] + h_i + m[i] * P[i]
            m[up] = m[up] + m[i]
    return matrix_from_entries(M, N, batch)
