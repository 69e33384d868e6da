"""Torques along a trajectory as a picture."""

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.figures import (
    COLOURS,
    INK,
    draw_head,
    draw_limit,
    panels_of_joints,
    peak_words,
    save_picture,
    thinned,
)
from armdyn.study.terms.torques import TorqueReport


def plot_torques(report: TorqueReport, path: str | Path) -> None:
    """Draw the torques along a trajectory to a .png, .pdf or .svg file: a panel a joint."""
    save_picture(path, _torque_figure, report)


def _torque_figure(report: TorqueReport) -> Any:
    t = report.trajectory.t
    figure, panels = panels_of_joints(len(report.joints), t)
    for i, panel in enumerate(panels):
        _draw_joint(panel, report, i)
    source = Path(report.trajectory.source).name
    along = f"along {source}, " if source else ""
    friction = "" if report.friction else ", without friction"
    title = f"{report.title}: torque of each joint"
    subtitle = f"{along}{t[-1] - t[0]:.4g} s, split into its terms{friction}"
    lines = {label: line for panel in panels for line, label in _legend(panel)}
    draw_head(figure, panels[0].get_position().x0, title, subtitle, lines)
    return figure


def _legend(panel: Any) -> Any:
    """Lines of a panel with their names, the total first and the limit last."""
    named = zip(*panel.get_legend_handles_labels(), strict=True)
    return sorted(named, key=lambda pair: {"total": 0, "limit": 2}.get(pair[1], 1))


def _draw_joint(panel: Any, report: TorqueReport, i: int) -> None:
    t, total = report.trajectory.t, report.total[:, i]
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
