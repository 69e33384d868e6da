"""The bar chart of operation counts."""

from pathlib import Path
from typing import Any

from armdyn.figures import GREY, INK, STYLE, check_plot
from armdyn.io.atomic import replacing
from armdyn.operations.count import STAGES, MethodCounts

SHADES = {
    "written": "#E3E8EE",
    "customised": "#A9CBE4",
    "regrouped": "#56A0D0",
    "minimal": "#0B5A94",
}
LABELS = {
    "written": "as written",
    "customised": "customised to the robot",
    "regrouped": "on base parameters",
    "minimal": "minimal",
}
INCH_A_ROW, HEAD, FOOT = 0.30, 1.15, 0.55


def plot_operations(title: str, rows: list[MethodCounts], path: str | Path) -> None:
    """Draw the counts of every method, one bar a stage, on a logarithmic scale.

    Args:
        title: What people call the robot.
        rows: The counts, those of one quantity together.
        path: A file ending in .png, .pdf or .svg; it appears whole or not at all.
    """
    check_plot(path)
    import matplotlib as mpl  # noqa: PLC0415 (an extra)

    with mpl.rc_context(STYLE):
        figure = _figure(title, rows)
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=160)


def _figure(title: str, rows: list[MethodCounts]) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

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
    _legend(figure, left, 1 - 0.68 * inch)
    return figure


def _places(rows: list[MethodCounts]) -> tuple[list[float], list[tuple[float, str]]]:
    """Where each bar stands, from the top, and where each quantity is named."""
    places: list[float] = []
    headings = []
    at, last = -1.0, ""
    for row in rows:
        at += 1.0
        if row.quantity != last:
            headings.append((at, row.quantity))
            at, last = at + 1.0, row.quantity
        places.append(at)
    return places, headings


def _draw(axes: Any, place: float, row: MethodCounts) -> None:
    """The bars of one method over each other, the longest behind, with the last number."""
    best = None
    for stage in STAGES:
        operations = row.stages.get(stage)
        if operations is not None:
            axes.barh(place, operations.total, height=0.72, color=SHADES[stage])
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


def _legend(figure: Any, left: float, top: float) -> None:
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    handles = [Patch(color=SHADES[stage], label=LABELS[stage]) for stage in STAGES]
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(left - 0.012, top), ncols=len(handles),
        frameon=False, handlelength=1.2, columnspacing=1.6, labelcolor=INK,
    )  # fmt: skip
