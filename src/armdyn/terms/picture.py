"""Torques along a trajectory as a picture."""

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.figures import (
    COLOURS,
    GREY,
    INK,
    PALE,
    draw_limit,
    peak_words,
    save_picture,
    thinned,
)
from armdyn.terms.torques import TorqueReport


def plot_torques(report: TorqueReport, path: str | Path) -> None:
    """Draw the torques along a trajectory to a .png, .pdf or .svg file: a panel a joint."""
    save_picture(path, _torque_figure, report)


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
        left=0.09 if columns < 3 else 0.06, right=0.98, top=1 - 1.25 * inch, bottom=0.5 * inch,
        hspace=0.38, wspace=0.2 if columns < 3 else 0.24,
    )  # fmt: skip
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
    source, t = Path(report.trajectory.source).name, report.trajectory.t
    along = f"along {source}, " if source else ""
    friction = "" if report.friction else ", without friction"
    subtitle = f"{along}{t[-1] - t[0]:.4g} s, split into its terms{friction}"
    figure.text(left, 1 - 0.49 * inch, subtitle, color=GREY, va="center")
    lines = {label: line for panel in panels[:n] for line, label in _legend(panel)}
    figure.legend(
        lines.values(), lines.keys(), loc="center left", bbox_to_anchor=(left, 1 - 0.78 * inch),
        ncols=len(lines), frameon=False, borderpad=0, borderaxespad=0, handlelength=1.6,
        columnspacing=1.4,
    )  # fmt: skip
    figure.align_ylabels(axes)
    return figure


def _legend(panel: Any) -> Any:
    """Lines of a panel with their names, the total first and the limit last."""
    named = zip(*panel.get_legend_handles_labels(), strict=True)
    return sorted(named, key=lambda pair: {"total": 0, "limit": 2}.get(pair[1], 1))


def _draw_joint(panel: Any, report: TorqueReport, i: int) -> None:
    t, total = report.trajectory.t, report.total[:, i]
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    for name, values in report.acting.items():
        panel.plot(*thinned(t, values[:, i]), color=COLOURS[name], linewidth=1.2, label=name)
    panel.plot(*thinned(t, total), color=INK, linewidth=2.0, label="total", zorder=3)
    peak = int(np.abs(total).argmax())
    panel.plot(t[peak], total[peak], "o", color=INK, markersize=4, zorder=4)
    panel.set_title(report.joints[i], fontsize=10, weight="bold", color=INK, pad=5)
    limit = draw_limit(panel, t, total[None], report.limits[i])
    if limit is not None:
        limit.set_label("limit")
    words = peak_words(float(total[peak]), report.units[i], report.limits[i])
    words["label"] += f" at {t[peak]:.3g} s"
    panel.set_title(loc="right", **words)
    panel.set_ylabel(f"[{report.units[i]}]")
    panel.set_xlim(*(t[[0, -1]] if len(t) > 1 else t[0] + np.array([-0.5, 0.5])))
    panel.margins(y=0.08)
    panel.locator_params(axis="y", nbins=5)
