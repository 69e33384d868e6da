"""Measured and predicted torques, a panel a joint."""

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.record import Found
from armdyn.identification.residuals import Fit, Series
from armdyn.report.figures import (
    ALARM,
    COLOURS,
    GREY,
    INK,
    draw_head,
    panels_of_joints,
    save_picture,
    thinned,
)


def plot_torques(path: str | Path, found: Found) -> None:
    """Draw what was measured and predicted in the validation, or else in the training."""
    save_picture(path, torque_figure, found)


def torque_figure(found: Found) -> Any:
    """The figure of the torques."""
    fit = found.validation or found.training
    series = _regular(fit.series)
    model = found.given.model
    figure, panels = panels_of_joints(series.tau.shape[1], series.t)
    for j, panel in enumerate(panels):
        joint = model.joints[model.independent[j]]
        unit = joint.type.torque_unit
        _draw(panel, series, j)
        panel.set_title(joint.name, fontsize=10, weight="bold", color=INK, pad=5)
        words = f"error {fit.rms[j]:.2g} {unit}, {100 * fit.per_joint[j]:.2g} %"
        panel.set_title(words, loc="right", fontsize=8, color=GREY, pad=5)
        panel.set_ylabel(f"[{unit}]")
    handles, labels = panels[0].get_legend_handles_labels()
    title = f"{model.title or model.name}: {100 * fit.relative_error:.2g} % error in {fit.name}"
    subtitle = (
        f"{found.split if fit is found.validation else 'the data it was found from'}; below "
        f"{found.cutoffs.equations:.3g} Hz"
    )
    left = panels[0].get_position().x0
    draw_head(figure, left, title, subtitle, dict(zip(labels, handles, strict=True)))
    return figure


def _draw(panel: Any, series: Series, j: int) -> None:
    t = series.t
    panel.plot(
        *thinned(t, series.tau[:, j]), color=COLOURS["inertial"], linewidth=1.6, label="measured"
    )
    panel.plot(
        *thinned(t, series.predicted[:, j]), color=INK, linewidth=0.9, linestyle=(0, (4, 2)),
        label="predicted",
    )  # fmt: skip
    panel.plot(*thinned(t, series.residual[:, j]), color=ALARM, linewidth=0.8, label="difference")


def _regular(series: Series) -> Series:
    """Times from zero on; a step between logs is one sample long."""
    t = series.t
    if len(t) < 2:
        return series
    steps = np.diff(t)
    usual = float(np.median(steps))
    steps = np.where((steps < 0) | (steps > 50 * usual), usual, steps)
    return Series(np.concatenate([[0.0], np.cumsum(steps)]), *_rest(series))


def _rest(series: Series) -> tuple[Array, ...]:
    return series.q, series.qd, series.tau, series.predicted, series.good


def error_figure(found: Found) -> Any:
    """Bars of the error of each joint in training and validation."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    names = found.given.joint_names
    figure = Figure(figsize=(7.6, 0.9 + 0.42 * len(names)), facecolor="white")
    axes = figure.subplots()
    place = np.arange(len(names))
    fits: list[tuple[Fit, str]] = [(found.training, COLOURS["rotor"])]
    if found.validation is not None:
        fits.append((found.validation, COLOURS["inertial"]))
    height = 0.8 / len(fits)
    for k, (fit, colour) in enumerate(fits):
        at = place + (k - (len(fits) - 1) / 2) * height
        axes.barh(at, 100 * fit.per_joint, height * 0.9, color=colour, label=fit.name)
        for y, share, rms in zip(at, fit.per_joint, fit.rms, strict=True):
            axes.text(100 * share, y, f"  {rms:.2g}", va="center", fontsize=7, color=GREY)
    axes.set_yticks(place, names)
    axes.invert_yaxis()
    axes.set_xlabel("error of the torque [% of its size]; beside the bars, rms [N m or N]")
    axes.legend(frameon=False, loc="lower right", fontsize=8)
    figure.tight_layout()
    return figure


def residual_figure(found: Found) -> Any:
    """Residuals over velocity and position of each joint."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    series, names = found.training.series, found.given.joint_names
    figure = Figure(figsize=(8.4, 0.5 + 1.15 * len(names)), facecolor="white")
    axes = figure.subplots(len(names), 2, squeeze=False)
    step = max(1, len(series.t) // 3000)
    for j, name in enumerate(names):
        good = series.good[::step, j]
        r = series.residual[::step, j][good]
        for k, (x, word) in enumerate(((series.qd, "velocity"), (series.q, "position"))):
            panel = axes[j, k]
            panel.plot(
                x[::step, j][good], r, ".", markersize=1.5, color=COLOURS["inertial"], alpha=0.5
            )
            panel.axhline(0.0, color=GREY, linewidth=0.6)
            panel.locator_params(axis="y", nbins=4)
            if j == 0:
                panel.set_title(f"residual over {word}", fontsize=9, color=INK)
            if k == 0:
                panel.set_ylabel(name if len(name) < 14 else name[:12] + "…", fontsize=7)
    figure.tight_layout()
    return figure
