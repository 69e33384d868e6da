"""Derivatives of the equation of motion: of torques, and through them of accelerations.

Where τ = ID(q, q̇, q̈) and q̈ = FD(q, q̇, τ), implicit differentiation gives

    ∂q̈/∂q = -M⁻¹ ∂τ/∂q,    ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇,    ∂q̈/∂τ = M⁻¹

with the derivatives of the torques taken at q̈ = FD(q, q̇, τ).
Reference: J. Carpentier and N. Mansard, 2018.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.friction import friction_slopes
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True)
class TorqueSlopes:
    """Derivatives of the torques of inverse dynamics, each (..., n, n): row τ_i, column x_j."""

    dq: Array
    """∂τ/∂q."""
    dqd: Array
    """∂τ/∂q̇."""
    dqdd: Array
    """∂τ/∂q̈, the mass matrix."""


@dataclass(frozen=True, slots=True)
class AccelerationSlopes:
    """Derivatives of the accelerations of forward dynamics, each (..., n, n)."""

    dq: Array
    """∂q̈/∂q."""
    dqd: Array
    """∂q̈/∂q̇."""
    dtau: Array
    """∂q̈/∂τ, the inverse of the mass matrix."""


def torque_function(model: RobotModel) -> Callable[[Array, Array, Array], Array]:
    """The torques of the links as a function of q, q̇ and q̈ (..., n), to be differentiated."""
    at = Coordinates.of(model)

    def torques(q: Array, qd: Array, qdd: Array) -> Array:
        motion = at.positions(q), at.rates(qd), at.rates(qdd)
        return at.torques(newton_euler(model, *motion).tau)

    return torques


def acceleration_slopes(torques: TorqueSlopes) -> AccelerationSlopes:
    """The derivatives of forward dynamics from those of inverse dynamics at the same motion."""
    M = torques.dqdd
    n = M.shape[-1]
    identity = np.broadcast_to(np.eye(n), M.shape)
    solved = np.linalg.solve(M, np.concatenate([-torques.dq, -torques.dqd, identity], -1))
    return AccelerationSlopes(solved[..., :n], solved[..., n : 2 * n], solved[..., 2 * n :])


def friction_matrix(model: RobotModel, qd: Array) -> Array:
    """Derivative of the friction torques by the velocities qd (..., n), (..., n, n)."""
    at = Coordinates.of(model)
    slopes = friction_slopes(model, at.rates(qd))
    return at.matrix(slopes[..., None] * np.eye(len(model.joints)))
