"""The picture of how cost grows with the number of joints."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from growth_series import Series, exponent

from armdyn.report.figures import GREY, INK, PALE, save_picture

LABELS = {
    "newton_euler": "Newton-Euler",
    "newton_euler_base": "Newton-Euler, base axes",
    "newton_euler_link": "Newton-Euler, link axes",
    "lagrange_euler": "Lagrange-Euler",
    "dalembert": "d'Alembert",
    "denoc": "DeNOC",
    "denoc_recursive": "DeNOC, recursive",
    "augmented_body": "augmented bodies",
    "augmented_body_intrinsic": "augmented bodies, base axes",
    "minimal": "minimal (armdyn)",
}
QUANTITIES = {"mass_matrix": "mass matrix", "coriolis": "Coriolis matrix"}
# after Okabe and Ito, by the power with which the cost grows
LINEAR, SQUARE, CUBE, FOURTH = "#0072B2", "#009E73", "#E69F00", "#D55E00"
GAP = 0.052
"""Least distance of two labels, as a share of the height."""
FAN = 2.4
"""How far the reference slopes reach, as a ratio of joints."""
TICKS = (2, 4, 8, 16, 32, 64)
POWERS = ("n", "n²", "n³", "n⁴")


def plot_growth(series: Sequence[Series], path: str | Path) -> None:
    """Draw operations and times over the number of joints, both on logarithmic scales.

    Args:
        series: The growth of each method.
        path: A file ending in .png, .pdf or .svg; it appears whole or not at all.
    """
    save_picture(path, _figure, series)


def _figure(series: Sequence[Series]) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(12.4, 5.6), facecolor="white")
    counts = figure.add_axes((0.06, 0.095, 0.255, 0.735))
    times = figure.add_axes((0.545, 0.095, 0.255, 0.735))
    _panel(counts, [(s, s.joints, s.operations) for s in series])
    _panel(times, [(s, s.timed, [1e9 * t for t in s.seconds]) for s in series if s.timed])
    left = 0.017
    figure.text(
        left, 0.945, "The cost of the dynamics over the number of joints", fontsize=13,
        weight="bold", color=INK,
    )  # fmt: skip
    heads = (
        (left, "operations of one state, general arms; methods as written, minimal as compiled"),
        (0.502, "nanoseconds of one state; every method compiled, batches on one thread"),
    )
    for x, text in heads:
        figure.text(x, 0.885, text, color=GREY)
    return figure


def _panel(axes: Any, lines: list[tuple[Series, list[int], list[Any]]]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    highest = max(max(costs) for _, _, costs in lines)
    lowest = min(min(costs) for _, _, costs in lines)
    most = max(joints[-1] for _, joints, _ in lines)
    axes.set_xlim(1.85, most * 1.06)
    axes.set_ylim(lowest / 1.5, highest * 2.2)
    axes.set_xticks([n for n in TICKS if n <= most], minor=False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    axes.set_xlabel("joints")
    axes.grid(axis="y", color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    for one, joints, costs in lines:
        colour, bold = _colour(one), one.method == "minimal"
        style = "-" if one.quantity == "inverse_dynamics" else (0, (4, 2))
        axes.plot(
            joints, costs, color=colour, linestyle=style, linewidth=2.4 if bold else 1.3,
            marker="o", markersize=4 if bold else 2.6, zorder=4 if bold else 3,
        )  # fmt: skip
    _fan(axes)
    _names(axes, lines)


def _fan(axes: Any) -> None:
    """The slopes of n to n⁴ from one point, in the empty corner."""
    top = axes.get_ylim()[1]
    first = axes.get_xlim()[0] * 1.1
    start = top / 1.6 / FAN**4
    for power, name in enumerate(POWERS, start=1):
        end = start * FAN**power
        axes.plot([first, first * FAN], [start, end], color=GREY, linewidth=0.8, zorder=2)
        axes.annotate(
            name, (first * FAN, end), xytext=(3, 0), textcoords="offset points", va="center",
            fontsize=8, color=GREY,
        )  # fmt: skip


def _names(axes: Any, lines: list[tuple[Series, list[int], list[Any]]]) -> None:
    """The name of each line to the right of the panel, near its end, none over another."""
    bottom, top = np.log(axes.get_ylim())
    ends = [(np.log(costs[-1]) - bottom) / (top - bottom) for _, _, costs in lines]
    order = sorted(range(len(lines)), key=lambda k: ends[k])
    for k, height in zip(order, _spread([ends[k] for k in order]), strict=True):
        one, joints, costs = lines[k]
        axes.annotate(
            _label(one, joints, costs), (joints[-1], costs[-1]), xytext=(1.09, height),
            xycoords="data", textcoords="axes fraction", va="center", fontsize=8.5,
            color=_colour(one), weight="bold" if one.method == "minimal" else "normal",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": PALE, "linewidth": 0.7, "shrinkA": 1,
                        "shrinkB": 3, "relpos": (0, 0.5)},
        )  # fmt: skip


def _spread(heights: list[float]) -> list[float]:
    """Heights in growing order, moved apart as little as possible, each group about its middle."""
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _bottom(groups[-1]) - _top(groups[-2]) < GAP:
            last = groups.pop()
            groups[-1] += last
    return [_bottom(group) + GAP * k for group in groups for k in range(len(group))]


def _bottom(group: list[float]) -> float:
    return sum(group) / len(group) - GAP * (len(group) - 1) / 2


def _top(group: list[float]) -> float:
    return _bottom(group) + GAP * (len(group) - 1)


def _label(one: Series, joints: list[int], costs: list[Any]) -> str:
    """Its name and the power at the end of its line."""
    name = QUANTITIES.get(one.quantity, LABELS.get(one.method, one.method))
    return f"{name}  $n^{{{exponent(joints[-3:], costs[-3:]):.1f}}}$"


def _colour(one: Series) -> str:
    if one.method == "minimal":
        return INK
    if one.exponent < 1.3:
        return LINEAR
    if one.exponent < 2.3:
        return SQUARE
    return CUBE if one.exponent < 3.3 else FOURTH
