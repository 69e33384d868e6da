"""How many operations a model takes: by quantity, by formulation and by stage of reduction.

    written      the formulation as its code stands, products with zero included
    customised   for this robot: zeros, ones and quarter turns folded, everything shared
    regrouped    the same on base parameters: inertia that only acts together gathered
    minimal      what the passes reach from there; the method "minimal" is the program that is
                 compiled and exported

Friction and rotors are not in these counts. Sines and cosines are counted as calls.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError, SingularityError, TraceError, check_known
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import coriolis_matrix
from armdyn.formulations.denoc_forward import denoc_forward
from armdyn.formulations.solve import solve_ltdl
from armdyn.graph.count import NO_OPERATIONS, Operations, count, tally
from armdyn.graph.nodes import Graph, trace
from armdyn.model import RobotModel
from armdyn.quantities.formulations import CHAINS, FORMULATIONS, NEED_COM
from armdyn.quantities.program import QUANTITIES as RECORDS
from armdyn.quantities.program import quantity_program
from armdyn.quantities.quantity import Quantity
from armdyn.quantities.request import EFFORTS, Request
from armdyn.robot import Robot, check_robot
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE, CanonicalRobot, canonical
from armdyn.shorten.canonical.model import branches, model_from_canonical
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.passes import reduce
from armdyn.shorten.symbolic import symbolic

CENTRED = ("newton_euler", *NEED_COM)
"""Formulations whose count means nothing on regrouped links, which have no centre of mass."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to compute one quantity."""

    record: Quantity
    name: str
    function: Callable[..., Array] | None = None
    """From a model and joint vectors of length N, the arguments of the quantity; None for the
    program that is compiled and exported."""
    regroups: bool = True
    """Whether it takes links that have first moments and no mass."""

    @property
    def quantity(self) -> str:
        """The name of the quantity in counts."""
        return self.record.counted_as


def _bias(model: RobotModel, q: Array, qd: Array) -> Array:
    return augmented_body(model, q, qd, np.zeros(len(model.joints))).tau


def _solved(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    return solve_ltdl(model.paths, mass_matrix(model, q), tau - _bias(model, q, qd))


_INVERSE, _FORWARD = RECORDS["inverse_dynamics"], RECORDS["forward_dynamics"]
_TEXTBOOK = (
    *(
        Method(_INVERSE, name, lambda *of, f=method: f(*of).tau, name not in CENTRED)
        for name, method in FORMULATIONS.items()
        if name != "minimal"
    ),
    Method(RECORDS["mass_matrix"], "composite_body", mass_matrix),
    Method(RECORDS["coriolis_matrix"], "composite_body", coriolis_matrix),
    Method(RECORDS["gravity_vector"], "augmented_body", lambda m, q: _bias(m, q, np.zeros(len(q)))),
    Method(_FORWARD, "composite_body", _solved),
    Method(_FORWARD, "articulated_body", lambda *of: articulated_body(*of)[1]),
    Method(_FORWARD, "denoc", lambda m, q, v, tau: denoc_forward(m, q, tau - _bias(m, q, v))[1]),
)
COMPARED = tuple(dict.fromkeys(method.quantity for method in _TEXTBOOK))
"""The quantities that textbooks compute in several ways, by their names in counts."""
QUANTITIES = (*COMPARED, *(r.counted_as for r in RECORDS.values() if r.counted_as not in COMPARED))
"""Every quantity by its name in counts."""
_PROGRAMS = tuple(Method(record, "minimal") for record in RECORDS.values())
METHODS = tuple(
    method
    for quantity in QUANTITIES
    for method in (*_TEXTBOOK, *_PROGRAMS)
    if method.quantity == quantity
)


STAGES = ("written", "customised", "regrouped", "minimal")


@dataclass(frozen=True, slots=True)
class MethodCounts:
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
    effort: str | None = None,
    snap: float = ZERO_TOLERANCE,
) -> Operations:
    """How many operations one evaluation takes: .mul .add .div .trig .total.

    Args:
        robot: The robot.
        quantity: What `robot.kernel` can compute, as "inverse_dynamics" or "mass_matrix".
        stage: "written", "customised", "regrouped" or "minimal".
        formulation: The method; None: whichever takes fewest, at the last stage "minimal", which
            is the program that is compiled and exported.
        effort: "default" or "deep": how hard that program is looked for; None: that of the robot.
        snap: Deviations up to this count as an exact zero or quarter turn: of an angle [rad], or
            of a length or inertia relative to the largest. A file with 1.5708 needs 1e-5;
            `canonical(model, snap).snapped` is the largest change of a torque.
    """
    robot = check_robot(robot)
    model = robot.model
    if effort is None:
        effort = robot.search_effort
    check_known("quantity", quantity, QUANTITIES)
    check_known("stage", stage, STAGES)
    methods = [method for method in METHODS if method.quantity == quantity]
    if formulation is not None:
        check_known(f"method for {quantity}", formulation, [m.name for m in methods])
        methods = [method for method in methods if method.name == formulation]
    elif stage == "minimal":
        methods = [method for method in methods if method.function is None] or methods
    found = (stage_count(model, method, stage, effort, snap) for method in methods)
    counts = [count for count in found if count is not None]
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
    effort: str = EFFORTS[0],
    snap: float = ZERO_TOLERANCE,
) -> Operations | None:
    """The operations of a method at one stage; None where it has no such stage."""
    if method.function is None:
        if stage != "minimal":
            return None
        request = Request(method.record.name, effort=effort)
        return quantity_program(model, request, snap=snap).operations
    absent = stage == "regrouped" and not method.regroups
    if absent or (method.name in CHAINS and not model.is_chain):
        return None
    try:
        if stage == "written":
            sizes = [len(model.joints)] * len(method.record.arguments)
            return tally(partial(method.function, model), *sizes)
        parts = [*branches(canonical(model, snap)).values()]
        if stage != "customised" and method.regroups:
            parts = [regroup(part) for part in parts]
        graphs = (list(traced(part, method).ravel()) for part in parts)
        if stage == "minimal":
            graphs = (reduce(outputs) for outputs in graphs)
        return sum(map(count, graphs), NO_OPERATIONS)
    except (ZeroDivisionError, TraceError) as error:
        if method.quantity != "forward_dynamics":
            raise
        raise SingularityError(
            f"the mass matrix of the links of {model.name!r}, without rotors, is singular, so "
            "forward dynamics cannot be counted"
        ) from error


def traced(part: CanonicalRobot, method: Method) -> Array:
    """The outputs of a method for a robot whose numbers are parameters, entries nodes."""
    graph = Graph()
    assert method.function is not None
    model = model_from_canonical(symbolic(part, graph))
    vectors = [graph.inputs(name, len(model.joints)) for name in method.record.arguments]
    return trace(graph, partial(method.function, model), *vectors)
