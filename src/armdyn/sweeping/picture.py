"""Pictures of sweeps: maps and lines of the worst case, histograms, ranges."""

import math
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter

from armdyn.arrays import Array
from armdyn.errors import SweepError
from armdyn.report.figures import ALARM, COLOURS, GREY, INK, LIMIT, PALE, panel_grid
from armdyn.report.panels import sheet

MOST_PANELS = 12
"""Entries that are drawn."""
RASTER = 160
"""Cells of a workspace across its larger side."""
SCALE = "viridis"
LEAST_SPAN = 0.01
"""Least span of the colours of a map, relative to its largest value; less is not to be seen."""


def draw(result: Any, workspace: bool) -> Any:
    """The figure that fits what was kept."""
    kept, names = len(result.cells), [r.name for r in result.reductions]
    if workspace or (kept in (1, 2) and "extremes" in names):
        if "extremes" not in names or not kept or (not workspace and kept > 2):
            raise SweepError(
                "a map of the workspace needs extremes for columns that are kept: "
                "reduce='extremes' and by=('q2', 'q3')"
            )
        if workspace:
            return _workspace(result)
        return _lines(result) if kept == 1 else _maps(result)
    if "histogram" in names:
        return _histograms(result)
    if "extremes" in names:
        return _ranges(result)
    raise SweepError("there is no picture of this: reduce to extremes or a histogram")


def _figure(
    result: Any, what: str, ratio: float = 0.8, width: float = 3.6
) -> tuple[Any, list[Any]]:
    labels = result.subject.labels[:MOST_PANELS]
    columns = min(3, len(labels))
    height = 0.95 + 3.3 * ratio * -(-len(labels) // columns)
    figure = _sheet(result, what, width * columns + 0.4, height)
    room = {"left": 0.075, "right": 0.92, "hspace": 0.38, "wspace": 0.34}
    room |= {"top": 1 - 0.95 / height, "bottom": 0.5 / height}
    panels = panel_grid(figure, len(labels), columns, room)
    for panel, label in zip(panels, labels, strict=True):
        panel.set_title(label, fontsize=10, color=INK)
    return figure, panels


def _sheet(result: Any, what: str, width: float, height: float) -> Any:
    """A figure [inch] that says what is drawn, and over which states."""
    robot, states = result.subject.robot, f"over {result.space.words()}"
    title = f"{robot.model.title or robot.name}: {what}"
    return sheet(width, height, title, states, 0.02, 0.22)


def _flat(result: Any, values: Array) -> Array:
    """Cells by their axes, and entries in one."""
    return values.reshape(*result.cells, -1)


def _quantity(result: Any) -> str:
    """What the entries are, with the unit of torques."""
    text = result.subject.quantity.result
    unit = ""
    if "{torque}" in text:
        joints = result.subject.robot.model.joints
        unit = " [N·m]" if all(joint.type.turns for joint in joints) else " [N·m or N]"
    return text.partition(" [")[0].partition(",")[0] + unit


def _maps(result: Any) -> Any:
    figure, panels = _figure(result, f"largest magnitude of the {_quantity(result)}")
    (x_name, x), (y_name, y) = result.kept.items()
    worst = _flat(result, result.extremes.worst)
    for e, panel in enumerate(panels):
        mesh = panel.pcolormesh(
            x, y, worst[..., e].T, cmap=SCALE, shading="nearest", rasterized=True
        )
        _bar(figure, mesh, panel)
        panel.set_xlabel(x_name)
        panel.set_ylabel(y_name)
    return figure


def _bar(figure: Any, mesh: Any, panel: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator  # noqa: PLC0415 (an extra)

    bar = figure.colorbar(mesh, ax=panel, pad=0.03, fraction=0.05)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7, length=2)
    low, high = mesh.get_clim()
    size = max(abs(low), abs(high), 1e-300)
    wider = max(0.0, LEAST_SPAN * size - (high - low)) / 2
    mesh.set_clim(low - wider, high + wider)
    digits = 3 + max(0, round(-math.log10(max((high - low) / size, LEAST_SPAN))))
    bar.formatter = FuncFormatter(lambda value, _: f"{value:.{digits}g}")
    bar.locator = MaxNLocator(5)
    bar.update_ticks()


def _lines(result: Any) -> Any:
    figure, panels = _figure(result, f"range of the {_quantity(result)}", 0.65)
    ((name, x),) = result.kept.items()
    low = _flat(result, result.extremes.min)
    high = _flat(result, result.extremes.max)
    for e, panel in enumerate(panels):
        panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
        panel.fill_between(
            x, low[:, e], high[:, e], color=COLOURS["inertial"], alpha=0.25, linewidth=0
        )
        for line in (low, high):
            panel.plot(x, line[:, e], color=COLOURS["inertial"], linewidth=1.2)
        panel.set_xlabel(name)
    return figure


def _histograms(result: Any) -> Any:
    figure, panels = _figure(result, f"distribution of the {_quantity(result)}", 0.65)
    found = result.histogram
    counts = found.counts.reshape(-1, len(result.subject.labels), found.edges.shape[1] - 1).sum(
        axis=0
    )
    limits = result.subject.limits
    for e, panel in enumerate(panels):
        share = 100 * counts[e] / max(1, counts[e].sum())
        panel.stairs(share, found.edges[e], fill=True, color=COLOURS["rotor"])
        for limit in (-limits[e], limits[e]):
            if found.edges[e, 0] <= limit <= found.edges[e, -1]:
                panel.axvline(limit, **LIMIT)
        panel.set_ylabel("% of the states" if e % 3 == 0 else "")
    return figure


def _ranges(result: Any) -> Any:
    labels = result.subject.labels
    low = result.extremes.min.reshape(-1, len(labels)).min(axis=0)
    high = result.extremes.max.reshape(-1, len(labels)).max(axis=0)
    height = 1.4 + 0.32 * len(labels)
    figure = _sheet(result, f"range of the {_quantity(result)}", 8.0, height)
    axes = figure.subplots()
    figure.subplots_adjust(left=0.16, right=0.97, top=1 - 0.85 / height, bottom=0.5 / height)
    places = np.arange(len(labels))
    axes.barh(places, high - low, left=low, color=COLOURS["inertial"], height=0.6)
    for place, limit in zip(places, result.subject.limits, strict=True):
        if math.isfinite(limit):
            for end in (-limit, limit):
                axes.plot([end, end], [place - 0.38, place + 0.38], color=ALARM, linewidth=1.2)
    axes.axvline(0.0, color=GREY, linewidth=0.6)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    return figure


def _workspace(result: Any) -> Any:
    """The worst case where the tool is, by radius and height: the worst of all states there."""
    title = f"largest {_quantity(result)} where the tool is"
    figure, panels = _figure(result, title, ratio=1.15, width=3.0)
    robot, worst = result.subject.robot, _flat(result, result.extremes.worst)
    at = _flat(result, result.extremes.argworst)
    for e, panel in enumerate(panels):
        q = result.states(np.maximum(at[..., e].ravel(), 0))["q"]
        position = robot.forward_kinematics(q)[:, :3, 3]
        radius = np.hypot(position[:, 0], position[:, 1])
        _raster(figure, panel, radius, position[:, 2], worst[..., e].ravel())
        panel.set_xlabel("radius [m]")
        panel.set_ylabel("height [m]")
        panel.set_aspect("equal")
        panel.set_xlim(left=0.0)
    return figure


def _raster(figure: Any, panel: Any, x: Array, y: Array, values: Array) -> None:
    """The largest value in each square and its neighbours."""
    side = max(np.ptp(x), np.ptp(y), 1e-9)
    size = side / min(RASTER, max(8, round(math.sqrt(len(values)) * 0.45)))
    start = np.array([x.min(), y.min()]) - size / 2
    place = np.floor((np.stack([x, y], -1) - start) / size).astype(int)
    squares = np.full(place.max(axis=0) + 1, -np.inf)
    np.maximum.at(squares, tuple(place.T), values)
    edges = (low + size * np.arange(n + 1) for low, n in zip(start, squares.shape, strict=True))
    near = maximum_filter(squares, 3, mode="constant", cval=-np.inf)  # the rim has few states
    shown = np.ma.masked_array(near, np.isneginf(squares)).T
    _bar(figure, panel.pcolormesh(*edges, shown, cmap=SCALE, rasterized=True), panel)
