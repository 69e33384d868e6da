"""Products with the Jacobian of a quantity, by reverse and by forward mode on its graph.

The Jacobian J of a quantity is taken by all of its arguments, one after the other. A
vector-Jacobian product wᵀ J says how a sum of the entries with weights w changes with each
argument, a Jacobian-vector product J t how each entry changes along a direction t of the arguments.
Either takes about two and a half times the operations of the quantity, however many arguments there
are; the passes of the compiler find next to nothing in what reverse and forward mode give.
"""

from collections.abc import Callable

from armdyn.arrays import Array
from armdyn.graph.differentiate import gradient, jvp, vjp
from armdyn.graph.nodes import Node
from armdyn.graph.program import Program
from armdyn.quantities.finish import node_array
from armdyn.quantities.quantity import WEIGHTS, direction_name
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot


def product_program(traced: TracedRobot, outputs: Array) -> Program:
    """The program of the product that the request of a traced quantity names.

    Its arguments are those of the quantity, then the weights of the entries, or a direction of each
    argument. The result of "vjp" is one vector: the derivatives by the first argument, then those
    by the second, and so on. The result of "jvp" has the shape of the quantity.
    """
    assert traced.request.derivative is not None
    product = PRODUCTS[traced.request.derivative]
    return traced.program(titled(traced.request), *product(traced, outputs))


def titled(request: Request) -> str:
    """What a product is called in errors."""
    return f"{request.derivative} of {request.quantity}"


def _vector_jacobian(traced: TracedRobot, outputs: Array) -> tuple[Array, dict[str, int]]:
    """wᵀ J by reverse mode."""
    symbols, aside = _symbols(traced, outputs), _SlopesAside(traced, outputs)
    weights = outputs.flat[0].graph.inputs(WEIGHTS, outputs.size)
    found = vjp(outputs.flat, [*symbols, *aside.symbols], list(weights))
    by = dict(zip((s.name for s in symbols), found, strict=False))
    for weight, row in zip(found[len(symbols) :], aside.rows, strict=True):
        for name, slope in row.items():
            by[name] = by[name] + weight * slope
    inputs = traced.inputs | {WEIGHTS: outputs.size}
    return node_array([*by.values()], (len(by),)), inputs


def _jacobian_vector(traced: TracedRobot, outputs: Array) -> tuple[Array, dict[str, int]]:
    """J t by forward mode."""
    graph = outputs.flat[0].graph
    sizes = {direction_name(name): size for name, size in traced.inputs.items()}
    along = [node for name, size in sizes.items() for node in graph.inputs(name, size)]
    symbols, aside = _symbols(traced, outputs), _SlopesAside(traced, outputs)
    tangent = dict(zip((s.name for s in symbols), along, strict=True))
    for row in aside.rows:
        terms = [slope * tangent[name] for name, slope in row.items()]
        along.append(sum(terms, graph.number(0)))
    found = jvp(outputs.flat, [*symbols, *aside.symbols], along)
    return node_array(found, outputs.shape), traced.inputs | sizes


class _SlopesAside:
    """How the terms that are put aside, for which symbols stand, change with the arguments."""

    def __init__(self, traced: TracedRobot, outputs: Array):
        graph, terms = outputs.flat[0].graph, dict(traced.put_aside)
        self.symbols = [graph.input(name) for name in terms]
        """Of each term."""
        inputs = [s for name in traced.inputs for s in traced.vector(name)]
        following = _following(traced)
        self.rows = []
        """The derivatives of each term that are not zero, by the name of the argument's entry; they
        are put aside as the terms are."""
        for name, term in terms.items():
            slopes = following.get(name) or _slopes(term, inputs, following)
            self.rows.append(
                {
                    of: traced.stand_in(slope, graph, frictional=name in traced.frictional)
                    for of, slope in slopes.items()
                    if slope.op != "number" or slope.value
                }
            )


Slopes = dict[str, Node]
"""Derivatives by the names of symbols."""


def _following(traced: TracedRobot) -> dict[str, Slopes]:
    """The derivatives of passive joints that are solved for, by the names of their symbols."""
    found: dict[str, Slopes] = {}
    for q, here in traced.solved_at:
        slopes, names = traced.nodes(here.slopes), [x.name for x in q]
        for symbol, row in zip(here.unknown, slopes, strict=True):
            found[symbol.name] = dict(zip(names, row, strict=True))
    return found


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
