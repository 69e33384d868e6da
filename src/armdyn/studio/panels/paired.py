"""The torques of two arms in one state, joint by joint, on one scale."""

import numpy as np

from armdyn.formulations.ledger import Ledger
from armdyn.model import RobotModel
from armdyn.report.figures import COLOURS as TERMS
from armdyn.studio import svg

ROW, BAR = 46.0, 10.0
LABEL = 50.0
"""Width of the words before the bars."""
VALUE = 76.0
"""Width of the totals behind them."""
NEGLIGIBLE_TORQUE = 1e-9
"""A torque below this part of the largest is zero."""


def paired_bars(
    model: RobotModel, before: Ledger, after: Ledger, words: tuple[str, str] = ("before", "after")
) -> str:
    """Two bars a joint, split into their terms, as HTML; both have the scale of the larger."""
    left, right = LABEL, svg.WIDTH - VALUE
    middle, half = 0.5 * (left + right), 0.5 * (right - left)
    largest = max(float(np.abs(ledger.total).max()) for ledger in (before, after)) or 1.0
    parts: list[str] = []
    joints = model.coordinate_joints
    for i, joint in enumerate(joints):
        y = i * ROW
        scale = max(*(_reach(ledger, i) for ledger in (before, after)), 1e-3 * largest)
        change = _change(float(before.total[i]), float(after.total[i]), largest)
        parts += [
            svg.text(0, y + 11, joint.name, bold=True),
            svg.text(svg.WIDTH - 2, y + 11, change, anchor="end"),
        ]
        for k, (word, ledger) in enumerate(zip(words, (before, after), strict=True)):
            top = y + 16 + k * (BAR + 3)
            total = float(ledger.total[i])
            value = f"{svg.number(total, 4, largest)} {joint.type.torque_unit}"
            parts += [
                svg.text(left - 4, top + 9, word, anchor="end", faint=True, size=11),
                svg.box(left, top, 2 * half, BAR, "currentColor", opacity=0.07, radius=2),
                *_stack(ledger, i, top, middle, half, scale, k),
                f"<g class='paired' data-joint='{i}' data-arm='{k}' data-value='{total!r}'>",
                svg.text(svg.WIDTH - 2, top + 9, value, anchor="end", bold=bool(k)) + "</g>",
            ]
        parts.append(svg.line(middle, y + 15, middle, y + 18 + 2 * BAR, 0.5))
    acting = {
        k: TERMS[k]
        for k in before.terms
        if max(np.abs(ledger.terms[k]).max() for ledger in (before, after))
        > NEGLIGIBLE_TORQUE * largest
    }
    return svg.legend(acting) + svg.picture(len(joints) * ROW, parts, "paired")


def _reach(ledger: Ledger, i: int) -> float:
    """How far the terms of a joint reach to either side."""
    values = np.array([float(term[i]) for term in ledger.terms.values()])
    return float(max(values[values > 0].sum(), -values[values < 0].sum()))


def _change(before: float, after: float, largest: float) -> str:
    small = NEGLIGIBLE_TORQUE * largest
    if abs(before) <= small and abs(after) <= small:
        return "zero in both"
    if abs(before) <= small:
        return "new"
    percent = 100 * (abs(after) / abs(before) - 1)
    return "as before" if abs(percent) < 0.5 else f"{percent:+.0f} %".replace("-", "\N{MINUS SIGN}")


def _stack(
    ledger: Ledger, i: int, y: float, middle: float, half: float, scale: float, arm: int
) -> list[str]:
    ends, parts = {1: middle, -1: middle}, []
    for name, values in ledger.terms.items():
        value = float(values[i])
        side = 1 if value >= 0 else -1
        width = half * abs(value) / scale
        left = ends[side] if side > 0 else ends[side] - width
        ends[side] += side * width
        if abs(value) > NEGLIGIBLE_TORQUE * scale:
            data = {"joint": i, "arm": arm, "term": name, "value": repr(value)}
            parts.append(svg.box(left, y, width, BAR, TERMS[name], hint=name, data=data))
    return parts
