"""Vector algebra shared by the formulations, for any leading batch shape, floats or nodes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.model.transform import cross as cross
from armdyn.model.transform import dot as dot
from armdyn.model.transform import skew as skew


def rotate(R: Array, v: Array) -> Array:
    """R v."""
    return (R @ v[..., None])[..., 0]


def rotate_back(R: Array, v: Array) -> Array:
    """Rᵀ v."""
    return (v[..., None, :] @ R)[..., 0, :]


def transpose(A: Array) -> Array:
    """The transpose of the last two axes."""
    return np.swapaxes(A, -1, -2)


def times(s: Array, v: Array) -> Array:
    """A scalar (batch) times a vector (batch or constant)."""
    return np.asarray(s)[..., None] * v


def sign(x: Array) -> Array:
    """-1, 0 or 1; a single node has no comparison, so it is asked itself."""
    x = np.asarray(x)
    if x.dtype != object:
        return np.sign(x)
    return np.vectorize(lambda node: node.sign(), otypes=[object])(x)


def matrix_from_entries(
    entries: Mapping[tuple[int, int], Any], N: int, batch: tuple[int, ...]
) -> Array:
    """The matrix (..., N, N) of entries (...), zero where there is none."""
    rows = [[np.broadcast_to(entries.get((i, j), 0.0), batch) for j in range(N)] for i in range(N)]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def per_link(quantities: int) -> tuple[list[Array], ...]:
    """Empty lists, one for each quantity, to be filled link by link."""
    return tuple([] for _ in range(quantities))
