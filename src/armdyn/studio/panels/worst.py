"""The worst case: which motor breaks where, how much is left, and the way there."""

from html import escape
from typing import Any

import numpy as np

from armdyn.report.figures import ALARM
from armdyn.report.portrait import figure_html
from armdyn.robot import Robot
from armdyn.studio import svg
from armdyn.studio.arm import Arm, State
from armdyn.studio.background import Tell
from armdyn.studio.panels.edit import typed
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import POSITIVE
from armdyn.study.sizing.worst_case import Demand, WorstCase, worst_case

ROW = 30.0


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
    bars = [_bar(i, demand, found) for i, demand in enumerate(found.demands)]
    height = ROW * len(found.demands) + 4
    return svg.framed(
        f"<div style='color:{colour};font-weight:650'>{escape(str(worst))}</div>"
        f"<div style='opacity:.75'>{escape(found.verdict)}</div>"
        f"{svg.picture(height, [part for bar in bars for part in bar], 'worst')}"
        f"{figure_html(lambda: _map(found))}",
        "worst-case",
    )


def _bar(i: int, demand: Demand, found: WorstCase) -> list[str]:
    y, wide = i * ROW, svg.WIDTH - 8.0
    most = max([1.0, *(d.use for d in found.demands)])
    if np.isfinite(demand.limit):
        told = f"{demand.margin:.0f} % left" if not demand.breaks else f"{100 * demand.use:.0f} %!"
        width = wide * demand.use / most
    else:
        largest = max(abs(d.torque) for d in found.demands) or 1.0
        told, width = "no limit known", wide * abs(demand.torque) / largest
    words = f"{svg.number(abs(demand.torque), 4)} {demand.unit}, {told}"
    data = {"joint": i, "torque": repr(demand.torque), "margin": repr(demand.margin)}
    colour = ALARM if demand.breaks else POSITIVE
    limit = 4 + wide / most
    return [
        svg.text(4, y + 12, demand.joint, bold=True),
        svg.text(svg.WIDTH - 4, y + 12, words.replace("-", "\N{MINUS SIGN}"), anchor="end"),
        svg.box(4, y + 16, wide, 9, "currentColor", opacity=0.07, radius=2),
        svg.box(4, y + 16, width, 9, colour, radius=2, hint=str(demand), data=data),
        svg.line(limit, y + 14, limit, y + 27, 0.8),
    ]


def _map(found: WorstCase) -> Any:
    """The figure of the map, as wide as its column."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(3.6, 3.0), facecolor="white")
    found.map.draw(figure, figure.add_axes((0.17, 0.16, 0.68, 0.8)))
    return figure
