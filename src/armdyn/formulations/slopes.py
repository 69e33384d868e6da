"""Derivatives of the equation of motion: of torques, and through them of accelerations.

Where τ = ID(q, q̇, q̈) and q̈ = FD(q, q̇, τ), implicit differentiation gives

    ∂q̈/∂q = -M⁻¹ ∂τ/∂q,    ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇,    ∂q̈/∂τ = M⁻¹

with the derivatives of the torques taken at q̈ = FD(q, q̇, τ).
Reference: J. Carpentier and N. Mansard, 2018.
"""

import numpy as np

from armdyn.arrays import Array, record


@record
class TorqueSlopes:
    """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈, the mass matrix, each (..., n, n): row τ_i, column x_j."""

    dq: Array
    dqd: Array
    dqdd: Array


@record
class AccelerationSlopes:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ, the inverse of the mass matrix, each (..., n, n)."""

    dq: Array
    dqd: Array
    dtau: Array

    @classmethod
    def of(cls, blocks: Array) -> "AccelerationSlopes":
        """Of all three, (..., 3, n, n)."""
        return cls(*(blocks[..., k, :, :] for k in range(3)))


def acceleration_slopes(torques: TorqueSlopes) -> Array:
    """The derivatives of forward dynamics from those of inverse dynamics, (..., 3, n, n)."""
    M = torques.dqdd
    identity = np.broadcast_to(np.eye(M.shape[-1]), M.shape)
    solved = np.linalg.solve(M, np.concatenate([-torques.dq, -torques.dqd, identity], -1))
    return np.stack(np.split(solved, 3, -1), -3)
