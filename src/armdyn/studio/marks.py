"""Pictures of numbers as HTML that flows; text takes the colour of the page around it."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np

from armdyn.formulations.ledger import Ledger
from armdyn.model import RobotModel
from armdyn.report.figures import COLOURS as TERMS

GROUND = "rgba(128,128,128,.16)"
"""What bars stand on."""


def mark(look: str, words: str = "", hint: str = "", **data: Any) -> str:
    """A piece of a picture with data for programs, and a hint for people who point at it."""
    named = "".join(f" data-{k}='{escape(str(v))}'" for k, v in data.items())
    return f"<i title='{escape(hint)}'{named} style='font-style:normal;{look}'>{escape(words)}</i>"


def span(start: float, width: float, colour: str, hint: str = "", **data: Any) -> str:
    """A part of a bar, from a share of its length on."""
    place = f"position:absolute;height:100%;left:{100 * start:.2f}%;width:{100 * width:.2f}%"
    return mark(f"{place};background:{colour};border-radius:2px", hint=hint, **data)


def bar(spans: Iterable[str], height: float, line: float | None = None) -> str:
    """A bar of parts, with a line across it at a share of its length."""
    look = "position:absolute;top:0;bottom:-2px;border-left:1px solid;opacity:.6"
    across = "" if line is None else mark(f"{look};left:{100 * line:.2f}%")
    place = f"position:relative;flex:1;height:{height:g}px;margin:1px 0"
    ground = f"<div style='{place};border-radius:2px;background:{GROUND}'>"
    return f"{ground}{''.join(spans)}{across}</div>"


def above_bar(name: str, words: str) -> str:
    """The line above a bar: a name on the left, words on the right."""
    name, words = escape(name), escape(words)
    look = "display:flex;font-size:11px;margin-top:6px"
    return f"<div style='{look}'><b style='flex:1'>{name}</b><span>{words}</span></div>"


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


NEGLIGIBLE_TORQUE = 1e-9
"""A torque below this part of the largest is zero."""


def paired_bars(
    model: RobotModel, before: Ledger, after: Ledger, words: tuple[str, str] = ("before", "after")
) -> str:
    """Two bars a joint, split into their terms, as HTML; both have the scale of the larger."""
    pair = before, after
    largest = max(float(np.abs(ledger.total).max()) for ledger in pair) or 1.0
    parts = []
    for i, joint in enumerate(model.coordinate_joints):
        scale = max(*(_reach(ledger, i) for ledger in pair), 1e-3 * largest)
        change = _change(float(before.total[i]), float(after.total[i]), largest)
        parts.append(above_bar(joint.name, change))
        for k, (word, ledger) in enumerate(zip(words, pair, strict=True)):
            total = float(ledger.total[i])
            value = f"{number(total, 4, largest)} {joint.type.torque_unit}"
            parts.append(
                "<div style='display:flex;align-items:center;gap:4px;font-size:11px'>"
                f"<span style='width:46px;text-align:right;opacity:.7'>{word}</span>"
                f"{bar(_stack(ledger, i, scale, k), 10, 0.5)}<span class='paired' data-joint='{i}' "
                f"data-arm='{k}' data-value='{total!r}' style='width:76px;text-align:right;"
                f"font-weight:{600 if k else 400}'>{value}</span></div>"
            )
    acting = {
        k: TERMS[k]
        for k in before.terms
        if max(np.abs(ledger.terms[k]).max() for ledger in pair) > NEGLIGIBLE_TORQUE * largest
    }
    return f"{legend(acting)}<div class='armdyn-paired'>{''.join(parts)}</div>"


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


def _stack(ledger: Ledger, i: int, scale: float, arm: int) -> Iterable[str]:
    """The terms of a joint, to either side of the middle."""
    ends = {1: 0.5, -1: 0.5}
    for name, values in ledger.terms.items():
        value = float(values[i])
        side = 1 if value >= 0 else -1
        start, ends[side] = ends[side], ends[side] + 0.5 * value / scale
        if abs(value) > NEGLIGIBLE_TORQUE * scale:
            place = min(start, ends[side]), abs(ends[side] - start)
            yield span(*place, TERMS[name], name, joint=i, arm=arm, term=name, value=repr(value))
