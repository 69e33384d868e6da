"""Solving with a mass matrix, and saying which joint is at fault where that cannot be done."""

from collections.abc import Sequence

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, Array
from armdyn.errors import SingularityError


def solve_mass_matrix(M: Array, tau: Array, names: Sequence[str]) -> Array:
    """M⁻¹ τ, (..., n). NaN in gives NaN out; a singular M is a SingularityError."""
    finite = np.asarray(np.isfinite(M).all((-1, -2), keepdims=True))
    M = np.where(finite, M, np.eye(M.shape[-1]))
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(M / (scale[..., :, None] * scale[..., None, :]))
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
