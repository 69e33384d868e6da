"""The equations of motion in coordinates of the tool, as `armdyn.formulations.cartesian` has them.

V_x = M_x (J M⁻¹ V - J̇ q̇) and G_x = M_x J M⁻¹ G, so that M⁻¹ Jᵀ is all that is solved for.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.cartesian import check_task, default_task, singular_task, task_rows
from armdyn.formulations.kinematics import jacobian, jacobian_rate
from armdyn.graph.nodes import Node
from armdyn.quantities.kinematics import frames_of
from armdyn.quantities.otherwise import CARTESIAN_IN_NUMPY
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _cartesian(s: TracedRobot, q: Array, qd: Array) -> Array:
    """The columns of M_x, then V_x and G_x, (m, m + 2)."""
    task = s.request.task or default_task(s.at)
    check_task(task, s.n)
    rows = list(task_rows(task))
    at, frames = s.here(q), frames_of(s)
    motion = at.q, at.rates(qd)
    full = jacobian(s.plain, motion[0], *frames)
    J = s.nodes(at.columns(full)[rows])
    drift = jacobian_rate(s.plain, *motion, *frames) @ motion[1]
    drift = (drift + full @ at.accelerations(qd, s.zero))[rows]
    V = s.torques(q, qd, s.zero, weight=False)
    G = s.torques(q, s.zero, s.zero)
    try:
        regular = _regular(J)
    except ZeroDivisionError:
        raise singular_task(task, "at every state") from None
    Minv_Jt = s.solve(s.mass_matrix(q), J.T)
    Mx = _inverse(J @ Minv_Jt, regular)
    Vx, Gx = Mx @ (V @ Minv_Jt - drift), Mx @ (G @ Minv_Jt)
    return np.concatenate([Mx, Vx[:, None], Gx[:, None]], -1)


def _regular(J: Array) -> Node:
    """The number 1 where J is surely regular, not a number elsewhere.

    With the singular values σ of J, tr J Jᵀ = Σ σ² and tr (J Jᵀ)⁻¹ = Σ σ⁻². So (σ_min / σ_max)² is
    at least the inverse of their product.
    """
    A = J @ J.T
    least = 1.0 / np.trace(_inverse(A))
    guarded: Node = least.graph.guard(least, np.trace(A))
    return guarded / least


def _inverse(A: Array, one: Node | float = 1.0) -> Array:
    """A⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ of a symmetric matrix of nodes A = Lᵀ D L, of which one half is read.

    `one` is a node for the number 1, where that marks states without an inverse.
    """
    A, Y, m = A.copy(), np.array(np.eye(len(A)), dtype=object), len(A)
    D_inverse = np.empty(m, dtype=object)
    L = np.zeros_like(A)
    for k in reversed(range(m)):
        D_inverse[k] = one / A[k, k]
        L[k, :k] = A[k, :k] * D_inverse[k]
        A[:k, :k] = A[:k, :k] - np.outer(L[k, :k], A[k, :k])
    for k in range(m):
        Y[k, :k] = -L[k, :k] @ Y[:k, :k]
    inverse = (Y * D_inverse) @ Y.T
    return np.where(np.tri(m, dtype=bool), inverse, inverse.T)


CARTESIAN = Quantity(
    "cartesian",
    "The Cartesian form F = M a + V + G of the tool in {frame} axes, side by side. Not a number "
    "where the Jacobian is nearly singular.",
    ("q", "qd"),
    _cartesian,
    symbol="X",
    result="columns of M (m), V and G",
    shape=("m", "m + 2"),
    terms=("links", "rotors", "coriolis", "gravity"),
    options=("payload", "gravity", "frame", "task"),
    solves=True,
    otherwise=CARTESIAN_IN_NUMPY,
)
