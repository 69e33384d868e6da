"""Products with the Jacobian of a quantity, by reverse and by forward mode on its graph.

The Jacobian J of a quantity is taken by all of its arguments, one after the other. A
vector-Jacobian product wᵀ J says how a sum of the entries with weights w changes with each
argument, a Jacobian-vector product J t how each entry changes along a direction t of the arguments.
Either takes about two and a half times the operations of the quantity, however many arguments there
are; the passes of the compiler find next to nothing in what reverse and forward mode give.

Accelerations make r(x, q̈) = M q̈ + h - τ zero, where x are all arguments. So M ∂q̈/∂x = -∂r/∂x, and

    wᵀ J = -λᵀ ∂r/∂x  with  M λ = w,      J t = -M⁻¹ (∂r/∂x t).

One factorisation of M serves for q̈ and for λ, and what is differentiated is the short program of
the torques: for a Panda a fifth fewer operations than reverse mode through the factorisation.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.differentiate import gradient, jvp, vjp
from armdyn.graph.nodes import Node, is_number, node_array
from armdyn.quantities.derivatives import substituted
from armdyn.quantities.quantity import WEIGHTS, direction_name
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.thresholds import MOST_COMPOSITE


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
    symbols, (aside, rows) = _symbols(traced, outputs), _slopes_aside(traced, outputs)
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
    symbols, (aside, rows) = _symbols(traced, outputs), _slopes_aside(traced, outputs)
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


def _symbols(traced: TracedRobot, outputs: Array) -> list[Node]:
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
