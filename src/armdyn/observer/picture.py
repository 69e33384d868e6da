"""External torques along a log as a picture."""

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import (
    ALARM,
    COLOURS,
    GREY,
    INK,
    PALE,
    peak_words,
    save_picture,
    thinned,
)
from armdyn.model import RobotModel


def plot_torques(
    path: str | Path,
    model: RobotModel,
    t: Array,
    torque: Array,
    thresholds: Array | None,
    truth: Array | None,
) -> None:
    """Draw external torques (m, n), a panel a joint, with their thresholds and the true ones."""
    levels = None if thresholds is None else np.broadcast_to(thresholds, torque.shape)
    save_picture(path, _figure, model, t, torque, levels, truth)


def _figure(
    model: RobotModel, t: Array, torque: Array, levels: Array | None, truth: Array | None
) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = torque.shape[-1]
    columns = 1 if n <= 2 else 2 if n <= 8 else 3
    rows = -(-n // columns)
    height = 1.55 + 1.5 * rows
    figure = Figure(figsize=((8.0, 9.8, 14.6)[columns - 1], height), facecolor="white")
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    inch = 1 / height
    figure.subplots_adjust(
        left=0.09 if columns < 3 else 0.06, right=0.98, top=1 - 1.25 * inch, bottom=0.5 * inch,
        hspace=0.42, wspace=0.2 if columns < 3 else 0.24,
    )  # fmt: skip
    contact: Any = None if levels is None else (np.abs(torque) > levels).any(-1)
    for i, panel in enumerate(panels[:n]):
        panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
        _draw(panel, t, torque[:, i], levels, truth, i)
        if contact is not None:
            _shade(panel, t, contact)
        joint = model.joints[model.independent[i]]
        unit = joint.type.torque_unit
        peak = float(torque[np.abs(torque[:, i]).argmax(), i])
        panel.set_title(joint.name, fontsize=10, weight="bold", color=INK, pad=5)
        panel.set_title(loc="right", **peak_words(peak, unit))
        panel.set_ylabel(f"[{unit}]")
        panel.set_xlim(*(t[[0, -1]] if len(t) > 1 else t[0] + np.array([-0.5, 0.5])))
        panel.margins(y=0.12)
        panel.locator_params(axis="y", nbins=5)
        last = i + columns >= n
        panel.tick_params(labelbottom=last)
        if last:
            panel.set_xlabel("time [s]")
    for panel in panels[n:]:
        panel.set_visible(False)
    figure.align_ylabels(list(panels[:n]))
    _head(figure, panels[0], f"{model.title or model.name}: external torques", t, contact, inch)
    return figure


def _draw(
    panel: Any, t: Array, torque: Array, levels: Array | None, truth: Array | None, i: int
) -> None:
    panel.plot(
        *thinned(t, torque), color=COLOURS["inertial"], linewidth=1.4, label="estimate", zorder=3
    )
    if truth is not None:
        panel.plot(
            *thinned(t, truth[:, i]), color=INK, linewidth=1.1, linestyle=(0, (4, 2)),
            label="true", zorder=4,
        )  # fmt: skip
    if levels is not None:
        for sign, label in ((1.0, "threshold"), (-1.0, None)):
            panel.plot(
                *thinned(t, sign * levels[:, i]), color=GREY, linewidth=0.8,
                linestyle=(0, (1, 1.5)), label=label,
            )  # fmt: skip


def _shade(panel: Any, t: Array, contact: Array) -> None:
    panel.fill_between(
        t, 0, 1, where=contact, transform=panel.get_xaxis_transform(), color=ALARM, alpha=0.10,
        linewidth=0, label="contact", zorder=0,
    )  # fmt: skip


def _head(
    figure: Any, first: Any, title: str, t: Array, contact: Array | None, inch: float
) -> None:
    left = first.get_position().x0
    words: dict[str, Any] = {"va": "center"}
    figure.text(left, 1 - 0.24 * inch, title, fontsize=13, weight="bold", color=INK, **words)
    subtitle = f"{t[-1] - t[0]:.4g} s, what the environment does to the arm"
    if contact is not None:
        subtitle += f"; contact in {100 * contact.mean():.3g} % of the samples"
    figure.text(left, 1 - 0.49 * inch, subtitle, color=GREY, **words)
    handles, labels = first.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="center left", bbox_to_anchor=(left, 1 - 0.78 * inch),
        ncols=len(labels), frameon=False, borderpad=0, borderaxespad=0, handlelength=1.6,
        columnspacing=1.4,
    )  # fmt: skip
