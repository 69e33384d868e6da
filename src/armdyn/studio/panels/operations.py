"""How many operations each formulation takes for this robot."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.dynamics import Robot
from armdyn.operations.count import STAGES, MethodCounts
from armdyn.operations.methods import METHODS
from armdyn.operations.report import OperationReport, operation_report
from armdyn.quantities.choice_store import ChoiceStore, default_folder
from armdyn.quantities.shortest import SearchBudget
from armdyn.studio import svg
from armdyn.studio.arm import Arm
from armdyn.studio.background import Tell
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import STAGES as COLOURS

ROW = 26.0
QUANTITIES = tuple(method.quantity for method in METHODS if method.name == "minimal")
"""The quantities whose shortest program is searched for."""


class OperationsPanel(Panel):
    """The comparison, when it is asked for."""

    def __init__(self, session: Session):
        self._session = session
        gui = session.client.gui
        self._quantity = gui.add_dropdown("of", QUANTITIES)
        button = gui.add_button("Count operations")
        self._html = gui.add_html("")
        button.on_click(session.guard(self._count))

    def enter(self, arm: Arm) -> None:
        """Nothing is counted yet."""
        self._html.content = ""

    def _count(self, _: Any) -> None:
        quantity = self._quantity.value

        def work(robot: Robot, tell: Tell) -> OperationReport:
            def searched(done: int, steps: int, best: int) -> None:
                tell(f"searching, {100 * done // steps} %, {best} operations so far")

            budget = SearchBudget(progress=searched, kept=ChoiceStore(default_folder()))
            return operation_report(
                robot.model, (quantity,), budget, tell=lambda what: tell(f"counting {what}")
            )

        def done(found: OperationReport) -> None:
            self._html.content = svg.framed(operation_bars(found.rows))

        self._session.study("counting operations", work, done)


def operation_bars(rows: Sequence[MethodCounts]) -> str:
    """Bars of multiplications and additions on a logarithmic scale, stage over stage, as HTML."""
    counted = [row for row in rows if any(row.stages.values())]
    totals = [c.total for row in counted for c in row.stages.values() if c is not None]
    least, most = max(min(totals, default=1), 1) / 2, max([*totals, 2])
    left, right = 4.0, svg.WIDTH - 4

    def x(total: int) -> float:
        share = np.log(max(total, least) / least) / np.log(most / least)
        return left + (right - left) * float(share)

    parts = []
    for i, row in enumerate(counted):
        y = i * ROW
        best = [c for c in row.stages.values() if c is not None][-1]
        parts.append(svg.text(left, y + 11, row.method.replace("_", " "), bold=True))
        words = f"{best.mul} mul + {best.add} add = {best.total}"
        parts.append(svg.text(right, y + 11, words, anchor="end"))
        for stage in STAGES:
            count = row.stages.get(stage)
            if count is not None:
                parts.append(
                    svg.box(
                        left, y + 15, x(count.total) - left, 7, COLOURS[stage], radius=2,
                        hint=f"{stage}: {count.mul} multiplications, {count.add} additions",
                        data={"method": row.method, "stage": stage, "total": count.total},
                    )
                )  # fmt: skip
    note = (
        "<div style='font-size:11px;opacity:.65'>multiplications and additions of one evaluation, "
        "logarithmic; the numbers are those of the last stage</div>"
    )
    bars = svg.picture(len(counted) * ROW + 6, parts, "operations")
    return svg.legend(COLOURS) + bars + note
