"""Products with the Jacobian of accelerations, by the equation that these solve.

Accelerations make r(x, q̈) = M q̈ + h - τ zero, where x are all arguments. So M ∂q̈/∂x = -∂r/∂x, and

    wᵀ J = -λᵀ ∂r/∂x  with  M λ = w,      J t = -M⁻¹ (∂r/∂x t).

One factorisation of M serves for q̈ and for λ, and what is differentiated is the short program of
the torques: for a Panda a fifth fewer operations than reverse mode through the factorisation.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.program import Program
from armdyn.quantities.derivatives import substituted
from armdyn.quantities.products import PRODUCTS, titled
from armdyn.quantities.quantity import WEIGHTS
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.shortest import MOST_COMPOSITE


def solves_short_chains(traced: TracedRobot) -> bool:
    """Whether the request is for accelerations by a mass matrix, not by articulated bodies."""
    model, request = traced.model, traced.request
    if request.quantity != "forward_dynamics" or request.formulation or model.loops:
        return False
    return max(map(len, model.paths)) <= MOST_COMPOSITE


def implicit_program(traced: TracedRobot) -> Program:
    """The program of a product of the accelerations, as `products` describes it."""
    sizes: dict[str, int] = {}

    def build() -> Array:
        found, inputs = _product(traced)
        sizes.update(inputs)
        return found

    title = titled(traced.request)
    return traced.program(title, traced.outputs(title, build), sizes)


def _product(s: TracedRobot) -> tuple[Array, dict[str, int]]:
    q, qd, tau = (s.vector(name) for name in ("q", "qd", "tau"))
    qdd = s.graph.inputs("qdd", s.n)
    rest = tau - s.friction(q, qd) - s.loads(q)
    M, bias = s.nodes(s.mass_matrix(q)), s.torques(q, qd, s.zero)
    assert s.request.derivative is not None
    along, inputs = PRODUCTS[s.request.derivative](s, s.nodes(s.torques(q, qd, qdd) - rest))
    if s.request.derivative == "jvp":
        at_motion = substituted(along, qdd, s.solve(M, rest - bias))
        return s.solve(M, -at_motion), inputs
    weights = s.graph.inputs(WEIGHTS, s.n)
    found, pulled = s.solve(M, np.stack([rest - bias, weights], -1)).T
    symbols, values = np.concatenate([qdd, weights]), np.concatenate([found, -pulled])
    return substituted(along, symbols, values), inputs
