"""Pictures of numbers as inline SVG; text takes the colour of the page around it."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import ALARM
from armdyn.studio.style import LINES

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


def nice(value: float) -> float:
    """The next of 1, 2, 5, 10, ... that is not below a value."""
    if value <= 0 or not np.isfinite(value):
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * next(k for k in (1, 2, 5, 10) if k * power >= value * (1 - 1e-12)))


def curves(
    t: Array,
    values: Array,
    names: Sequence[str],
    title: str,
    cursor: float,
    limits: Array | None = None,
    height: float = 100,
) -> str:
    """Lines over time with a cursor; what is beyond the limits (n,) of magnitudes is marked."""
    left, right, top, bottom = 38.0, 6.0, 20.0, 16.0
    across, down = WIDTH - left - right, height - top - bottom
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin
    span = float(t[-1] - t[0]) or 1.0

    def x(time: Array | float) -> Array | float:
        return left + across * (time - t[0]) / span

    def y(value: Array | float) -> Array | float:
        return top + down * (high - value) / (high - low)

    parts = [text(0, 11, title, bold=True)]
    for level in (low + margin, high - margin):
        at = float(y(level))
        parts += [line(left, at, WIDTH - right, at, 0.12)]
        parts += [text(left - 4, at + 4, number(level), anchor="end", faint=True, size=9.5)]
    if low < 0 < high:
        parts.append(line(left, float(y(0.0)), WIDTH - right, float(y(0.0)), 0.35))
    for when, anchor in ((t[0], "start"), (t[-1], "end")):
        parts.append(
            text(float(x(when)), height - 3, f"{when:.3g} s", anchor=anchor, faint=True, size=9.5)
        )
    chosen = np.unique(np.linspace(0, len(t) - 1, 160).astype(int))
    for i in range(values.shape[1]):
        points = np.column_stack([x(t[chosen]), y(values[chosen, i])])
        beyond = limits is not None and np.abs(values[chosen, i]) > limits[i]
        for a, b in points[beyond]:
            parts.append(f"<circle class='beyond' cx='{a:.1f}' cy='{b:.1f}' r='3' fill='{ALARM}'/>")
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(
            f"<polyline points='{path}' fill='none' stroke='{LINES[i % len(LINES)]}' "
            f"stroke-width='1.6' stroke-linejoin='round'><title>{escape(names[i])}</title>"
            "</polyline>"
        )
    now = float(x(cursor))
    parts.append(
        f"<line class='cursor' data-time='{cursor:.4f}' x1='{now:.2f}' x2='{now:.2f}' y1='{top:g}' "
        f"y2='{top + down:g}' stroke='currentColor' stroke-width='1.4'/>"
    )
    for i in range(values.shape[1]):
        value = float(np.interp(cursor, t, values[:, i]))
        parts.append(f"<circle cx='{now:.2f}' cy='{float(y(value)):.2f}' r='2.6' "
                     f"fill='{LINES[i % len(LINES)]}'/>")  # fmt: skip
    return picture(height, parts, "curves")


def framed(content: str, kind: str = "") -> str:
    """Content with the margins of its column."""
    name = f" class='armdyn-{kind}'" if kind else ""
    return f"<div{name} style='padding:4px 12px;font-size:12px'>{content}</div>"


def cell(
    x: float, y: float, width: float, height: float, colour: str, words: str, *, size: float,
    opacity: float, hint: str, data: Mapping[str, object],
) -> str:  # fmt: skip
    """A cell of a matrix with words in its middle."""
    inside = x + 0.75, y + 0.75, width - 1.5, height - 1.5
    drawn = box(*inside, colour, opacity=opacity, radius=3, hint=hint, data=data)
    middle = x + width / 2, y + height / 2 + 3.5
    return drawn + (text(*middle, words, anchor="middle", size=size) if words else "")


def legend(entries: Mapping[str, str]) -> str:
    """Names with their colours, as HTML that wraps."""
    spans = (
        "<span style='display:inline-flex;align-items:center;margin-right:10px;white-space:nowrap'>"
        "<span style='width:9px;height:9px;border-radius:2px;margin-right:4px;"
        f"background:{colour}'></span>{escape(name)}</span>"
        for name, colour in entries.items()
    )
    return f"<div style='font-size:11px;line-height:1.7'>{''.join(spans)}</div>"
