"""The shortest program known for a robot: the minimal formulation, searched over and reduced.

The choices of the formulation are searched for the lowest count, the graph goes through the passes
and resubstitution, and the result is proved equal to Renaud's recursion, or to composite bodies, on
the same symbols. Choices are kept for the next robot with the same zeros.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from armdyn.canonical.frames import CanonicalRobot, with_tip_phase
from armdyn.canonical.model import model_from_canonical
from armdyn.compiler.count import count
from armdyn.compiler.passes import reduce
from armdyn.compiler.resubstitute import resubstitute
from armdyn.compiler.search import Progress
from armdyn.compiler.trace import trace
from armdyn.errors import GraphError
from armdyn.expr.evaluate import evaluate, proved_equal
from armdyn.expr.graph import Graph, Node
from armdyn.expr.visit import reachable, transcribe
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.solve import solve_ltdl
from armdyn.minimal.choices import Choices
from armdyn.minimal.mass import minimal_mass_matrix
from armdyn.minimal.torques import minimal
from armdyn.quantities.choice_search import searched_choices, searched_origins
from armdyn.quantities.choice_store import ChoiceStore
from armdyn.quantities.registry import QUANTITIES
from armdyn.quantities.symbolic import symbolic

SEARCHED_JOINTS = 12
"""Longest chain whose choices are searched; beyond, the default ones are taken."""
ROUNDING_OF_TORQUES = 1e-10
"""Difference to the torques by default choices, relative to the largest, that is rounding."""
SMALL_COUNT, TRIED_OF_SMALL, TRIED_OF_LARGE, TRIED_IN_DEEP_SEARCH = 300, 4, 3, 12
"""How many of the best points of a search go through the passes, which may order them anew: four
where the count is at most 300, twelve in a deep search, three otherwise."""

VECTORS = {
    QUANTITIES[name].counted_as: QUANTITIES[name].arguments
    for name in ("inverse_dynamics", "bias", "gravity_vector")
}
"""Quantities that are torques, and the inputs that are not zero in them."""


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """How hard to look."""

    deep: bool = False
    """Whether to anneal after the descent: minutes instead of seconds."""
    progress: Progress | None = None
    """Told steps done, steps in all and the lowest count so far of a deep search."""
    kept: ChoiceStore | None = None
    """Where choices are looked up and kept; None: nowhere."""


def minimal_outputs(
    robot: CanonicalRobot, quantity: str, effort: SearchBudget | None = None
) -> list[Node]:
    """The shortest outputs found for a quantity of a robot on one base joint.

    The quantity is one of `VECTORS`, "mass_matrix" (its lower triangle, row by row) or
    "forward_dynamics"; without an effort the search takes seconds.
    """
    robot = with_tip_phase(robot)
    outputs = _outputs(robot, quantity, effort or SearchBudget())
    if not proved_equal(*_equation(robot, quantity, outputs)):
        raise GraphError(
            f"the program for {quantity} of {robot.name!r} is not what it should be; this is a "
            "defect of armdyn, report it with the robot"
        )
    return outputs


def _equation(
    robot: CanonicalRobot, quantity: str, outputs: list[Node]
) -> tuple[list[Node], list[Node]]:
    """Two lists of nodes that are equal if the outputs are right, by textbook formulations."""
    graph, n = outputs[0].graph, len(robot.links)
    model = model_from_canonical(symbolic(robot, graph))
    q = graph.inputs("q", n)
    if quantity == "mass_matrix":
        M = trace(graph, lambda: mass_matrix(model, q))
        return outputs, list(M[np.tril_indices(n)])
    if quantity == "forward_dynamics":
        qd, qdd = graph.inputs("qd", n), np.array(outputs, dtype=object)
        tau = trace(graph, lambda: augmented_body(model, q, qd, qdd).tau)
        return list(tau), list(graph.inputs("tau", n))
    given = {name: graph.inputs(name, n) for name in VECTORS[quantity]}
    rates = [given.get(name, np.zeros(n)) for name in ("qd", "qdd")]
    return outputs, list(trace(graph, lambda: augmented_body(model, q, *rates).tau))


def _outputs(robot: CanonicalRobot, quantity: str, effort: SearchBudget) -> list[Node]:
    graph = Graph()
    symbols = symbolic(robot, graph)
    if quantity in VECTORS:
        build = _torques(symbols, graph, VECTORS[quantity])
        return _searched(robot, quantity, build, effort)
    n = len(robot.links)
    choices, _ = searched_origins(robot, "mass_matrix")[0]
    M = trace(graph, lambda q: minimal_mass_matrix(symbols, q, choices), graph.inputs("q", n))
    if quantity == "mass_matrix":
        return _shortest(list(M[np.tril_indices(n)]), effort.deep)
    build = _torques(symbols, graph, VECTORS["bias"])
    bias = np.array(transcribe(_searched(robot, "bias", build, effort), graph), dtype=object)
    solved = trace(
        graph, lambda tau: solve_ltdl(robot.paths, M, tau - bias), graph.inputs("tau", n)
    )
    return _shortest(list(solved), effort.deep)


def _torques(
    symbols: CanonicalRobot, graph: Graph, names: tuple[str, ...]
) -> Callable[[Choices | None], list[Node]]:
    """The outputs of the minimal formulation as a function of its choices."""
    given = {name: graph.inputs(name, len(symbols.links)) for name in names}
    q, qd, qdd = given["q"], given.get("qd", 0.0), given.get("qdd", 0.0)

    def build(choices: Choices | None) -> list[Node]:
        return list(trace(graph, lambda: minimal(symbols, q, qd, qdd, choices).tau))

    return build


def _searched(
    robot: CanonicalRobot,
    quantity: str,
    build: Callable[[Choices | None], list[Node]],
    effort: SearchBudget,
) -> list[Node]:
    """The shortest outputs over the choices, by those kept from before or by a search."""
    default = build(None)
    known = effort.kept.find(robot, quantity) if effort.kept else None
    if known is not None and not _sound(build(known), default):
        known = None
    if len(robot.links) > SEARCHED_JOINTS or (known is not None and not effort.deep):
        return _shortest(build(known), effort.deep)
    found = searched_choices(robot, VECTORS[quantity], deep=effort.deep, progress=effort.progress)
    tried = TRIED_OF_SMALL if found and found[0][1] <= SMALL_COUNT else TRIED_OF_LARGE
    tried = TRIED_IN_DEEP_SEARCH if effort.deep else tried
    sound = (choices for choices, _ in found if _sound(build(choices), default))
    ways = [(_shortest(build(choices), effort.deep), choices) for choices in islice(sound, tried)]
    if not ways:
        return _shortest(default, effort.deep)
    outputs, choices = min(ways, key=lambda way: count(way[0]).total)
    if effort.kept:
        effort.kept.store(robot, quantity, choices)
    return outputs


def _sound(outputs: list[Node], default: list[Node]) -> bool:
    """Whether choices that are right for every number are so for these numbers in floats too.

    A choice may divide by a length that is not zero by its symbols but is by its value.
    """
    names = sorted(node.name for node in reachable(default) if node.op == "input")
    draw = np.random.default_rng(0).uniform(-1.0, 1.0, size=(len(names), 8))
    values = dict(zip(names, draw, strict=True))
    a, b = (
        np.array([np.broadcast_to(x, 8) for x in evaluate(o, values)]) for o in (outputs, default)
    )
    return bool(np.abs(a - b).max() <= ROUNDING_OF_TORQUES * np.abs(b).max(initial=1.0))


def _shortest(outputs: list[Node], deep: bool) -> list[Node]:
    """The shorter of resubstitution with and without the passes before it."""
    ways = (resubstitute(outputs, deep), resubstitute(reduce(outputs).outputs, deep))
    return min(ways, key=lambda way: count(way).total)
