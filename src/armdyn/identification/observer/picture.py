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
    draw_head,
    panels_of_joints,
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
    figure, panels = panels_of_joints(torque.shape[-1], t)
    contact: Any = None if levels is None else (np.abs(torque) > levels).any(-1)
    for i, panel in enumerate(panels):
        _draw(panel, t, torque[:, i], levels, truth, i)
        if contact is not None:
            _shade(panel, t, contact)
        joint = model.joints[model.independent[i]]
        unit = joint.type.torque_unit
        peak = float(torque[np.abs(torque[:, i]).argmax(), i])
        panel.set_title(joint.name, fontsize=10, weight="bold", color=INK, pad=5)
        panel.set_title(loc="right", **peak_words(peak, unit))
        panel.set_ylabel(f"[{unit}]")
    title = f"{model.title or model.name}: external torques"
    subtitle = f"{t[-1] - t[0]:.4g} s, what the environment does to the arm"
    if contact is not None:
        subtitle += f"; contact in {100 * contact.mean():.3g} % of the samples"
    handles, labels = panels[0].get_legend_handles_labels()
    lines = dict(zip(labels, handles, strict=True))
    draw_head(figure, panels[0].get_position().x0, title, subtitle, lines)
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
