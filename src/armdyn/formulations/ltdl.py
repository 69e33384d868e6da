"""Solving with a mass matrix by M = Lᵀ D L, which keeps the zeros that branches leave.

From the last joint to the first, with i an ancestor of k, and j an ancestor of k up to i:

    L_ki = M_ki / D_k,   M_ij ← M_ij - L_ki M_kj

then Lᵀ a = b, D c = a and L x = c. Straight-line arithmetic on floats or nodes.
Reference: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.5.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array

Guard = Callable[[Any, Any], Any]


def solve_ltdl(
    paths: Sequence[tuple[int, ...]], M: Array, b: Array, guard: Guard = lambda pivot, scale: pivot
) -> Array:
    """M⁻¹ b for a mass matrix (..., N, N) of a robot and b (..., N), or (N, k) for k at once.

    The zeros of M depend on the paths: for each joint those from the base up to and including it.
    The guard gets each pivot and the inertia it is left of, and returns the pivot to use.
    """
    N, above = len(paths), [path[-2::-1] for path in paths]
    H = {(k, j): M[..., k, j][()] for k in range(N) for j in (k, *above[k])}
    L = {}
    along = -1 if b.ndim < M.ndim else -2
    x = list(np.moveaxis(b, along, 0))
    for k in range(N - 1, -1, -1):
        inverse = 1.0 / guard(H[k, k], M[..., k, k][()])
        for place, i in enumerate(above[k]):
            L[k, i] = H[k, i] * inverse
            for j in above[k][place:]:
                H[i, j] = H[i, j] - L[k, i] * H[k, j]
            x[i] = x[i] - L[k, i] * x[k]
        x[k] = x[k] * inverse
    for k in range(N):
        for i in above[k]:
            x[k] = x[k] - L[k, i] * x[i]
    return np.stack(x, along)
