"""The state now: live torque bars, split into the terms of the ledger, and the mass matrix."""

from collections.abc import Sequence

import numpy as np
import viser

from armdyn.arrays import Array
from armdyn.figures import COLOURS as TERMS
from armdyn.formulations.ledger import Ledger
from armdyn.model import Joint
from armdyn.studio import svg
from armdyn.studio.arm import COMPILED_JOINTS, Arm, Snapshot
from armdyn.studio.session import Panel
from armdyn.studio.style import NEGATIVE, POSITIVE

ROW, BAR = 34.0, 12.0
"""Height of a joint and of its bar."""
FINEST_SCALE = 1e-3
"""The finest scale, relative to the coarsest."""
INVISIBLE_TERM = 1e-9
"""A term below this part of the largest torque is not in the legend."""
MAX_BARS = 64
"""Joints whose torques are drawn."""
MAX_WRITTEN_JOINTS = 8
"""A matrix of more joints has no numbers in its cells."""
MAX_ROW_HEIGHT = 34.0
SIGN_ROUNDING = 1e-9
"""An element below this part of the largest one has no sign: it is rounding."""


class TorquePanel(Panel):
    """The torques of the actuators now."""

    def __init__(self, gui: viser.GuiApi):
        self._html = gui.add_html("")
        self._joints: list[Joint] = []
        self._scales = np.zeros(0)

    def enter(self, arm: Arm) -> None:
        """Begin with another robot: bars end at the limits of effort, where there are any."""
        model = arm.robot.model
        self._joints = [model.joints[i] for i in model.independent]
        self._scales = np.array([joint.limits.effort for joint in self._joints])

    def show(self, snapshot: Snapshot) -> None:
        """Draw the bars; a scale without a limit grows with what it has to show."""
        limited = np.isfinite([joint.limits.effort for joint in self._joints])
        self._scales = np.where(limited, self._scales, grown(self._scales, snapshot.ledger))
        names = [joint.name for joint in self._joints]
        units = [joint.type.torque_unit for joint in self._joints]
        bars = torque_bars(snapshot.ledger, names[:MAX_BARS], units, self._scales, limited)
        rest = len(names) - MAX_BARS
        more = svg.framed(f"and {rest} more joints, which are not drawn") if rest > 0 else ""
        self._html.content = bars + more


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
        words = f"{svg.number(float(total[i]), 4, largest)} {units[i]}" + (" !" if over else "")
        tip = middle + half * float(np.clip(total[i] / scales[i], -1, 1))
        parts += [
            svg.text(2, y + 13, name, bold=True),
            svg.text(middle, y + 13, end, faint=True, size=9.5, anchor="middle"),
            f"<g class='total' data-joint='{i}' data-value='{float(total[i])!r}'>",
            svg.text(svg.WIDTH - 2, y + 13, words, bold=True, anchor="end") + "</g>",
            svg.box(4, y + 18, 2 * half, BAR, "currentColor", opacity=0.07, radius=3, hint=end),
            *_bar(i, y + 18, {k: float(v[i]) for k, v in terms.items()}, scales[i], units[i]),
            svg.line(middle, y + 16, middle, y + 20 + BAR, 0.5),
            f"<path d='M{tip:.1f} {y + 30:.1f} l-4 5 h8 z' fill='currentColor' class='tip'/>",
        ]
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


class MatrixPanel(Panel):
    """The mass matrix now."""

    def __init__(self, gui: viser.GuiApi):
        self._html = gui.add_html("")
        self._names: tuple[str, ...] = ()

    def enter(self, arm: Arm) -> None:
        """Begin with another robot."""
        self._names = arm.robot.joint_names

    def show(self, snapshot: Snapshot) -> None:
        """Draw it."""
        drawn = f"not drawn for more than {COMPILED_JOINTS} joints"
        if snapshot.mass_matrix is not None:
            drawn = heat_map(snapshot.mass_matrix, self._names)
        self._html.content = svg.framed(drawn)


def heat_map(matrix: Array, names: Sequence[str]) -> str:
    """A matrix as SVG: the root of each magnitude as depth of colour, blue or orange by sign."""
    n = len(matrix)
    left, top = 18.0, 18.0
    wide = (svg.WIDTH - left - 2) / n
    tall = min(wide, MAX_ROW_HEIGHT)
    largest = float(np.abs(matrix).max()) or 1.0
    parts = []
    for i in range(n):
        row, column = top + (i + 0.5) * tall + 4, left + (i + 0.5) * wide
        parts.append(svg.text(left - 6, row, str(i + 1), anchor="end", faint=True))
        parts.append(svg.text(column, top - 6, str(i + 1), anchor="middle", faint=True))
        for j in range(n):
            x, y, value = left + j * wide, top + i * tall, float(matrix[i, j])
            depth = float(np.sqrt(abs(value) / largest))
            hint = f"{names[i]}, {names[j]}: {value:.6g}"
            colour = NEGATIVE if value < -SIGN_ROUNDING * largest else POSITIVE
            words = svg.number(value, scale=largest) if n <= MAX_WRITTEN_JOINTS else ""
            parts.append(
                svg.cell(
                    x, y, wide, tall, colour, words, size=9.5 if n > 6 else 10.5,
                    opacity=0.05 + 0.8 * depth, hint=hint,
                    data={"row": i, "column": j, "value": repr(value)},
                )
            )  # fmt: skip
    return svg.picture(top + n * tall + 4, parts, "matrix")
