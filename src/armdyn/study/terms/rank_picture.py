"""Arms on one task as a picture."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.figures import COLOURS, GREY, INK, PALE

PANELS_A_ROW = 3
_BEST, _OTHERS = COLOURS["inertial"], "#A9CBE4"


def draw_ranking(
    head: tuple[str, str], names: Sequence[str], panels: Sequence[tuple[str, Sequence[float]]]
) -> Any:
    """A panel a measure with a bar an arm, the smallest one dark."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    rows = -(-len(panels) // PANELS_A_ROW)
    height = 1.0 + rows * (0.75 + 0.3 * len(names))
    figure = Figure(figsize=(12.0, height), facecolor="white")
    axes = figure.subplots(rows, PANELS_A_ROW, squeeze=False, sharey=True)
    inch, longest = 1 / height, max(map(len, names))
    left = min(0.3, 0.03 + 0.0068 * longest)
    figure.subplots_adjust(
        left=left, right=0.98, top=1 - 1.2 * inch, bottom=0.15 * inch, wspace=0.12,
        hspace=0.75 / (0.3 * len(names) + 0.2),
    )  # fmt: skip
    for panel, (title, values) in zip(axes.ravel(), panels, strict=False):
        _draw(panel, title, np.array(values, dtype=float))
    for panel in axes.ravel()[len(panels) :]:
        panel.set_visible(False)
    axes[0, 0].set_yticks(range(len(names)), names)
    axes[0, 0].set_ylim(len(names) - 0.4, -0.6)
    figure.text(0.02, 1 - 0.3 * inch, head[0], fontsize=13, weight="bold", color=INK, va="center")
    figure.text(0.02, 1 - 0.55 * inch, f"{head[1]}; shorter is better", color=GREY, va="center")
    return figure


def _draw(panel: Any, title: str, values: Any) -> None:
    known = values[np.isfinite(values)]
    most = float(known.max(initial=0.0)) or 1.0
    for row, value in enumerate(values):
        best, end = value == known.min(initial=np.inf), min(np.nan_to_num(value), 1.1 * most)
        panel.barh(row, end, height=0.68, color=_BEST if best else _OTHERS)
        text = "not known" if np.isnan(value) else f"{value:.0f}" if value > 1e4 else f"{value:.4g}"
        panel.annotate(
            text, (end, row), xytext=(4, 0), textcoords="offset points", va="center",
            fontsize=8, color=INK if best else GREY, weight="bold" if best else "normal",
        )  # fmt: skip
    panel.set_title(title, fontsize=10, weight="bold", color=INK, pad=5)
    panel.set_xlim(0, 1.3 * most)
    panel.set_xticks([])
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.spines["bottom"].set_visible(False)
    panel.spines["left"].set_color(PALE)
