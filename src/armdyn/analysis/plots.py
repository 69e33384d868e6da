"""Plots. Everything that needs matplotlib lives here."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.analysis.torque_report import TorqueReport
from armdyn.arrays import Array
from armdyn.errors import MissingExtraError, WriteError
from armdyn.io.atomic import replacing

FORMATS = (".png", ".pdf", ".svg")
POINTS = 1500
"""Pieces into which a long line is cut; each keeps its lowest and highest point."""

# after Okabe and Ito: colours that colour-blind readers can tell apart
COLOURS = {
    "inertial": "#0072B2",
    "coriolis": "#CC79A7",
    "gravity": "#009E73",
    "rotor": "#56B4E9",
    "viscous": "#E69F00",
    "coulomb": "#D55E00",
    "stribeck": "#999933",
    "external": "#8C6BB1",
}
INK, GREY, PALE = "#1A1A1A", "#6B6B6B", "#D9D9D9"
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


def plot_torques(report: TorqueReport, path: str | Path) -> None:
    """Draw the torques along a trajectory to a file: a panel a joint, a line a term.

    Args:
        report: The torques and their terms.
        path: A file ending in .png, .pdf or .svg; it appears whole or not at all.

    Raises:
        MissingExtraError: matplotlib is not installed.
        WriteError: The ending is not one of these, or the file cannot be written.
    """
    check_plot(path)
    import matplotlib as mpl  # noqa: PLC0415 (an extra)

    with mpl.rc_context(STYLE):
        figure = _torque_figure(report)
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=160)


def check_plot(path: str | Path) -> None:
    """Refuse, before anything is computed, a plot that could not be drawn."""
    if Path(path).suffix.lower() not in FORMATS:
        raise WriteError(
            f"cannot draw a plot to {str(path)!r}: the ending must be one of {', '.join(FORMATS)}"
        )
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", "drawing a plot")


def _torque_figure(report: TorqueReport) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = len(report.joints)
    columns = 1 if n <= 2 else 2 if n <= 8 else 3
    rows = -(-n // columns)
    height = 1.55 + 1.7 * rows
    figure = Figure(figsize=((8.0, 9.8, 14.6)[columns - 1], height), facecolor="white")
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False)
    inch = 1 / height
    figure.subplots_adjust(
        left=0.09 if columns < 3 else 0.06,
        right=0.98,
        top=1 - 1.25 * inch,
        bottom=0.5 * inch,
        hspace=0.38,
        wspace=0.2 if columns < 3 else 0.24,
    )
    panels = axes.ravel()
    for i, panel in enumerate(panels[:n]):
        _draw_joint(panel, report, i)
        last = i + columns >= n
        panel.tick_params(labelbottom=last)
        if last:
            panel.set_xlabel("time [s]")
    for panel in panels[n:]:
        panel.set_visible(False)
    left = panels[0].get_position().x0
    figure.text(
        left, 1 - 0.24 * inch, f"{report.title}: torque of each joint", fontsize=13, weight="bold",
        color=INK, va="center",
    )  # fmt: skip
    figure.text(left, 1 - 0.49 * inch, _subtitle(report), color=GREY, va="center")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(left, 1 - 0.78 * inch),
        ncols=len(labels), frameon=False, borderpad=0, borderaxespad=0, handlelength=1.6,
        columnspacing=1.4,
    )  # fmt: skip
    figure.align_ylabels(axes)
    return figure


def _draw_joint(panel: Any, report: TorqueReport, i: int) -> None:
    t, total = report.trajectory.t, report.total[:, i]
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    for name, values in report.acting.items():
        panel.plot(*_thinned(t, values[:, i]), color=COLOURS[name], linewidth=1.2, label=name)
    panel.plot(*_thinned(t, total), color=INK, linewidth=2.0, label="total", zorder=3)
    peak = int(np.abs(total).argmax())
    panel.plot(t[peak], total[peak], "o", color=INK, markersize=4, zorder=4)
    panel.set_title(report.joints[i], fontsize=10, weight="bold", color=INK, pad=5)
    panel.set_title(
        f"peak {_number(total[peak])} {report.units[i]} at {t[peak]:.3g} s",
        loc="right", fontsize=8, color=GREY, pad=5,
    )  # fmt: skip
    panel.set_ylabel(f"[{report.units[i]}]")
    panel.set_xlim(*(t[[0, -1]] if len(t) > 1 else t[0] + np.array([-0.5, 0.5])))
    panel.margins(y=0.08)
    panel.locator_params(axis="y", nbins=5)


def _subtitle(report: TorqueReport) -> str:
    source, t = Path(report.trajectory.source).name, report.trajectory.t
    along = f"along {source}, " if source else ""
    friction = "" if report.friction else ", without friction"
    return f"{along}{t[-1] - t[0]:.4g} s, split into its terms{friction}"


def _number(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _thinned(t: Array, values: Array) -> tuple[Array, Array]:
    """A line of at most two points for each of the pieces, lowest and highest kept."""
    if len(t) <= 2 * POINTS:
        return t, values
    edges = np.linspace(0, len(t), POINTS + 1).astype(int)[:-1]
    low = np.minimum.reduceat(values, edges)
    high = np.maximum.reduceat(values, edges)
    return np.repeat(t[edges], 2), np.column_stack([low, high]).ravel()
