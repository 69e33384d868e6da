"""Solving with a mass matrix, and saying which joint is at fault where that cannot be done.

M = Lᵀ D L keeps the zeros that branches leave.

From the last joint to the first, with i an ancestor of k, and j an ancestor of k up to i:

    L_ki = M_ki / D_k,   M_ij ← M_ij - L_ki M_kj

then Lᵀ a = b, D c = a and L x = c. Straight-line arithmetic on floats or nodes.
Reference: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.5.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, Array
from armdyn.errors import SingularityError

Guard = Callable[[Any, Any], Any]


def solve_ltdl(
    paths: Sequence[tuple[int, ...]], M: Array, b: Array, guard: Guard = lambda pivot, scale: pivot
) -> Array:
    """M⁻¹ b for a mass matrix (..., N, N) of a robot and b (..., N), or (N, k) for k at once.

    The zeros of M depend on the paths: for each joint those from the base up to and including it.
    The guard gets each pivot and the inertia it is left of, and returns the pivot to use.
    """
    N = len(paths)
    above = [path[-2::-1] for path in paths]
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


def solve_mass_matrix(M: Array, tau: Array, names: Sequence[str]) -> Array:
    """M⁻¹ τ, (..., n). NaN in gives NaN out; a singular M is a SingularityError."""
    finite = np.asarray(np.isfinite(M).all((-1, -2), keepdims=True))
    M = np.where(finite, M, np.eye(M.shape[-1]))
    values, vectors = np.linalg.eigh(with_unit_diagonal(M))
    smallest = np.abs(values).argmin(-1)
    singular = np.asarray(np.abs(values).min(-1, initial=np.inf) < RELATIVE_PIVOT)
    if singular.any():
        state = np.unravel_index(singular.argmax(), singular.shape)
        direction = np.abs(vectors[state][:, smallest[state]])
        raise SingularityError(
            _message([names[i] for i in np.flatnonzero(direction > 0.3).tolist()], state)
        )
    solution = np.linalg.solve(M, tau[..., None])[..., 0]
    return np.where(finite[..., 0], solution, np.nan)


def with_unit_diagonal(M: Array) -> Array:
    """The mass matrix in units in which every joint moves an inertia of 1 or 0."""
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    scale = np.where(scale > 0, scale, 1.0)
    return M / (scale[..., :, None] * scale[..., None, :])


def check_pivots(pivots: Array, names: Sequence[str]) -> None:
    """A SingularityError if one of the inertias felt by the joints, (..., N), vanishes."""
    largest = np.abs(np.where(np.isfinite(pivots), pivots, 0.0)).max(-1, keepdims=True, initial=0.0)
    singular = np.asarray(np.abs(pivots) <= RELATIVE_PIVOT * largest)
    if singular.any():
        *state, joint = np.unravel_index(singular.argmax(), singular.shape)
        raise SingularityError(_message([names[int(joint)]], tuple(state)))


def _message(joints: list[str], state: tuple[np.intp, ...]) -> str:
    where = f" (state {', '.join(map(str, state))} of the batch)" if state else ""
    return (
        f"the mass matrix is singular{where}: nothing resists a motion of "
        f"{' with '.join(map(repr, joints))}. Give the links beyond it mass or inertia, "
        "or the joint a rotor inertia"
    )
