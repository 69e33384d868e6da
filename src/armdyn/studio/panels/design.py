"""Simplification: a new arm with simpler dynamics, seen beside the old one."""

from html import escape
from pathlib import Path
from typing import Any

from armdyn.arrays import Array
from armdyn.dynamics import Robot
from armdyn.errors import check_known
from armdyn.simplification.simplify import Report, Simplification, simplify
from armdyn.studio import svg
from armdyn.studio.arm import Arm, Evaluator
from armdyn.studio.background import Tell
from armdyn.studio.panels.study import report as show_report
from armdyn.studio.session import Panel, Session

GOALS = ("constant", "diagonal", "gravity-balanced", "constant+gravity-balanced")
CHANGES: dict[str, tuple[str | None, bool]] = {
    "centres of mass, inertias": (None, False),
    "masses too": ("*.mass,*.com,*.inertia", False),
    "only add counterweights": ("*.mass,*.com,*.inertia", True),
}
"""What may change, and whether material may only be added."""


class DesignPanel(Panel):
    """The design, when it is asked for."""

    def __init__(self, session: Session):
        self._session = session
        gui = session.client.gui
        self._goal = gui.add_dropdown("goal", GOALS)
        self._free = gui.add_dropdown("may change", tuple(CHANGES))
        button = gui.add_button("Find a design")
        self._html = gui.add_html("")
        self._beside = gui.add_checkbox(
            "compare", True, hint="Show the new arm beside the old one", visible=False
        )
        self._more = gui.add_button("Picture and report", visible=False)
        self._use = gui.add_button("Go on with the new arm", visible=False)
        self._found: tuple[Report, Path] | None = None
        button.on_click(session.guard(self._find))
        self._beside.on_update(session.guard(lambda _: self._compare()))
        self._more.on_click(session.guard(self._open))
        self._use.on_click(session.guard(self._go_on))

    def enter(self, arm: Arm) -> None:
        """There is no design yet."""
        self._found, self._html.content = None, ""
        self._offer(False)

    def _offer(self, there: bool) -> None:
        for handle in (self._beside, self._more, self._use):
            handle.visible = there

    def _find(self, _: Any) -> None:
        path = self._session.folder / "design.svg"
        check_known("change", self._free.value, CHANGES)
        goal, (free, add_only) = self._goal.value, CHANGES[self._free.value]

        def work(robot: Robot, tell: Tell) -> Report:
            tell("designing")
            found = simplify(
                robot, free, goal, add_only=add_only, symbolic=robot.n <= 3,
                progress=lambda done, steps: tell(f"searching lengths, {done} of {steps}"),
            )  # fmt: skip
            tell("comparing both arms")
            compared = found.report()
            tell("drawing both arms")
            compared.save(path)
            return compared

        def done(compared: Report) -> None:
            self._found = compared, path
            self._html.content = design_html(compared)
            self._offer(True)
            self._compare()

        self._session.study("designing", work, done)

    def _compare(self) -> None:
        shown = self._found if self._beside.value else None
        self._session.compare(shown[0].found.robot if shown else None)

    def _open(self, _: Any) -> None:
        if self._found is not None:
            compared, path = self._found
            title = f"{self._session.arm.title}: {compared.found.goals}"
            show_report(self._session, title, path, compared.text())

    def _go_on(self, _: Any) -> None:
        if self._found is not None:
            robot = self._found[0].found.robot

            def work(tell: Tell) -> Arm:
                tell("compiling the new arm")
                return Arm(robot, Evaluator(robot))

            self._session.jobs.start("loading", work, self._session.enter)


def design_html(compared: Report) -> str:
    """What was found in a few lines, and what changes link by link."""
    found: Simplification = compared.found
    before, after = compared.comparison.operations
    colour = "#1FA37C" if found.feasible else "#E5484D"
    word = "reached" if found.feasible else "not reached; the nearest design"
    rows = "".join(
        f"<tr><td>{escape(change.name)}</td>"
        f"<td>{change.mass[0]:.3g} → {change.mass[1]:.3g}</td>"
        f"<td>{_vector(change.com[0])} → {_vector(change.com[1])}</td></tr>"
        for change in found.design.changes
    )
    return (
        "<div class='armdyn-design' style='padding:4px 12px;font-size:12px'>"
        f"<div style='color:{colour};font-weight:650'>{escape(str(found.goals))}: {word}</div>"
        f"<div>{escape(found.reason)}</div>"
        f"<div style='margin:4px 0'>operations of the torque: <b>{before.total}</b> → "
        f"<b>{after.total}</b></div>"
        "<table style='width:100%;font-size:11px;border-spacing:0 2px'>"
        "<tr style='opacity:.65'><td>link</td><td>mass [kg]</td><td>centre of mass [m]</td></tr>"
        f"{rows}</table></div>"
    )


def _vector(values: Array) -> str:
    return f"({', '.join(svg.number(float(v)) for v in values)})"
