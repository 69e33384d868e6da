"""How good a regressor is, by its Gram matrix G = Σ YᵀY/m, and how that changes with G.

The condition number κ of the stacked regressor has κ² = λ₁/λ_r, the outer eigenvalues of G. It has
kinks where eigenvalues meet, as they do at an optimum; with the power p

    log κ ≈ [log tr(G^p) + log tr(G^-p)] / (2p)

is smooth, never below log κ, and κ itself for p → ∞. The other criterion is -log det(G)/r: least
volume of the ellipsoid of confidence (D-optimal). The gradient of either by G is a symmetric matrix
S, and that by the regressor of a sample 2 Y S/m.

References: J. Swevers, C. Ganseman, D. B. Tükel, J. De Schutter, H. Van Brussel, Optimal robot
excitation and identification, IEEE T-RA 1997; M. Gautier, W. Khalil, Exciting trajectories for the
identification of base inertial parameters of robots, IJRR 1992.
"""

import math
from collections.abc import Callable

import numpy as np

from armdyn.arrays import Array

SINGULAR = 1e-13
"""An eigenvalue below this part of the largest is rounding."""

MOST_OF_A_BLOCK = 150_000
"""Multiplications of one product of matrices."""

Criterion = Callable[[Array, Array, float], tuple[float, Array]]
"""From the eigenvalues (r,) of G, its eigenvectors and the power p to the value and S."""


def gram(Y: Array) -> Array:
    """Σ YᵀY/m of regressors (m, n, r)."""
    rows, r = Y.reshape(-1, Y.shape[-1]), Y.shape[-1]
    # in blocks that are too small for BLAS to start threads, which takes longer than the product
    height = max(1, MOST_OF_A_BLOCK // r**2)
    whole = len(rows) // height * height
    blocks = rows[:whole].reshape(-1, height, r)
    total = (np.swapaxes(blocks, -1, -2) @ blocks).sum(0) + rows[whole:].T @ rows[whole:]
    return np.asarray(total / len(Y))


def eigen(G: Array) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix in rising order, and its eigenvectors as columns."""
    from scipy.linalg import eigh  # noqa: PLC0415 (slow to import)

    # NumPy's own starts threads that wait for each other: a hundred times slower on a busy machine
    values, vectors = eigh(G, driver="evd", check_finite=False)
    return values, vectors


def condition_number(eigenvalues: Array) -> float:
    """κ of the stacked regressor, from the eigenvalues of its Gram matrix in rising order."""
    least, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    return math.sqrt(largest / least) if least > SINGULAR * largest else math.inf


def smooth_condition(eigenvalues: Array, vectors: Array, p: float) -> tuple[float, Array]:
    """A smooth log κ, and its gradient by G."""
    least, largest = eigenvalues[0], eigenvalues[-1]
    high, low = (eigenvalues / largest) ** p, (least / eigenvalues) ** p
    value = math.log(largest / least) + math.log(high.sum()) / p + math.log(low.sum()) / p
    slopes = (high / high.sum() - low / low.sum()) / eigenvalues
    return 0.5 * value, (vectors * (0.5 * slopes)) @ vectors.T


def volume(eigenvalues: Array, vectors: Array, p: float) -> tuple[float, Array]:
    """-log det(G)/r, and its gradient by G."""
    r = len(eigenvalues)
    return -float(np.log(eigenvalues).mean()), -(vectors / (r * eigenvalues)) @ vectors.T


CRITERIA: dict[str, Criterion] = {"condition": smooth_condition, "d-optimal": volume}
"""What is made small, by name."""
