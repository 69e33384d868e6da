"""Coefficients of the velocities, most of them by derivatives of the mass matrix.

The Christoffel symbols are c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i), and the Coriolis
matrix is C_ij = Σ c_ijk q̇_k.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.coriolis import configuration_space
from armdyn.graph.count import count
from armdyn.model import RobotModel
from armdyn.quantities.quantity import Otherwise, Quantity, Run
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.thresholds import MOST_SYMBOLS, WHOLE_DERIVATIVES


def has_few_symbols(s: TracedRobot) -> bool:
    """Whether it is worth while to try the Christoffel symbols."""
    return max(map(len, s.model.paths)) <= MOST_SYMBOLS.value


def coriolis_matrix(s: TracedRobot, q: Array, qd: Array) -> Array:
    """C, (n, n), by composite bodies or by Christoffel symbols, by the fewest operations."""
    ways = [s.slopes(q, qd, s.zero)[1]]
    ways += [s.nodes(_christoffel(s, q) @ qd)] if has_few_symbols(s) else []
    return min(ways, key=lambda way: count(way.flat).total)


def doubled_symbols(s: TracedRobot, q: Array) -> Array:
    """2 c_ijk, (n, n, n), which share operations with the mass matrix."""
    return _symbols(s, s.nodes(s.mass_matrix(q)), q)


def _christoffel(s: TracedRobot, q: Array) -> Array:
    """c_ijk, (n, n, n), by the mass matrix of halved inertias: no entry is halved afterwards."""
    return _symbols(s, s.nodes(s.mass_matrix(q, times=0.5)), q)


def _configuration_space(s: TracedRobot, q: Array) -> Array:
    """The columns of M, B, C and G, in this order."""
    doubled, M = doubled_symbols(s, q), s.mass_matrix(q)
    j, k = np.triu_indices(s.n, 1)
    squares = 0.5 * np.einsum("ijj->ij", doubled)
    G = s.torques(q, s.zero, s.zero)
    return np.concatenate([M, doubled[:, j, k], squares, G[:, None]], -1)


def _symbols(s: TracedRobot, M: Array, q: Array) -> Array:
    """∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i, (n, n, n), of a symmetric matrix of nodes."""
    slopes = np.empty((*M.shape, len(q)), dtype=object)
    i, j = np.tril_indices(len(M))
    slopes[i, j] = slopes[j, i] = s.by_positions(M[i, j], q)
    return slopes + np.swapaxes(slopes, 1, 2) - np.moveaxis(slopes, 2, 0)


def _by_velocities(run: Run, model: RobotModel, request: Request, q: Array) -> Array:
    # C_ij = Σ c_ijk q̇_k, so unit velocities give them one by one
    return np.moveaxis(run("coriolis_matrix", q[..., None, :], np.eye(q.shape[-1])), -3, -1)


def _by_symbols(run: Run, model: RobotModel, request: Request, q: Array) -> Array:
    M, symbols, G = (run(name, q) for name in ("mass_matrix", "christoffel", "gravity_vector"))
    form = configuration_space(M, symbols, G)
    return np.concatenate([form.M, form.B, form.C, form.G[..., None]], -1)


CHRISTOFFEL = Quantity(
    "christoffel",
    "Christoffel symbols: torques of velocities are the sums of c_ijk qd_j qd_k over j and k.",
    ("q",),
    _christoffel,
    symbol="c",
    result="the symbols c_ijk",
    shape=("n", "n", "n"),
    terms=("coriolis",),
    options=("payload",),
    otherwise=Otherwise(_by_velocities, WHOLE_DERIVATIVES),
)
CONFIGURATION_SPACE = Quantity(
    "configuration_space",
    "The matrices of tau = M qdd + B [qd_j qd_k] + C [qd^2] + G, side by side.",
    ("q",),
    _configuration_space,
    symbol="X",
    result="columns of M (n), of B for j < k in the order 12, 13, ... (n (n - 1) / 2), of C (n) "
    "and of G (1)",
    shape=("n", "(n + 1) (n + 2) / 2"),
    terms=("links", "rotors", "coriolis", "gravity"),
    options=("payload", "gravity"),
    otherwise=Otherwise(_by_symbols, WHOLE_DERIVATIVES),
)
