"""How every picture looks, and how it gets to its file."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import WriteError, check_installed
from armdyn.io.atomic import replacing
from armdyn.io.regular import check_path

FORMATS = (".png", ".pdf", ".svg")
POINTS = 1500
"""Pieces into which a long line is cut; each keeps its lowest and highest point."""

# after Okabe and Ito: colours that colour-blind readers can tell apart
COLOURS = {
    "inertial": "#0072B2",
    "coriolis": "#CC79A7",
    "gravity": "#009E73",
    "rotor": "#56B4E9",
    "spin": "#1F4E79",
    "viscous": "#E69F00",
    "coulomb": "#D55E00",
    "stribeck": "#999933",
    "offset": "#882255",
    "external": "#8C6BB1",
    "base": "#7F3B08",
}
INK, GREY, PALE, ALARM = "#1A1A1A", "#6B6B6B", "#D9D9D9", "#B2182B"
LIMIT: Any = {"color": ALARM, "linewidth": 0.9, "linestyle": (0, (6, 2))}
"""How the line at a limit looks."""
LIMIT_ROOM = 1.6
"""A limit is drawn if it is no farther from zero than this many times the largest value."""
STYLE: Any = {
    "font.size": 9,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.unicode_minus": True,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "svg.hashsalt": "armdyn",
}


def check_plot(path: str | Path) -> None:
    """Refuse, before anything is computed, a plot that could not be drawn."""
    if check_path(path).suffix.lower() not in FORMATS:
        raise WriteError(
            f"cannot draw a plot to {str(path)!r}: the ending must be one of {', '.join(FORMATS)}"
        )
    check_installed("matplotlib", "plot", "drawing a plot")


def save_picture(path: str | Path, draw: Callable[..., Any], *drawn: Any) -> None:
    """Write the figure `draw(*drawn)` to a .png, .pdf or .svg file, whole or not at all."""
    check_plot(path)
    with replacing(path) as stream:
        styled_figure(draw, *drawn, save=(stream, Path(path).suffix[1:].lower(), 160))


def styled_figure(
    draw: Callable[..., Any], *drawn: Any, save: tuple[Any, str, int] | None = None
) -> Any:
    """The figure `draw(*drawn)` in the style of all pictures; saved to a stream, format and dpi."""
    check_plot("figure.png")
    import matplotlib as mpl  # noqa: PLC0415 (an extra)

    with mpl.rc_context(STYLE):
        figure = draw(*drawn)
        if save is not None:  # ticks are made when they are drawn, and take the style then
            figure.savefig(save[0], format=save[1], dpi=save[2])
        return figure


def panel_grid(
    figure: Any, count: int, columns: int, room: Mapping[str, float], **share: bool
) -> list[Any]:
    """So many panels in a grid with `room` around and between them; places left over are empty."""
    places = figure.subplots(-(-count // columns), columns, squeeze=False, **share).ravel()
    figure.subplots_adjust(**room)
    for place in places[count:]:
        place.set_visible(False)
    return list(places[:count])


def panels_of_joints(n: int, t: Array, below: float = 0.0) -> tuple[Any, list[Any]]:
    """A figure with a panel over the times t for each of n joints, room for a head and `below`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    columns = 1 if n <= 2 else 2 if n <= 8 else 3
    height = 1.55 + 1.7 * -(-n // columns) + below
    figure = Figure(figsize=((8.0, 9.8, 14.6)[columns - 1], height), facecolor="white")
    room = {"left": 0.09 if columns < 3 else 0.06, "right": 0.98, "hspace": 0.38}
    room |= {"wspace": 0.2 if columns < 3 else 0.24, "top": 1 - 1.25 / height}
    room["bottom"] = (0.5 + below) / height
    panels = panel_grid(figure, n, columns, room, sharex=True)
    for i, panel in enumerate(panels):
        time_axis(panel, t, last=i + columns >= n)
    figure.align_ylabels(panels)
    return figure, panels


def time_axis(panel: Any, t: Array, last: bool | None = None) -> None:
    """Give a panel the times t (m,) [s] and a line at zero; the last of a column names the time."""
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    panel.set_xlim(*(t[[0, -1]] if len(t) > 1 else t[0] + np.array([-0.5, 0.5])))
    panel.margins(y=0.08)
    panel.locator_params(axis="y", nbins=5)
    if last is not None:
        panel.tick_params(labelbottom=last)
        panel.set_xlabel("time [s]" if last else "")


def write_head(figure: Any, left: float, title: str, subtitle: str, drop: float) -> None:
    """Title and subtitle of a figure from `left` on, `drop` below its edge [inch]."""
    inch, look = 1 / figure.get_figheight(), {"color": INK, "va": "center"}
    figure.text(left, 1 - drop * inch, title, fontsize=13, weight="bold", **look)
    figure.text(left, 1 - (drop + 0.25) * inch, subtitle, **look | {"color": GREY})


def draw_head(
    figure: Any, left: float, title: str, subtitle: str, lines: Mapping[str, Any]
) -> None:
    """Title, subtitle and legend above the panels of a figure, from `left` on."""
    write_head(figure, left, title, subtitle, 0.24)
    legend_row(figure, left, 0.78, lines)


def legend_row(figure: Any, left: float, drop: float, key: Mapping[str, Any], **look: Any) -> None:
    """A legend in one row from `left` on, `drop` below the edge of a figure [inch]."""
    place = left, 1 - drop / figure.get_figheight()
    figure.legend(
        key.values(), key.keys(), loc="center left", bbox_to_anchor=place,
        ncols=len(key) or 1, frameon=False, borderpad=0, borderaxespad=0, handlelength=1.5,
        columnspacing=1.2, labelcolor=INK, **look,
    )  # fmt: skip


def thinned(t: Array, values: Array) -> tuple[Array, Array]:
    """A line of at most two points for each of the pieces, lowest and highest kept."""
    if len(t) <= 2 * POINTS:
        return t, values
    edges = np.linspace(0, len(t), POINTS + 1).astype(int)[:-1]
    low = np.minimum.reduceat(values, edges)
    high = np.maximum.reduceat(values, edges)
    return np.repeat(t[edges], 2), np.column_stack([low, high]).ravel()


def draw_limit(axes: Any, t: Array, values: Array, limit: float) -> Any:
    """A line at a limit of the magnitude of values (k, m), which are marked where they exceed it.

    Returns the line for a legend, None if there is none: a limit that is far away would flatten the
    values, so the words of `peak_words` say it alone.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    if not limit <= LIMIT_ROOM * max(high.max(), -low.min()):
        return None
    line = None
    for sign, edge in ((1.0, high), (-1.0, -low)):
        if limit <= LIMIT_ROOM * edge.max():
            line = axes.axhline(sign * limit, **LIMIT)
            at, drawn = thinned(t, edge)
            axes.fill_between(
                at, sign * limit, sign * drawn, where=drawn > limit, interpolate=True, color=ALARM,
                alpha=0.35, linewidth=0, zorder=2.5,
            )  # fmt: skip
    return line


def peak_words(peak: float, unit: str, limit: float = math.inf) -> dict[str, Any]:
    """A peak with its limit, as the words and the colour of a title."""

    def said(number: float) -> str:
        text = format(number, ".0f" if abs(number) >= 1000 else ".3g")
        return text.replace("-", "\N{MINUS SIGN}")

    of = f" of {said(limit)}" if math.isfinite(limit) else ""
    beyond = abs(peak) > limit
    look = {"color": ALARM, "weight": "bold"} if beyond else {"color": GREY}
    return {"label": f"peak {said(peak)}{of} {unit}", "fontsize": 8, "pad": 5, **look}
