"""How torques change with a motion, and accelerations with state and torques."""

from functools import partial

import numpy as np

from armdyn.arrays import Array, lost
from armdyn.formulations.slopes import TorqueSlopes, acceleration_slopes
from armdyn.graph.count import count
from armdyn.graph.differentiate import jacobian, jvp
from armdyn.graph.nodes import Node
from armdyn.graph.visit import transcribe
from armdyn.model import RobotModel
from armdyn.quantities.configuration_space import doubled_symbols, has_few_symbols
from armdyn.quantities.quantity import TERMS, TORQUE_OPTIONS, Otherwise, Quantity, Run
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.thresholds import WHOLE_DERIVATIVES


def _torque_derivatives(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """∂τ/∂q and ∂τ/∂q̇ = 2 C + ∂f/∂q̇, (2, n, n), by the fewest operations."""
    of_q, C = s.slopes(q, qd, qdd)
    ways = s.nodes(np.stack([of_q, 2.0 * C])), _by_graph(s, q, qd, qdd)
    slopes = min(ways, key=lambda way: count(way.flat).total)
    friction = _friction(s, q, qd)
    of_rates = s.aside(jacobian(friction, list(qd)))
    # that of passive joints of loops alone changes with positions
    of_turns = 0.0 if s.at.is_linear else s.aside(s.by_positions(friction, q))
    return np.stack([slopes[0] + of_turns, slopes[1] + of_rates])


def _by_graph(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The same without friction, by differentiation of the shortest torques."""
    tau = s.nodes(s.torques(q, qd, qdd))
    few = has_few_symbols(s)
    of_rates = doubled_symbols(s, q) @ qd if few else jacobian(tau, list(qd))
    return s.nodes(np.stack([s.by_positions(tau, q), of_rates]))


def _torque_slope(s: TracedRobot, q: Array, qd: Array, qdd: Array, dq: Array, dqd: Array) -> Array:
    """The change of the torques along a direction of q, and along one of q̇, (2, n)."""
    tau = list(s.nodes(s.torques(q, qd, qdd)))
    slopes = np.array([s.along(tau, q, list(dq)), jvp(tau, list(qd), list(dqd))])
    friction = _friction(s, q, qd)
    slopes[1] += s.aside(np.array(jvp(friction, list(qd), list(dqd))))
    if not s.at.is_linear:
        slopes[0] += s.aside(np.array(s.along(friction, q, list(dq))))
    return slopes


def _friction(s: TracedRobot, q: Array, qd: Array) -> list[Node]:
    return list(s.nodes(s.friction_torque(q, qd) if s.request.friction else s.zero))


def _acceleration_derivatives(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ, (3, n, n), by implicit differentiation (see `slopes`)."""
    qdd = s.graph.inputs("qdd", s.n)
    slopes = _torque_derivatives(s, q, qd, qdd)
    M = s.nodes(s.mass_matrix(q))
    found = s.solve(M, tau - s.friction(q, qd) - s.torques(q, qd, s.zero))
    at_motion = substituted(np.concatenate([-slopes[0], -slopes[1]], -1), qdd, found)
    solved = s.solve(M, np.concatenate([at_motion, np.eye(s.n)], -1))
    return np.stack(np.split(solved, 3, -1))


def substituted(values: Array, symbols: Array, by: Array) -> Array:
    """Nodes with others in place of symbols."""
    known = dict(zip((x.index for x in symbols), by, strict=True))
    made = transcribe(values.flat, symbols[0].graph, lambda node: known.get(node.index))
    return np.array(made, dtype=object).reshape(values.shape)


def _by_directions(run: Run, model: RobotModel, request: Request, *motion: Array) -> Array:
    """∂τ/∂q and ∂τ/∂q̇, (..., 2, n, n), a column for each direction."""
    along = [v[..., None, :] for v in motion]
    unit = np.eye(motion[0].shape[-1])
    found = run("inverse_dynamics_slope", *along, unit, unit, friction=request.friction)
    return np.ascontiguousarray(np.moveaxis(found, -3, -1))


def _by_torques(
    run: Run, model: RobotModel, request: Request, q: Array, qd: Array, tau: Array
) -> Array:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ, (..., 3, n, n), from the derivatives of torques."""
    friction = {"friction": request.friction}
    qdd = run("forward_dynamics", q, qd, tau, **friction)
    if lost(qdd, q, qd, tau):  # then nothing can be solved for
        return np.full((*q.shape[:-1], 3, q.shape[-1], q.shape[-1]), np.nan)
    dq, dqd = np.moveaxis(run("inverse_dynamics_derivatives", q, qd, qdd, **friction), -3, 0)
    return acceleration_slopes(TorqueSlopes(dq, dqd, run("mass_matrix", q)))


_without_wrench = tuple(term for term in TERMS if term != "wrench")
_derivatives = partial(Quantity, symbol="D", terms=_without_wrench, options=TORQUE_OPTIONS)
INVERSE_DYNAMICS_DERIVATIVES = _derivatives(
    "inverse_dynamics_derivatives",
    "Derivatives of the torques of a motion.",
    ("q", "qd", "qdd"),
    _torque_derivatives,
    result="dtau/dq, then dtau/dqd",
    shape=(2, "n", "n"),
    otherwise=Otherwise(_by_directions, WHOLE_DERIVATIVES),
)
INVERSE_DYNAMICS_SLOPE = _derivatives(
    "inverse_dynamics_slope",
    "Change of the torques of a motion along a direction dq, and along a direction dqd.",
    ("q", "qd", "qdd", "dq", "dqd"),
    _torque_slope,
    result="(dtau/dq) dq, then (dtau/dqd) dqd",
    shape=(2, "n"),
)
FORWARD_DYNAMICS_DERIVATIVES = _derivatives(
    "forward_dynamics_derivatives",
    "Derivatives of the accelerations that torques cause. Not a number where the mass matrix "
    "is singular.",
    ("q", "qd", "tau"),
    _acceleration_derivatives,
    result="dqdd/dq, then dqdd/dqd, then dqdd/dtau",
    shape=(3, "n", "n"),
    solves=True,
    otherwise=Otherwise(_by_torques, WHOLE_DERIVATIVES),
)
