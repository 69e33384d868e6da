"""The table of operation counts: what is printed, what is counted, and what reduction leaves."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from armdyn.errors import check_known
from armdyn.graph.count import Operations, count
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.joint_types import REVOLUTE
from armdyn.operations.count import STAGES, MethodCounts, stage_count, traced
from armdyn.operations.methods import COMPARED, METHODS, QUANTITIES, Method
from armdyn.operations.published import PUBLISHED, SOURCE, general_arm
from armdyn.quantities.proof import Proof, proved_program
from armdyn.quantities.request import EFFORTS, Request
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE, canonical
from armdyn.shorten.canonical.snapping import COMPARED_STATES
from armdyn.shorten.search import Progress


@dataclass(frozen=True, slots=True)
class ProgramCounts:
    """The program of a quantity that is compiled and exported."""

    quantity: str
    operations: Operations
    rotors: Operations
    """What the inertia of rotors takes on top."""
    friction: Operations
    """What friction takes on top."""
    proved: Proof


@dataclass(frozen=True, slots=True)
class OperationReport:
    """The counts of one robot."""

    robot: str
    rows: list[MethodCounts]
    """Quantities that textbooks compute, method by method."""
    programs: list[ProgramCounts]
    notes: list[str]

    def __repr__(self) -> str:
        return f"<OperationReport of {self.robot!r}, {len(self.rows)} methods>"

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "robot": self.robot,
            "rows": [
                {
                    "quantity": row.quantity,
                    "method": row.method,
                    "published": _plain(row.published),
                    "general_arm": _plain(row.general),
                    **{stage: _plain(row.stages.get(stage)) for stage in STAGES},
                }
                for row in self.rows
            ],
            "programs": [
                {
                    "quantity": program.quantity,
                    "operations": _plain(program.operations),
                    "rotors": _plain(program.rotors),
                    "friction": _plain(program.friction),
                    "proved": program.proved,
                }
                for program in self.programs
            ],
            "notes": self.notes,
        }


@dataclass(frozen=True, slots=True)
class Counting:
    """How operations are counted, and who is told meanwhile."""

    effort: str = EFFORTS[0]
    """How hard short programs are looked for."""
    snap: float = ZERO_TOLERANCE
    """What counts as an exact zero or quarter turn, see `count_operations`."""
    tell: Callable[[str], None] = lambda what: None
    """Called with what is counted next."""
    progress: Progress | None = None
    """Told of a deep search."""
    textbooks: bool = True
    """Whether formulations of textbooks are counted beside the programs."""


def operation_report(
    model: RobotModel, quantities: tuple[str, ...] = (), counting: Counting | None = None
) -> OperationReport:
    """The counts of every method at every stage beside the literature, and of every program.

    No quantities are all of them.
    """
    counting = counting or Counting()
    for quantity in quantities:
        check_known("quantity", quantity, QUANTITIES)
    chosen = [m for m in METHODS if not quantities or m.quantity in quantities]
    chosen = [m for m in chosen if counting.textbooks or m.function is None]
    rows, programs = [], []
    chosen, notes = _of_loops(model, chosen, counting)
    for method in chosen:
        counting.tell(f"{method.quantity} by {method.name}")
        if method.function is None:
            programs.append(_program(model, method, counting))
            stages = dict.fromkeys(STAGES) | {"minimal": programs[-1].operations}
            rows.append(MethodCounts(method.quantity, method.name, stages))
        else:
            rows.append(_row(model, method, counting.snap))
    rows = [row for row in rows if row.quantity in COMPARED and counting.textbooks]
    notes += _notes(rows, len(model.joints))
    snapped = canonical(model, counting.snap).snapped
    if snapped > 0:
        notes.append(
            f"numbers up to {counting.snap:g} were taken for exact zeros and quarter turns; over "
            f"{COMPARED_STATES} random states this moves a torque by up to {snapped:.1e} of the "
            "largest of its joint"
        )
    return OperationReport(model.name, rows, programs, notes)


def _of_loops(
    model: RobotModel, chosen: list[Method], counting: Counting
) -> tuple[list[Method], list[str]]:
    """The methods that are counted for a robot with loops, and notes on them."""
    notes: list[str] = []
    if not model.loops:
        return chosen, notes
    if not coordinates_of(model).is_linear and not model.is_frictionless:
        # it is no function of the rates alone, and counted with the torques
        chosen = [m for m in chosen if m.record != "friction_torque"]
        notes.append("friction of passive joints depends on q: it is counted with the torques")
    if counting.textbooks:
        notes.append(
            "methods of textbooks are counted for the open tree, without what its loops take; "
            "minimal is the closed robot"
        )
    return chosen, notes


def _row(model: RobotModel, method: Method, snap: float) -> MethodCounts:
    stages = {stage: stage_count(model, method, stage, snap=snap) for stage in STAGES}
    published = general = None
    n, formula = len(model.joints), PUBLISHED.get(method.name)
    turning = all(joint.type is REVOLUTE for joint in model.joints)
    if method.quantity == "inverse_dynamics" and formula and turning and any(stages.values()):
        published = formula.count(n)
        general = count(traced(general_arm(n), method).ravel())
    return MethodCounts(method.quantity, method.name, stages, published, general)


def _program(model: RobotModel, method: Method, counting: Counting) -> ProgramCounts:
    request = Request(method.record, effort=counting.effort)
    program, proved = proved_program(model, request, counting.progress, counting.snap)
    return ProgramCounts(
        method.record, program.operations, program.rotors, program.friction, proved
    )


def _notes(rows: list[MethodCounts], n: int) -> list[str]:
    apart = [row for row in rows if row.published != row.general]
    notes = []
    if apart:
        texts = [f"{row.method} {PUBLISHED[row.method].formula}" for row in apart]
        notes.append(
            f"published: the formulas of {SOURCE} for a general arm of n = {n} revolute joints "
            f"({'; '.join(texts)}; Lagrange-Euler without gravity). They count each equation as it "
            "is printed; the next column counts the same equations with every value computed once"
        )
    if any(all(count is None for count in row.stages.values()) for row in rows):
        notes.append("methods without numbers are written for chains, and this robot branches")
    return notes


def _plain(operations: Operations | None) -> dict[str, int] | None:
    return None if operations is None else asdict(operations) | {"total": operations.total}
