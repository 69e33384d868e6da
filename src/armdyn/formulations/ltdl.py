"""Solving with a mass matrix by M = Lᵀ D L, which keeps the zeros that branches leave.

From the last joint to the first, with i an ancestor of k, and j an ancestor of k up to i:

    L_ki = M_ki / D_k,   M_ij ← M_ij - L_ki M_kj

then Lᵀ a = b, D c = a and L x = c. Straight-line arithmetic on floats or nodes.
Reference: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.5.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.model import RobotModel


def solve_ltdl(model: RobotModel, M: Array, b: Array) -> Array:
    """M⁻¹ b for a mass matrix (..., N, N) of the robot and b (..., N)."""
    N = len(model.joints)
    above = [model.paths[k][-2::-1] for k in range(N)]
    H = {(k, j): M[..., k, j] for k in range(N) for j in (k, *above[k])}
    L = {}
    x = [b[..., k] for k in range(N)]
    for k in range(N - 1, -1, -1):
        inverse = 1.0 / H[k, k]
        for place, i in enumerate(above[k]):
            L[k, i] = H[k, i] * inverse
            for j in above[k][place:]:
                H[i, j] = H[i, j] - L[k, i] * H[k, j]
            x[i] = x[i] - L[k, i] * x[k]
        x[k] = x[k] * inverse
    for k in range(N):
        for i in above[k]:
            x[k] = x[k] - L[k, i] * x[i]
    return np.stack(x, -1)
