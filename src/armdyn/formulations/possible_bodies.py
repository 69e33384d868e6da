"""Bodies that can exist, and how far they are from others: the geometry of pseudo-inertias.

The ten numbers of a body are a symmetric 4x4 matrix, its pseudo-inertia J, and the body can exist
if J is positive definite. The log-det (entropic) divergence from a body J₀,

    D(J ‖ J₀) = tr X - log det X - 4   with   X = L⁻¹ J L⁻ᵀ,  J₀ = L Lᵀ

is zero at J₀, infinite at the edge of what is possible, convex, and the same in all units and
frames. In the coordinates of X, the prior is the identity and the Hessian of D there as well.

Reference: T. Lee, P. Wensing and F. Park, Geometric robot dynamic identification: a convex
programming approach, IEEE Transactions on Robotics 36(2), 2020.
"""

from functools import lru_cache

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.regressor import TENSOR_PLACES
from armdyn.model import Inertia, RobotModel

EIGENVALUE_FLOOR = 1e-3
"""Least eigenvalue of a prior's pseudo-inertia, in units of the body's mass and size."""
_PAIRS = [(i, j) for i in range(4) for j in range(i, 4)]


@lru_cache(1)
def symmetric_basis() -> Array:
    """An orthonormal basis of the symmetric 4x4 matrices, (10, 4, 4)."""
    basis = np.zeros((10, 4, 4))
    for k, (i, j) in enumerate(_PAIRS):
        basis[k, i, j] = basis[k, j, i] = 1.0 if i == j else np.sqrt(0.5)
    return basis


def pseudo_inertias(ten: Array) -> Array:
    """J of bodies with the ten parameters of the regressor, (..., 10) to (..., 4, 4)."""
    J = np.zeros((*ten.shape[:-1], 4, 4))
    I = np.zeros((*ten.shape[:-1], 3, 3))
    for (i, j), value in zip(TENSOR_PLACES, np.moveaxis(ten[..., 4:], -1, 0), strict=True):
        I[..., i, j] = I[..., j, i] = value
    half = 0.5 * np.trace(I, axis1=-2, axis2=-1)[..., None, None]
    J[..., :3, :3] = half * np.eye(3) - I
    J[..., :3, 3] = J[..., 3, :3] = ten[..., 1:4]
    J[..., 3, 3] = ten[..., 0]
    return J


def ten_numbers(J: Array) -> Array:
    """The ten parameters of pseudo-inertias, (..., 4, 4) to (..., 10)."""
    sigma = J[..., :3, :3]
    I = np.trace(sigma, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - sigma
    tensor = [I[..., i, j] for i, j in TENSOR_PLACES]
    return np.stack([J[..., 3, 3], *np.moveaxis(J[..., :3, 3], -1, 0), *tensor], -1)


@record(eq=False)
class PriorBodies:
    """The bodies of a robot that others are measured from, and the coordinates of X."""

    roots: Array
    """L with J₀ = L Lᵀ, (N, 4, 4)."""

    @classmethod
    def of(cls, model: RobotModel) -> "PriorBodies":
        """Those of a robot; what cannot exist is lifted until it can."""
        return cls(np.linalg.cholesky(np.array([*map(floored_pseudo, bodies_of(model))])))

    def to_ten(self) -> Array:
        """The ten numbers of each body by the coordinates of its X, (N, 10, 10)."""
        E = symmetric_basis()
        moved = self.roots[:, None] @ E @ np.swapaxes(self.roots, 1, 2)[:, None]
        return np.swapaxes(ten_numbers(moved), 1, 2)

    def coordinates(self, ten: Array) -> Array:
        """The coordinates of X of bodies with ten numbers (N, 10), (N, 10)."""
        inverse = np.linalg.inv(self.roots)
        X = inverse @ pseudo_inertias(ten) @ np.swapaxes(inverse, 1, 2)
        return np.einsum("kab,nab->nk", symmetric_basis(), X)


def matrices(x: Array) -> Array:
    """X by its coordinates, (N, 10) to (N, 4, 4)."""
    return (x @ symmetric_basis().reshape(10, 16)).reshape(-1, 4, 4)


def divergence_slopes(x: Array) -> tuple[Array, Array]:
    """Gradient (N, 10) and Hessian blocks (N, 10, 10) of D, in the coordinates of X."""
    E = symmetric_basis()
    inverse = np.linalg.inv(matrices(x))
    gradient = np.einsum("kab,nab->nk", E, np.eye(4) - inverse)
    turned = inverse[:, None] @ E
    flat = turned.reshape(len(x), 10, 16)
    other = np.swapaxes(turned, 2, 3).reshape(len(x), 10, 16)
    return gradient, flat @ np.swapaxes(other, 1, 2)


def divergence_value(x: Array) -> Array:
    """D of each body, (N,); all infinite where one cannot exist."""
    X = matrices(x)
    try:
        diagonal = np.diagonal(np.linalg.cholesky(X), axis1=1, axis2=2)
    except np.linalg.LinAlgError:
        return np.full(len(x), np.inf)
    found: Array = np.trace(X, axis1=1, axis2=2) - 2 * np.log(diagonal).sum(axis=1) - 4
    return found


def longest_step(x: Array, dx: Array) -> float:
    """How far x + s dx may go until a body can no longer exist."""
    root = np.linalg.inv(np.linalg.cholesky(matrices(x)))
    turned = root @ matrices(dx) @ np.swapaxes(root, 1, 2)
    least = float(np.linalg.eigvalsh(turned).min(initial=0.0))
    return -1.0 / least if least < 0 else np.inf


# priors


def bodies_of(model: RobotModel) -> list[Inertia]:
    """The bodies of the links; one without mass is a ball as light as the lightest, or of 1 kg."""
    masses = [link.inertia.mass for link in model.links if link.inertia.mass > 0]
    light = min(masses, default=1.0)
    lengths = [float(np.linalg.norm(joint.placement[:3, 3])) for joint in model.joints]
    size = max([*lengths, 0.05]) / 4
    return [
        link.inertia if link.inertia.mass > 0 else Inertia.sphere(size, mass=light) + link.inertia
        for link in model.links
    ]


def floored_pseudo(body: Inertia) -> Array:
    """The pseudo-inertia of a body, with a spread of at least a share of its size each way.

    Point masses, plates and reduced sets, whose numbers no body has, become bodies near to them.
    """
    J = body.pseudo.astype(float)
    mass = J[3, 3]
    centre = J[:3, 3] / J[3, 3]
    spread = J[:3, :3] - mass * np.outer(centre, centre)
    values, axes = np.linalg.eigh(0.5 * (spread + spread.T))
    size = max(values.max(), EIGENVALUE_FLOOR * mass * max(float(centre @ centre), 1e-4))
    values = np.maximum(values, 10 * EIGENVALUE_FLOOR * size)
    J[:3, :3] = (axes * values) @ axes.T + mass * np.outer(centre, centre)
    return J
