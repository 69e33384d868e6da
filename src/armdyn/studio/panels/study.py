"""Operations of each formulation, the structure of the equations, the worst case of the motors."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from armdyn.errors import check_known
from armdyn.report.figures import ALARM
from armdyn.report.portrait import figure_html
from armdyn.report.result import DrawnResult
from armdyn.robot import Robot
from armdyn.studio import marks
from armdyn.studio.arm import Arm, State
from armdyn.studio.background import Tell
from armdyn.studio.panels.edit import typed
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import POSITIVE
from armdyn.studio.style import STAGES as COLOURS
from armdyn.study.operations.count import METHODS, MethodCounts
from armdyn.study.operations.report import OperationReport, operation_report
from armdyn.study.sizing.worst_case import Demand, WorstCase, worst_case
from armdyn.study.structure.structure import Structure, StructureElement, cell, reasons, structure

QUANTITIES = {
    method.quantity.replace("_", " "): method.quantity
    for method in METHODS
    if method.name == "minimal"
}
"""The quantities whose shortest program is searched for, by what people call them."""
TALL = 20
"""Height of a cell [pixels]."""


class OperationsPanel(Panel):
    """The comparison, when it is asked for."""

    def __init__(self, session: Session):
        super().__init__(session)
        gui = self._gui
        self._quantity = gui.add_dropdown(
            "quantity", tuple(QUANTITIES), hint="What is computed by every formulation"
        )
        self._button("Count operations", self._count)
        self._html = gui.add_html("")

    def enter(self, arm: Arm) -> None:
        """Nothing is counted yet."""
        self._html.content = ""

    def _count(self) -> None:
        check_known("quantity", self._quantity.value, QUANTITIES)
        quantity = QUANTITIES[self._quantity.value]

        def work(robot: Robot, tell: Tell) -> OperationReport:
            def searched(done: int, steps: int, best: int) -> None:
                tell(f"searching, {100 * done // steps} %, {best} operations so far")

            return operation_report(
                *(robot.model, (quantity,)),
                progress=lambda what: tell(f"counting {what}"),
                search_progress=searched,
            )

        def done(found: OperationReport) -> None:
            self._html.content = marks.framed(operation_bars(found.rows))

        self._session.study("counting operations", work, done)


def operation_bars(rows: Sequence[MethodCounts]) -> str:
    """Bars of multiplications and additions on a logarithmic scale, stage over stage, as HTML."""
    counted = [row for row in rows if any(row.stages.values())]
    totals = [c.total for row in counted for c in row.stages.values() if c is not None]
    least = max(min(totals, default=1), 1) / 2
    most = max([*totals, 2])
    parts = []
    for row in counted:
        spans = []
        for stage, count in row.stages.items():
            if count is not None:
                words = f"{count.mul} mul + {count.add} add = {count.total}"
                hint = f"{stage}: {count.mul} multiplications, {count.add} additions"
                length = float(np.log(max(count.total, least) / least) / np.log(most / least))
                data = {"method": row.method, "stage": stage, "total": count.total}
                spans.append(marks.span(0.0, length, COLOURS[stage], hint, **data))
        parts.append(marks.above_bar(row.method.replace("_", " "), words) + marks.bar(spans, 7))
    note = (
        "<div style='font-size:11px;opacity:.65'>multiplications and additions of one evaluation, "
        "logarithmic; the numbers are those of the last stage</div>"
    )
    bars = f"<div class='armdyn-operations'>{''.join(parts)}</div>"
    return marks.legend(COLOURS) + bars + note


class StructurePanel(Panel):
    """The structure, when it is asked for."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._button("Find the structure", self._find)
        self._html = self._gui.add_html("")
        self._more = self._button("Whole picture and report", self._open, visible=False)
        self._found: tuple[str, str] | None = None
        """Title and page of what was found."""

    def enter(self, arm: Arm) -> None:
        """Nothing is known yet."""
        self._found, self._html.content, self._more.visible = None, "", False

    def _find(self) -> None:
        def work(robot: Robot, tell: Tell) -> tuple[Structure, str]:
            found = structure(robot.model)
            tell("drawing the structure")
            return found, result_page(found)

        def done(answer: tuple[Structure, str]) -> None:
            found, report = answer
            self._found = f"{self._session.arm.title}: structure", report
            self._html.content = structure_html(found)
            self._more.visible = True

        self._session.study("finding the structure", work, done)

    def _open(self) -> None:
        if self._found is not None:
            self._session.lay_over(*self._found)


def structure_html(found: Structure) -> str:
    """The maps of D and g with the reasons of their zeros and constants."""
    n = len(found.joints)
    parts = [f"<b style='grid-column:span {n + 1}'>mass matrix</b><b>gravity</b>"]
    for row, g in zip(found.D, found.g, strict=True):
        parts += [*(_cell(element, n) for element in row), "<i></i>", _cell(g, n)]
    grid = f"display:grid;gap:1.5px;grid-template-columns:repeat({n},1fr) 4px 1fr;font-size:11px"
    counts = "; ".join(
        f"{name}: {count['zero']} zero, {count['constant']} constant, {count['varies']} vary"
        for name, count in found.counts.items()
    )
    items = "".join(
        f"<li><b>{escape(elements)}</b>: {escape(reason)}</li>"
        for owner, elements, reason in reasons(found)
        if owner != "h"
    )
    return marks.framed(
        f"<div style='{grid}'>{''.join(parts)}</div>"
        "<div style='opacity:.65'>0 zero, c constant, else the joints it depends on. "
        f"{escape(counts)}</div><ul style='margin:4px 0;padding-left:16px'>{items}</ul>",
        "structure",
    )


def result_page(result: DrawnResult) -> str:
    """The picture and the words of a result, for a window over the page."""
    words = f"<pre style='font-size:11px;white-space:pre-wrap'>{escape(result.report())}</pre>"
    look = "class='armdyn-report' style='max-height:70vh;overflow:auto'"
    return f"<div {look}>{figure_html(result.figure, 'svg')}{words}</div>"


def _cell(element: StructureElement, n: int) -> str:
    """A cell of a map with its words in the middle."""
    depths = {"zero": 0.05, "constant": 0.16, "varies": 0.25 + 0.55 * len(element.joints) / n}
    alpha = depths[element.status]
    colour = f"rgba(128,128,128,{alpha})"
    if element.status == "varies":
        colour = f"{POSITIVE}{round(255 * alpha):02x}"
    look = f"background:{colour};border-radius:3px;text-align:center;line-height:{TALL}px"
    hint = element.reason or f"depends on joints {cell(element)}"
    return marks.mark(look, cell(element) if n <= 7 else "", hint, status=element.status)


class WorstPanel(Panel):
    """The worst case, when it is asked for."""

    def __init__(self, session: Session):
        super().__init__(session)
        gui = self._gui
        self._payload: Any = gui.add_text(
            "payload [kg]", "0", hint="The heaviest mass that the tool may hold"
        )
        self._speed: Any = gui.add_slider(
            "speed [%]", 0.0, 100.0, 1.0, 100.0, hint="Share of the velocity limits"
        )
        self._acceleration: Any = gui.add_text(
            "acceleration", "0", hint="The largest [rad/s² or m/s²]: one for all, or one a joint"
        )
        self._button("Find the worst case", self._find)
        self._html = gui.add_html("")
        self._motor: Any = gui.add_dropdown("motor", ("joint1",), visible=False)
        self._go = self._button("Go to its worst state", self.go, visible=False)
        self.found: WorstCase | None = None

    def enter(self, arm: Arm) -> None:
        """Nothing is known yet."""
        self.found, self._html.content = None, ""
        self._motor.visible = self._go.visible = False

    def go(self) -> None:
        """Take the arm to the state that asks most of the chosen motor."""
        if self.found is not None:
            demands = {demand.joint: demand for demand in self.found.demands}
            demand = demands.get(self._motor.value, self.found.worst)
            state = State(demand.q, demand.qd, demand.qdd, demand.lift)
            self._session.take(state)
            self._session.look(state=state)

    def _find(self) -> None:
        bends = typed("acceleration", self._acceleration.value, 1, self._session.robot.n)
        asked: dict[str, Any] = {
            "lift": typed("payload", self._payload.value, 1)[0],
            "speed": float(self._speed.value) / 100,
            "acceleration": bends if len(bends) > 1 else bends[0],
        }

        def work(robot: Robot, tell: Tell) -> WorstCase:
            tell("compiling the torques")
            robot.kernel("inverse_dynamics", payload=True, friction=True)
            return worst_case(
                robot, **asked,
                progress=lambda done, motors: tell(f"searching, motor {done} of {motors}"),
            )  # fmt: skip

        def done(found: WorstCase) -> None:
            self.found = found
            self._html.content = worst_html(found)
            self._motor.options = tuple(demand.joint for demand in found.demands)
            self._motor.value = found.worst.joint
            self._motor.visible = self._go.visible = True

        self._session.study("finding the worst case", work, done)


def worst_html(found: WorstCase) -> str:
    """The verdict in a sentence, a bar a motor, and the map."""
    worst = found.worst
    colour = ALARM if found.broken else "inherit"
    bars = "".join(_bar(i, demand, found) for i, demand in enumerate(found.demands))
    return marks.framed(
        f"<div style='color:{colour};font-weight:650'>{escape(str(worst))}</div>"
        f"<div style='opacity:.75'>{escape(found.verdict)}</div>"
        f"{bars}{figure_html(lambda: _map(found))}",
        "worst-case",
    )


def _bar(i: int, demand: Demand, found: WorstCase) -> str:
    most = max([1.0, *(d.use for d in found.demands)])
    if np.isfinite(demand.limit):
        told = f"{demand.margin:.0f} % left" if not demand.breaks else f"{100 * demand.use:.0f} %!"
        width = demand.use / most
    else:
        largest = max(abs(d.torque) for d in found.demands) or 1.0
        told, width = "no limit known", abs(demand.torque) / largest
    words = f"{marks.number(abs(demand.torque), 4)} {demand.unit}, {told}"
    data = {"joint": i, "torque": repr(demand.torque), "margin": repr(demand.margin)}
    drawn = marks.span(0.0, width, ALARM if demand.breaks else POSITIVE, str(demand), **data)
    head = marks.above_bar(demand.joint, words.replace("-", "\N{MINUS SIGN}"))
    return head + marks.bar([drawn], 9, 1 / most)


def _map(found: WorstCase) -> Any:
    """The figure of the map, as wide as its column."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(3.6, 3.0), facecolor="white")
    found.map.draw(figure, figure.add_axes((0.17, 0.16, 0.68, 0.8)))
    return figure
