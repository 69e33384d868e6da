"""How quantities change: torques with a motion, accelerations with state and torques, M with q.

The Christoffel symbols are c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i), and the Coriolis
matrix is C_ij = Σ c_ijk q̇_k.

Products with the Jacobian J of any quantity are by reverse and by forward mode on its graph. J is
taken by all of its arguments, one after the other. A vector-Jacobian product wᵀ J says how a sum of
the entries with weights w changes with each argument, a Jacobian-vector product J t how each entry
changes along a direction t of the arguments. Either takes about two and a half times the operations
of the quantity, however many arguments there are; the passes find next to nothing in what reverse
and forward mode give.

Accelerations make r(x, q̈) = M q̈ + h - τ zero, where x are all arguments. So M ∂q̈/∂x = -∂r/∂x, and

    wᵀ J = -λᵀ ∂r/∂x  with  M λ = w,      J t = -M⁻¹ (∂r/∂x t).

One factorisation of M serves for q̈ and for λ, and what is differentiated is the short program of
the torques: for a Panda a fifth fewer operations than reverse mode through the factorisation.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from armdyn.arrays import Array, lost
from armdyn.formulations.coriolis import configuration_space
from armdyn.formulations.slopes import TorqueSlopes, acceleration_slopes
from armdyn.graph.count import count
from armdyn.graph.differentiate import gradient, jacobian, jvp, vjp
from armdyn.graph.nodes import Node, is_number, node_array
from armdyn.graph.visit import transcribe
from armdyn.model import RobotModel
from armdyn.quantities.quantity import (
    TERMS,
    TORQUE_OPTIONS,
    WEIGHTS,
    Otherwise,
    Run,
    direction_name,
    quantity,
)
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.thresholds import MOST_COMPOSITE, MOST_SYMBOLS, WHOLE_DERIVATIVES

_without_wrench = tuple(term for term in TERMS if term != "wrench")
_derivatives = partial(quantity, symbol="D", terms=_without_wrench, options=TORQUE_OPTIONS)


def _by_directions(run: Run, model: RobotModel, request: Request, *motion: Array) -> Array:
    """∂τ/∂q and ∂τ/∂q̇, (..., 2, n, n), a column for each direction."""
    along = [v[..., None, :] for v in motion]
    unit = np.eye(motion[0].shape[-1])
    found = run("inverse_dynamics_slope", *along, unit, unit, friction=request.friction)
    return np.ascontiguousarray(np.moveaxis(found, -3, -1))


@_derivatives(
    result="dtau/dq, then dtau/dqd",
    shape=(2, "n", "n"),
    otherwise=Otherwise(_by_directions, WHOLE_DERIVATIVES),
)
def _inverse_dynamics_derivatives(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """Derivatives of the torques of a motion."""
    # ∂τ/∂q and ∂τ/∂q̇ = 2 C + ∂f/∂q̇, (2, n, n), by the fewest operations.
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


@_derivatives(result="(dtau/dq) dq, then (dtau/dqd) dqd", shape=(2, "n"))
def _inverse_dynamics_slope(
    s: TracedRobot, q: Array, qd: Array, qdd: Array, dq: Array, dqd: Array
) -> Array:
    """Change of the torques of a motion along a direction dq, and along a direction dqd."""
    # the change of the torques along a direction of q, and along one of q̇, (2, n)
    tau = list(s.nodes(s.torques(q, qd, qdd)))
    slopes = np.array([s.along(tau, q, list(dq)), jvp(tau, list(qd), list(dqd))])
    friction = _friction(s, q, qd)
    slopes[1] += s.aside(np.array(jvp(friction, list(qd), list(dqd))))
    if not s.at.is_linear:
        slopes[0] += s.aside(np.array(s.along(friction, q, list(dq))))
    return slopes


def _friction(s: TracedRobot, q: Array, qd: Array) -> list[Node]:
    return list(s.nodes(s.friction_torque(q, qd) if s.request.friction else s.zero))


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


@_derivatives(
    result="dqdd/dq, then dqdd/dqd, then dqdd/dtau",
    shape=(3, "n", "n"),
    solves=True,
    otherwise=Otherwise(_by_torques, WHOLE_DERIVATIVES),
)
def _forward_dynamics_derivatives(s: TracedRobot, q: Array, qd: Array, tau: Array) -> Array:
    """Derivatives of the accelerations that torques cause.

    Not a number where the mass matrix is singular.
    """
    # ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ, (3, n, n), by implicit differentiation (see `slopes`).
    qdd = s.graph.inputs("qdd", s.n)
    slopes = _inverse_dynamics_derivatives.build(s, q, qd, qdd)
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


def has_few_symbols(s: TracedRobot) -> bool:
    """Whether it is worth while to try the Christoffel symbols."""
    return max(map(len, s.model.paths)) <= MOST_SYMBOLS.value


def coriolis_matrix(s: TracedRobot, q: Array, qd: Array) -> Array:
    """C, (n, n), by composite bodies or by Christoffel symbols, by the fewest operations."""
    ways = [s.slopes(q, qd, s.zero)[1]]
    ways += [s.nodes(_christoffel.build(s, q) @ qd)] if has_few_symbols(s) else []
    return min(ways, key=lambda way: count(way.flat).total)


def doubled_symbols(s: TracedRobot, q: Array) -> Array:
    """2 c_ijk, (n, n, n), which share operations with the mass matrix."""
    return _symbols(s, s.nodes(s.mass_matrix(q)), q)


def _by_velocities(run: Run, model: RobotModel, request: Request, q: Array) -> Array:
    # C_ij = Σ c_ijk q̇_k, so unit velocities give them one by one
    return np.moveaxis(run("coriolis_matrix", q[..., None, :], np.eye(q.shape[-1])), -3, -1)


@quantity(
    symbol="c",
    result="the symbols c_ijk",
    shape=("n", "n", "n"),
    terms=("coriolis",),
    options=("payload",),
    otherwise=Otherwise(_by_velocities, WHOLE_DERIVATIVES),
)
def _christoffel(s: TracedRobot, q: Array) -> Array:
    """Christoffel symbols: torques of velocities are the sums of c_ijk qd_j qd_k over j and k."""
    # c_ijk, (n, n, n), by the mass matrix of halved inertias: no entry is halved afterwards.
    return _symbols(s, s.nodes(s.mass_matrix(q, times=0.5)), q)


def _by_symbols(run: Run, model: RobotModel, request: Request, q: Array) -> Array:
    M, symbols, G = (run(name, q) for name in ("mass_matrix", "christoffel", "gravity_vector"))
    form = configuration_space(M, symbols, G)
    return np.concatenate([form.M, form.B, form.C, form.G[..., None]], -1)


@quantity(
    symbol="X",
    result="columns of M (n), of B for j < k in the order 12, 13, ... (n (n - 1) / 2), of C (n) "
    "and of G (1)",
    shape=("n", "(n + 1) (n + 2) / 2"),
    terms=("links", "rotors", "coriolis", "gravity"),
    options=("payload", "gravity"),
    otherwise=Otherwise(_by_symbols, WHOLE_DERIVATIVES),
)
def _configuration_space(s: TracedRobot, q: Array) -> Array:
    """The matrices of tau = M qdd + B [qd_j qd_k] + C [qd^2] + G, side by side."""
    # the columns of M, B, C and G, in this order
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


def jacobian_product(
    traced: TracedRobot, outputs: Callable[[], Array]
) -> tuple[Array, dict[str, int]]:
    """The product that the request of a robot names, as nodes, and the length of each argument.

    Its arguments are those of the quantity, whose nodes `outputs` gives, then the weights of the
    entries, or a direction of each argument. The result of "vjp" is one vector: the derivatives by
    the first argument, then those by the second, and so on. The result of "jvp" has the shape of
    the quantity.
    """
    model, request = traced.model, traced.request
    assert request.derivative is not None
    solves = request.quantity == "forward_dynamics" and not (request.method or model.loops)
    # short chains: by a mass matrix, not by articulated bodies
    if solves and max(map(len, model.paths)) <= MOST_COMPOSITE.value:
        with traced.naming(request.title):
            return _implicit(traced)
    return PRODUCTS[request.derivative](traced, outputs())


def _vector_jacobian(traced: TracedRobot, outputs: Array) -> tuple[Array, dict[str, int]]:
    """wᵀ J by reverse mode."""
    symbols, (aside, rows) = _entries(traced, outputs), _slopes_aside(traced, outputs)
    weights = outputs.flat[0].graph.inputs(WEIGHTS, outputs.size)
    found = vjp(outputs.flat, [*symbols, *aside], list(weights))
    by = dict(zip((s.name for s in symbols), found, strict=False))
    for weight, row in zip(found[len(symbols) :], rows, strict=True):
        for name, slope in row.items():
            by[name] = by[name] + weight * slope
    inputs = traced.inputs | {WEIGHTS: outputs.size}
    return node_array([*by.values()], (len(by),)), inputs


def _jacobian_vector(traced: TracedRobot, outputs: Array) -> tuple[Array, dict[str, int]]:
    """J t by forward mode."""
    graph = outputs.flat[0].graph
    sizes = {direction_name(name): size for name, size in traced.inputs.items()}
    along = [node for name, size in sizes.items() for node in graph.inputs(name, size)]
    symbols, (aside, rows) = _entries(traced, outputs), _slopes_aside(traced, outputs)
    tangent = dict(zip((s.name for s in symbols), along, strict=True))
    for row in rows:
        terms = [slope * tangent[name] for name, slope in row.items()]
        along.append(sum(terms, graph.number(0)))
    found = jvp(outputs.flat, [*symbols, *aside], along)
    return node_array(found, outputs.shape), traced.inputs | sizes


Slopes = dict[str, Node]
"""Derivatives by the names of symbols."""


def _slopes_aside(traced: TracedRobot, outputs: Array) -> tuple[list[Node], list[Slopes]]:
    """The symbols that stand for terms put aside, and how each term changes with the arguments.

    Derivatives that are not zero are by the name of the argument's entry, and put aside as well.
    """
    graph, terms = outputs.flat[0].graph, dict(traced.put_aside)
    symbols = [graph.input(name) for name in terms]
    inputs = [s for name in traced.inputs for s in traced.vector(name)]
    following, rows = traced.following(), list[Slopes]()
    for name, term in terms.items():
        slopes = following.get(name) or _slopes(term, inputs, following)
        aside = partial(traced.stand_in, graph=graph, group=traced.groups.get(name, ""))
        rows.append({of: aside(x) for of, x in slopes.items() if not is_number(x, 0)})
    return symbols, rows


def _slopes(term: Node, inputs: list[Node], following: dict[str, Slopes]) -> Slopes:
    """The derivatives of a term by all inputs, through passive joints as well."""
    names = [s.name for s in inputs]
    symbols = [*inputs, *(term.graph.input(name) for name in following)]
    found = dict(zip([*names, *following], gradient(term, symbols), strict=True))
    for name, slopes in following.items():
        for of, slope in slopes.items():
            found[of] = found[of] + found[name] * slope
    return {name: found[name] for name in names}


def _entries(traced: TracedRobot, outputs: Array) -> list[Node]:
    """The entries of all arguments in the graph of the outputs, which passes may have made anew."""
    graph = outputs.flat[0].graph
    return [s for name, size in traced.inputs.items() for s in graph.inputs(name, size)]


PRODUCTS: dict[str, Callable[[TracedRobot, Array], tuple[Array, dict[str, int]]]] = {
    "vjp": _vector_jacobian,
    "jvp": _jacobian_vector,
}


def _implicit(s: TracedRobot) -> tuple[Array, dict[str, int]]:
    """The product for accelerations, by the equation that these solve."""
    q, qd, tau = (s.vector(name) for name in ("q", "qd", "tau"))
    qdd = s.graph.inputs("qdd", s.n)
    rest = tau - s.friction(q, qd) - s.loads(q)
    M = s.nodes(s.mass_matrix(q))
    bias = s.torques(q, qd, s.zero)
    assert s.request.derivative is not None
    along, inputs = PRODUCTS[s.request.derivative](s, s.nodes(s.torques(q, qd, qdd) - rest))
    if s.request.derivative == "jvp":
        at_motion = substituted(along, qdd, s.solve(M, rest - bias))
        return s.solve(M, -at_motion), inputs
    weights = s.graph.inputs(WEIGHTS, s.n)
    found, pulled = s.solve(M, np.stack([rest - bias, weights], -1)).T
    symbols = np.concatenate([qdd, weights])
    values = np.concatenate([found, -pulled])
    return substituted(along, symbols, values), inputs
