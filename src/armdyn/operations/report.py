"""The table of operation counts: what is printed, what is counted, and what reduction leaves."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from armdyn.canonical.frames import ZERO_TOLERANCE, canonical
from armdyn.canonical.snapping import COMPARED_STATES
from armdyn.compiler.count import Operations, count
from armdyn.errors import check_known
from armdyn.model import RobotModel
from armdyn.operations.count import STAGES, MethodCounts, stage_count, traced
from armdyn.operations.methods import METHODS, QUANTITIES, Method
from armdyn.operations.published import PUBLISHED, SOURCE, general_arm
from armdyn.quantities.shortest import SearchBudget


@dataclass(frozen=True, slots=True)
class OperationReport:
    """The counts of one robot."""

    robot: str
    rows: list[MethodCounts]
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
            "notes": self.notes,
        }


def operation_report(
    model: RobotModel,
    quantities: tuple[str, ...] = (),
    effort: SearchBudget | None = None,
    snap: float = ZERO_TOLERANCE,
    tell: Callable[[str], None] | None = None,
) -> OperationReport:
    """The counts of every method at every stage, beside the formulas of the literature.

    No quantities are all of them; effort and snap are those of `count_operations`. `tell` is
    called with the name of each method before it is counted.
    """
    for quantity in quantities:
        check_known("quantity", quantity, QUANTITIES)
    rows = []
    for method in (m for m in METHODS if not quantities or m.quantity in quantities):
        if tell is not None:
            tell(f"{method.quantity} by {method.name}")
        rows.append(_row(model, method, effort, snap))
    notes = _notes(rows, len(model.joints))
    snapped = canonical(model, snap).snapped
    if snapped > 0:
        notes.append(
            f"numbers up to {snap:g} were taken for exact zeros and quarter turns; over "
            f"{COMPARED_STATES} random states this moves a torque by up to {snapped:.1e} of the "
            "largest of its joint"
        )
    return OperationReport(model.name, rows, notes)


def _row(
    model: RobotModel, method: Method, effort: SearchBudget | None, snap: float
) -> MethodCounts:
    stages = {stage: stage_count(model, method, stage, effort, snap) for stage in STAGES}
    published = general = None
    if method.quantity == "inverse_dynamics" and method.name in PUBLISHED and any(stages.values()):
        n = len(model.joints)
        published = PUBLISHED[method.name].count(n)
        general = count(traced(general_arm(n), method).ravel())
    return MethodCounts(method.quantity, method.name, stages, published, general)


def _notes(rows: list[MethodCounts], n: int) -> list[str]:
    apart = [row for row in rows if row.published != row.general]
    notes = []
    if apart:
        texts = [f"{row.method} {PUBLISHED[row.method].formula}" for row in apart]
        notes.append(
            f"published: the formulas of {SOURCE} for a general arm of n = {n} revolute joints "
            f"({'; '.join(texts)}; Lagrange-Euler without gravity). An honest count of the same "
            "equations, everything shared, does not give these numbers: it is in the next column"
        )
    if any(all(count is None for count in row.stages.values()) for row in rows):
        notes.append("methods without numbers are written for chains, and this robot branches")
    return notes


def _plain(operations: Operations | None) -> dict[str, int] | None:
    return None if operations is None else asdict(operations) | {"total": operations.total}
