"""Pictures of numbers as inline SVG; text takes the colour of the page around it."""

from collections.abc import Iterable, Mapping
from html import escape

import numpy as np

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
