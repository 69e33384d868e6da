"""Pictures of numbers as inline SVG; text takes the colour of the page around it."""

from collections.abc import Iterable, Mapping
from html import escape

import numpy as np

from armdyn.formulations.ledger import Ledger
from armdyn.model import RobotModel
from armdyn.report.figures import COLOURS as TERMS

WIDTH = 320
FONT = "font-family='inherit' font-size='11'"


def picture(height: float, parts: Iterable[str], kind: str, width: float = WIDTH) -> str:
    """An SVG as wide as its column."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' "
        f"width='100%' class='armdyn-{kind}' {FONT} fill='currentColor' "
        f"style='display:block'>{''.join(parts)}</svg>"
    )


def text(
    x: float, y: float, words: str, *, anchor: str = "start", size: float = 11,
    faint: bool = False, bold: bool = False,
) -> str:  # fmt: skip
    """A line of words; they are escaped."""
    look = (" opacity='0.62'" if faint else "") + (" font-weight='600'" if bold else "")
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size:g}'{look}>"
        f"{escape(words)}</text>"
    )


def box(
    x: float, y: float, width: float, height: float, colour: str, *, hint: str = "",
    opacity: float = 1.0, radius: float = 0.0, data: Mapping[str, object] | None = None,
) -> str:  # fmt: skip
    """A rectangle with data for programs and a hint for people who point at it."""
    named = "".join(f" data-{k}='{escape(str(v))}'" for k, v in (data or {}).items())
    return (
        f"<rect x='{x:.2f}' y='{y:.2f}' width='{max(width, 0):.2f}' height='{height:.2f}' "
        f"rx='{radius:g}' fill='{colour}' fill-opacity='{opacity:.3f}'{named}>"
        f"<title>{escape(hint)}</title></rect>"
    )


def heading(y: float, name: str, words: str) -> str:
    """The line above a bar: a name on the left, words on the right."""
    return text(4, y + 11, name, bold=True) + text(WIDTH - 4, y + 11, words, anchor="end")


def line(x1: float, y1: float, x2: float, y2: float, opacity: float = 0.3) -> str:
    """A thin line."""
    return (
        f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
        f"stroke='currentColor' stroke-width='1' stroke-opacity='{opacity:g}'/>"
    )


def number(value: float, digits: int = 3, scale: float = 1.0) -> str:
    """A number to read: few digits, a true minus; 0 if below a hundred-thousandth of the scale."""
    if not np.isfinite(value):
        return "–"
    size = abs(value)
    if size <= 1e-5 * scale:
        return "0"
    if size < 1e-3:
        mantissa, power = f"{value:.0e}".split("e")
        words = f"{mantissa}e{int(power)}"
    else:
        words = f"{value:.{max(0, digits - 1 - max(int(np.floor(np.log10(size))), -1))}f}"
    return words.replace("-", "\N{MINUS SIGN}")


def framed(content: str, kind: str = "") -> str:
    """Content with the margins of its column."""
    name = f" class='armdyn-{kind}'" if kind else ""
    return f"<div{name} style='padding:4px 12px;font-size:12px'>{content}</div>"


def legend(entries: Mapping[str, str]) -> str:
    """Names with their colours, as HTML that wraps."""
    spans = (
        "<span style='display:inline-flex;align-items:center;margin-right:10px;white-space:nowrap'>"
        "<span style='width:9px;height:9px;border-radius:2px;margin-right:4px;"
        f"background:{colour}'></span>{escape(name)}</span>"
        for name, colour in entries.items()
    )
    return f"<div style='font-size:11px;line-height:1.7'>{''.join(spans)}</div>"


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
    left, right = LABEL, WIDTH - VALUE
    middle, half = 0.5 * (left + right), 0.5 * (right - left)
    largest = max(float(np.abs(ledger.total).max()) for ledger in (before, after)) or 1.0
    parts: list[str] = []
    joints = model.coordinate_joints
    for i, joint in enumerate(joints):
        y = i * ROW
        scale = max(*(_reach(ledger, i) for ledger in (before, after)), 1e-3 * largest)
        change = _change(float(before.total[i]), float(after.total[i]), largest)
        parts.append(heading(y, joint.name, change))
        for k, (word, ledger) in enumerate(zip(words, (before, after), strict=True)):
            top = y + 16 + k * (BAR + 3)
            total = float(ledger.total[i])
            value = f"{number(total, 4, largest)} {joint.type.torque_unit}"
            parts += [
                text(left - 4, top + 9, word, anchor="end", faint=True, size=11),
                box(left, top, 2 * half, BAR, "currentColor", opacity=0.07, radius=2),
                *_stack(ledger, i, top, middle, half, scale, k),
                f"<g class='paired' data-joint='{i}' data-arm='{k}' data-value='{total!r}'>",
                text(WIDTH - 4, top + 9, value, anchor="end", bold=bool(k)) + "</g>",
            ]
        parts.append(line(middle, y + 15, middle, y + 18 + 2 * BAR, 0.5))
    acting = {
        k: TERMS[k]
        for k in before.terms
        if max(np.abs(ledger.terms[k]).max() for ledger in (before, after))
        > NEGLIGIBLE_TORQUE * largest
    }
    return legend(acting) + picture(len(joints) * ROW, parts, "paired")


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
            parts.append(box(left, y, width, BAR, TERMS[name], hint=name, data=data))
    return parts
