"""The worst case: which motor breaks where, how much is left, and the way there."""

from html import escape
from typing import Any

import numpy as np

from armdyn.report.figures import ALARM
from armdyn.robot import Robot
from armdyn.studio import svg
from armdyn.studio.arm import Arm, State
from armdyn.studio.background import Tell
from armdyn.studio.fields import typed
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import POSITIVE
from armdyn.study.sizing.worst_case import Demand, HeatMap, WorstCase, worst_case

ROW = 30.0
COLD = np.array([33, 84, 140])
HOT = np.array([253, 224, 71])
"""Colours of a motor that does nothing, and of one at its limit."""
BROKEN = np.array([200, 30, 45])


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
        f"<div style='opacity:.75'>found among {found.states:,} states; that there is none worse "
        "is not proved</div>"
        f"{svg.picture(height, [part for bar in bars for part in bar], 'worst')}"
        f"{heat_html(found.map)}",
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


def heat_html(heat: HeatMap) -> str:
    """The map as SVG: the use of the motor that works hardest over two joints."""
    left, top, size = 34.0, 18.0, 220.0
    k = len(heat.x)
    cell = size / k
    parts = [
        svg.text(0, 11, "the motor that works hardest", bold=True),
        svg.text(left + size / 2, top + size + 24, heat.names[0], anchor="middle"),
        f"<g transform='translate(10 {top + size / 2:.0f}) rotate(-90)'>"
        + svg.text(0, 0, heat.names[1], anchor="middle") + "</g>",
    ]  # fmt: skip
    parts.append("<g shape-rendering='crispEdges'>")
    for row in range(k):
        for column in range(k):
            use = float(heat.use[row, column])
            place = left + column * cell, top + size - (row + 1) * cell
            parts.append(
                f"<rect x='{place[0]:.1f}' y='{place[1]:.1f}' width='{cell + 0.3:.1f}' "
                f"height='{cell + 0.3:.1f}' fill='{_colour(use)}'/>"
            )
    parts.append("</g>")
    at = _share(heat.worst[0], heat.x), _share(heat.worst[1], heat.y)
    parts.append(
        f"<circle class='worst-place' cx='{left + at[0] * size:.1f}' "
        f"cy='{top + (1 - at[1]) * size:.1f}' r='5' fill='none' stroke='white' stroke-width='2'/>"
    )
    for end, anchor, x in ((heat.x[0], "start", left), (heat.x[-1], "end", left + size)):
        parts.append(svg.text(x, top + size + 12, svg.number(float(end)), anchor=anchor))
    for end, y in ((heat.y[0], top + size), (heat.y[-1], top + 9)):
        parts.append(svg.text(left - 3, y, svg.number(float(end)), anchor="end"))
    for j, use in enumerate((0.0, 0.25, 0.5, 0.75, 1.0, 1.3)):
        y = top + size - 20 - 26 * j
        parts.append(f"<rect x='{left + size + 10:.0f}' y='{y:.0f}' width='14' height='22' "
                     f"fill='{_colour(use)}'/>")  # fmt: skip
        word = f"{100 * use:.0f} %" if use <= 1 else "over"
        parts.append(svg.text(left + size + 28, y + 15, word))
    return svg.picture(top + size + 30, parts, "heat")


def _colour(use: float) -> str:
    mixed = BROKEN if use > 1 else COLD + (HOT - COLD) * use
    return "#" + "".join(f"{round(float(x)):02x}" for x in mixed)


def _share(value: float, values: Any) -> float:
    return float((value - values[0]) / ((values[-1] - values[0]) or 1.0))
