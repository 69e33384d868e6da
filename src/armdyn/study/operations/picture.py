"""The bar chart of operation counts."""

from itertools import groupby
from pathlib import Path
from typing import Any

from armdyn.figures import GREY, INK, save_picture
from armdyn.study.operations.count import MethodCounts

BARS = {
    "written": ("as written", "#E3E8EE"),
    "customised": ("customised to the robot", "#A9CBE4"),
    "regrouped": ("on base parameters", "#56A0D0"),
    "minimal": ("minimal", "#0B5A94"),
}
"""Name and colour of the bar of each stage."""
INCH_A_ROW, HEAD, FOOT = 0.30, 1.15, 0.55


def plot_operations(title: str, rows: list[MethodCounts], path: str | Path) -> None:
    """Draw the counts of every method to a .png, .pdf or .svg file, one bar a stage.

    The rows of one quantity stand together, below the title of the robot.
    """
    save_picture(path, _figure, title, rows)


def _figure(title: str, rows: list[MethodCounts]) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    places, headings = _places(rows)
    height = HEAD + FOOT + INCH_A_ROW * (places[-1] + 1)
    figure = Figure(figsize=(9.8, height), facecolor="white")
    axes = figure.add_axes((0.22, FOOT / height, 0.70, 1 - (HEAD + FOOT) / height))
    for place, row in zip(places, rows, strict=True):
        _draw(axes, place, row)
    for place, quantity in headings:
        axes.text(
            -0.29, place, quantity.replace("_", " "), weight="bold", color=INK, va="center",
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip
    axes.set_yticks(places, [row.method.replace("_", " ") for row in rows])
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(places[-1] + 0.7, -0.7)
    axes.set_xscale("log")
    totals = [c.total for row in rows for c in row.stages.values() if c is not None]
    axes.set_xlim(left=min((t for t in totals if t > 0), default=2) / 2)
    axes.set_xlabel("multiplications and additions, logarithmic scale")
    left, inch = 0.017, 1 / height
    figure.text(left, 1 - 0.32 * inch, f"{title}: operations", fontsize=13, weight="bold")
    figure.text(
        left, 1 - 0.56 * inch, "of one evaluation, sines and cosines not counted", color=GREY
    )
    figure.legend(
        handles=[Patch(color=colour, label=label) for label, colour in BARS.values()],
        loc="upper left", bbox_to_anchor=(left - 0.012, 1 - 0.68 * inch), ncols=len(BARS),
        frameon=False, handlelength=1.2, columnspacing=1.6, labelcolor=INK,
    )  # fmt: skip
    return figure


def _places(rows: list[MethodCounts]) -> tuple[list[float], list[tuple[float, str]]]:
    """Where each bar stands, from the top, and where each quantity is named."""
    places: list[float] = []
    headings = []
    for quantity, group in groupby(rows, lambda row: row.quantity):
        headings.append((places[-1] + 1.0 if places else 0.0, quantity))
        places += [headings[-1][0] + k for k, _ in enumerate(group, 1)]
    return places, headings


def _draw(axes: Any, place: float, row: MethodCounts) -> None:
    """The bars of one method over each other, the longest behind, with the last number."""
    best = None
    for stage, (_, colour) in BARS.items():
        operations = row.stages.get(stage)
        if operations is not None:
            axes.barh(place, operations.total, height=0.72, color=colour)
            best = operations.total
    if best is None:
        return
    inside = best > 0
    axes.annotate(
        f"{best}", (best if inside else 0, place), xytext=(-4 if inside else 4, 0),
        xycoords="data" if inside else axes.get_yaxis_transform(), textcoords="offset points",
        ha="right" if inside else "left", va="center", color="white" if inside else INK,
        fontsize=7.5, weight="bold",
    )  # fmt: skip
