"""The pictures of an identification, and one HTML page with all of them in it."""

from collections.abc import Callable
from datetime import date
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import WriteError
from armdyn.identification.residuals import Fit, Series
from armdyn.io.regular import check_path
from armdyn.report.figures import (
    ALARM,
    COLOURS,
    GREY,
    INK,
    STYLE,
    check_plot,
    draw_head,
    panels_of_joints,
    thinned,
)
from armdyn.report.result import Section
from armdyn.version import __version__


def torque_figure(found: Any) -> Any:
    """What was measured and predicted in the validation, or else in the training, by joint."""
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


def error_figure(found: Any) -> Any:
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


def residual_figure(found: Any) -> Any:
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


_LOOK = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p.sub { color: #6b6b6b; margin-top: 0; } table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #eee; }
th { border-bottom: 1px solid #6b6b6b; } td.text, th.text { text-align: left; }
div.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
.figure { font-size: 2.6rem; font-weight: 600; } .figures { display: flex; gap: 3rem; }
.figures div { color: #6b6b6b; } .figures .figure { color: #0072b2; line-height: 1.1; }
li.severe { color: #b2182b; font-weight: 600; }
"""


def check_page(path: str | Path) -> None:
    """Refuse, before anything is computed, a page that could not be written."""
    if check_path(path).suffix.lower() not in (".html", ".htm"):
        raise WriteError(f"cannot write a report to {str(path)!r}: the ending must be .html")
    check_plot("pictures.svg")


def page(found: Any) -> str:
    """The page as text."""
    name = escape(found.given.model.title or found.given.name)
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>Identification of {name}</title><style>{_LOOK}</style></head><body>",
        f"<h1>Identification of {name}</h1>",
        f"<p class='sub'>armdyn {__version__}, {date.today().isoformat()}; "
        f"{escape(', '.join(found.sources))}</p>",
        _figures(found),
    ]
    pictures: dict[str, Callable[[Any], Any]] = {
        "Identification": torque_figure,
        "Errors by joint": error_figure,
        "What the residuals still contain": residual_figure,
    }
    for section in found.sections():
        if section.title:
            parts.append(_section(section))
            if section.title in pictures:
                parts.append(f"<div class='wide'>{_svg(pictures[section.title], found)}</div>")
    return "\n".join([*parts, "</body></html>\n"])


def _figures(found: Any) -> str:
    shown = []
    if found.validation is not None:
        shown.append((f"{100 * found.validation.relative_error:.2f} %", f"held out: {found.split}"))
    shown.append((f"{100 * found.training.relative_error:.2f} %", "training"))
    excited = sum(p.excited for p in found.base)
    shown.append((f"{excited} of {len(found.base)}", "base parameters shown"))
    cells = (
        f"<div><div class='figure'>{number}</div>{escape(words)}</div>" for number, words in shown
    )
    return f"<div class='figures'>{''.join(cells)}</div>"


def _section(section: Section) -> str:
    lines = "".join(
        f"<li{' class=severe' if line.startswith('! ') else ''}>"
        f"{escape(line.removeprefix('! ').removeprefix('- '))}</li>"
        for line in section.lines
    )
    text = f"<h2>{escape(section.title)}</h2>" + (f"<ul>{lines}</ul>" if lines else "")
    if not section.rows:
        return text

    def row(cells: tuple[str, ...], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=text' if k < section.texts else ''}>{escape(cell)}</{tag}>"
            for k, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in section.rows)
    return (
        text + f"<div class='wide'><table><tr>{row(section.columns, 'th')}</tr>{body}</table></div>"
    )


def _svg(draw: Callable[[Any], Any], found: Any) -> str:
    import matplotlib as mpl  # noqa: PLC0415 (an extra)

    stream = BytesIO()
    with mpl.rc_context(STYLE):
        draw(found).savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue().decode("utf-8")
    return text[text.index("<svg") :]
