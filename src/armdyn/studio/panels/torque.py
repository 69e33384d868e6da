"""Live torque bars, one a joint, split into the terms of the ledger."""

from collections.abc import Sequence

import numpy as np
import viser

from armdyn.arrays import Array
from armdyn.formulations.ledger import Ledger
from armdyn.studio import svg
from armdyn.studio.arm import Arm
from armdyn.studio.evaluate import Snapshot
from armdyn.studio.session import Panel
from armdyn.studio.style import TERMS

ROW, BAR = 34.0, 12.0
"""Height of a joint and of its bar."""
FINEST_SCALE = 1e-3
"""The finest scale, relative to the coarsest."""
INVISIBLE_TERM = 1e-9
"""A term below this part of the largest torque is not in the legend."""


class TorquePanel(Panel):
    """The torques of the actuators now."""

    def __init__(self, gui: viser.GuiApi):
        self._html = gui.add_html("")
        self._arm: Arm | None = None
        self._scales = np.zeros(0)

    def enter(self, arm: Arm) -> None:
        """Begin with another robot: bars end at the limits of effort, where there are any."""
        self._arm = arm
        moving = [arm.robot.model.joints[i] for i in arm.robot.model.independent]
        self._scales = np.array([joint.limits.effort for joint in moving])

    def show(self, snapshot: Snapshot) -> None:
        """Draw the bars; a scale without a limit grows with what it has to show."""
        if self._arm is None:
            return
        joints = [self._arm.robot.model.joints[i] for i in self._arm.robot.model.independent]
        free = np.array([not np.isfinite(joint.limits.effort) for joint in joints])
        self._scales = np.where(free, grown(self._scales, snapshot.ledger), self._scales)
        units = [joint.type.torque_unit for joint in joints]
        self._html.content = torque_bars(
            snapshot.ledger, [joint.name for joint in joints], units, self._scales, ~free
        )


def grown(scales: Array, ledger: Ledger) -> Array:
    """Round scales that are long enough for the bars of a torque, and never shrink."""
    stacked = np.stack(list(ledger.terms.values()))
    needed = np.maximum(np.maximum(stacked, 0).sum(0), np.maximum(-stacked, 0).sum(0))
    needed = np.maximum(needed, FINEST_SCALE * needed.max())
    before = np.where(np.isfinite(scales), scales, 0.0)
    return np.array([max(b, svg.nice(x)) for b, x in zip(before, needed, strict=True)])


def torque_bars(
    ledger: Ledger, names: Sequence[str], units: Sequence[str], scales: Array, limited: Array
) -> str:
    """The bars as HTML: positive terms to the right of the middle, negative ones to the left.

    Bars end at the scales [N m or N]; `limited` says which of these are limits of actuators.
    """
    terms, total = ledger.terms, ledger.total
    middle, half = svg.WIDTH / 2, svg.WIDTH / 2 - 4
    largest = float(np.abs(total).max()) or 1.0
    parts: list[str] = []
    for i, name in enumerate(names):
        y = i * ROW
        over = bool(limited[i] and abs(total[i]) > scales[i])
        end = f"{'limit' if limited[i] else 'scale'} ±{scales[i]:g}"
        parts.append(svg.text(2, y + 13, name, bold=True))
        parts.append(svg.text(middle, y + 13, end, faint=True, size=9.5, anchor="middle"))
        words = f"{svg.number(float(total[i]), 4, largest)} {units[i]}" + (" !" if over else "")
        parts.append(
            f"<g class='total' data-joint='{i}' data-value='{float(total[i])!r}'>"
            + svg.text(svg.WIDTH - 2, y + 13, words, bold=True, anchor="end")
            + "</g>"
        )
        parts.append(
            svg.box(4, y + 18, 2 * half, BAR, "currentColor", opacity=0.07, radius=3, hint=end)
        )
        parts += _bar(i, y + 18, {k: float(v[i]) for k, v in terms.items()}, scales[i], units[i])
        parts.append(svg.line(middle, y + 16, middle, y + 20 + BAR, 0.5))
        tip = middle + half * float(np.clip(total[i] / scales[i], -1, 1))
        parts.append(
            f"<path d='M{tip:.1f} {y + 30:.1f} l-4 5 h8 z' fill='currentColor' class='tip'/>"
        )
    acting = {
        k: TERMS[k] for k, v in terms.items() if float(np.abs(v).max()) > INVISIBLE_TERM * largest
    }
    return svg.framed(svg.legend(acting) + svg.picture(len(names) * ROW + 6, parts, "torque"))


def _bar(i: int, y: float, terms: dict[str, float], scale: float, unit: str) -> list[str]:
    """The terms of one joint, one after the other on their side of the middle."""
    middle, half = svg.WIDTH / 2, svg.WIDTH / 2 - 4
    ends = {1: middle, -1: middle}
    parts = []
    for name, value in terms.items():
        side = 1 if value >= 0 else -1
        room = half - abs(ends[side] - middle)
        width = min(half * abs(value) / scale, room)
        left = ends[side] if side > 0 else ends[side] - width
        ends[side] += side * width
        if value:
            data = {"joint": i, "term": name, "value": repr(value)}
            hint = f"{name} {value:.5g} {unit}"
            parts.append(svg.box(left, y, width, BAR, TERMS[name], hint=hint, data=data))
    return parts
