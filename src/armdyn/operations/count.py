"""How many operations a model takes: by quantity, by formulation and by stage of reduction.

    written      the formulation as its code stands, products with zero included
    customised   for this robot: zeros, ones and quarter turns folded, everything shared
    regrouped    the same on base parameters: inertia that only acts together gathered
    minimal      what the passes reach from there; the formulation "minimal" is searched over

Links only, over all moving joints: friction, rotors and couplings are not in these counts. Sines
and cosines are counted as calls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce as fold

from armdyn.arrays import Array
from armdyn.canonical.frames import ZERO_TOLERANCE, CanonicalRobot, canonical
from armdyn.canonical.regroup import regroup
from armdyn.compiler.count import Operations, count
from armdyn.compiler.passes import reduce
from armdyn.compiler.tally import tally
from armdyn.compiler.trace import trace
from armdyn.dynamics import Robot
from armdyn.errors import ModelError, SingularityError, TraceError, UnknownNameError
from armdyn.expr.graph import Graph
from armdyn.model import RobotModel
from armdyn.operations.methods import METHODS, QUANTITIES, Method
from armdyn.quantities.choice_store import ChoiceStore, default_folder
from armdyn.quantities.formulations import CHAINS
from armdyn.quantities.shortest import SearchBudget, minimal_outputs
from armdyn.quantities.symbolic import symbolic
from armdyn.quantities.symbolic_model import branches, model_from_canonical

STAGES = ("written", "customised", "regrouped", "minimal")


@dataclass(frozen=True, slots=True)
class Row:
    """The counts of one method."""

    quantity: str
    method: str
    stages: dict[str, Operations | None] = field(default_factory=dict)
    """By stage; None where a method has no such stage."""
    published: Operations | None = None
    """What the literature prints for a general arm with as many joints."""
    general: Operations | None = None
    """What the same equations take for such an arm, counted."""


def count_operations(
    robot: Robot | RobotModel,
    quantity: str = "inverse_dynamics",
    stage: str = "minimal",
    formulation: str | None = None,
    effort: SearchBudget | None = None,
    snap: float = ZERO_TOLERANCE,
) -> Operations:
    """How many operations one evaluation takes: .mul .add .div .trig .total.

    Args:
        robot: The robot.
        quantity: "inverse_dynamics", "mass_matrix", "coriolis", "gravity" or "forward_dynamics".
        stage: "written", "customised", "regrouped" or "minimal".
        formulation: The method; None: whichever takes fewest, at the last stage "minimal".
        effort: How hard to search for the minimal formulation; None: for seconds, keeping what
            was found for the next time.
        snap: What to take for an exact zero or quarter turn: an angle [rad], or a length or
            inertia relative to the largest. A file with 1.5708 needs 1e-5; `canonical(model,
            snap).snapped` is what that does to the torques, measured.
    """
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"operations are counted for a Robot, got {robot!r}; load it first")
    model = robot.model if isinstance(robot, Robot) else robot
    check_name("quantity", quantity, QUANTITIES)
    check_name("stage", stage, STAGES)
    methods = [m for m in METHODS if m.quantity == quantity]
    if formulation is not None:
        check_name(f"method for {quantity}", formulation, [m.name for m in methods])
        methods = [m for m in methods if m.name == formulation]
    elif stage == "minimal":
        methods = [m for m in methods if m.function is None] or methods
    counts = [c for m in methods if (c := stage_count(model, m, stage, effort, snap)) is not None]
    if not counts:
        raise ModelError(
            f"{formulation!r} has no count at stage {stage!r} for {model.name!r}: the minimal "
            "formulation exists at stage 'minimal' only, formulations that need a centre of mass "
            "have no stage 'regrouped', and some are written for chains"
        )
    return min(counts, key=lambda c: c.total)


def stage_count(
    model: RobotModel,
    method: Method,
    stage: str,
    effort: SearchBudget | None = None,
    snap: float = ZERO_TOLERANCE,
) -> Operations | None:
    """The operations of a method at one stage; None where it has no such stage.

    Raises:
        SingularityError: Forward dynamics of links whose mass matrix is singular without rotors.
    """
    try:
        return _stage_count(model, method, stage, effort or _default_effort(), snap)
    except (ZeroDivisionError, TraceError) as error:
        if method.quantity != "forward_dynamics":
            raise
        raise SingularityError(
            f"the mass matrix of the links of {model.name!r}, without rotors, is singular, so "
            "forward dynamics cannot be counted"
        ) from error


def _default_effort() -> SearchBudget:
    return SearchBudget(kept=ChoiceStore(default_folder()))


def _stage_count(
    model: RobotModel, method: Method, stage: str, effort: SearchBudget, snap: float
) -> Operations | None:
    if method.name in CHAINS and not model.is_chain:
        return None
    parts = branches(canonical(model, snap))
    if method.function is None:
        if stage != "minimal":
            return None
        return _sum(count(minimal_outputs(part, method.quantity, effort)) for part in parts)
    function = method.function
    if stage == "written":
        sizes = [len(model.joints)] * len(method.vectors)
        return tally(lambda *vectors: function(model, *vectors), *sizes)
    if stage == "regrouped" and not method.regroups:
        return None
    if stage != "customised" and method.regroups:
        parts = [regroup(part) for part in parts]
    graphs = (list(traced(part, method).ravel()) for part in parts)
    if stage == "minimal":
        return _sum(count(reduce(outputs).outputs) for outputs in graphs)
    return _sum(map(count, graphs))


def _sum(counts: Iterable[Operations]) -> Operations:
    return fold(Operations.__add__, counts)


def traced(part: CanonicalRobot, method: Method) -> Array:
    """The outputs of a method for a robot whose numbers are parameters, entries nodes."""
    graph, function = Graph(), method.function
    assert function is not None
    model = model_from_canonical(symbolic(part, graph))
    vectors = [graph.inputs(name, len(model.joints)) for name in method.vectors]
    return trace(graph, lambda *v: function(model, *v), *vectors)


def check_name(what: str, given: str, available: Iterable[str]) -> None:
    """Nothing, or an UnknownNameError that lists what there is."""
    available = tuple(available)
    if given not in available:
        raise UnknownNameError(what, given, available)
