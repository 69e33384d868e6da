"""The picture of the structure: D, h and g as maps of what they depend on."""

import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.figures import GREY, INK, PALE, save_picture
from armdyn.study.structure.structure import Structure, StructureElement, reasons, spans

MOST_JOINTS_WITH_TEXT = 7
"""Cells have text up to this number of joints."""
ZERO, CONSTANT, CANCELS, MIRROR = "#FFFFFF", "#F1EBD8", "#F6C98A", "#ECECEC"
ONE_JOINT, ALL_JOINTS = "#CFE3F2", "#08487F"
"""Colours of an element that depends on one joint and on all."""
EQUATION = r"$\tau_i = \sum_j D_{ij}\,\ddot q_j + \sum_{km} h_{ikm}\,\dot q_k \dot q_m + g_i$"
LEFT, RIGHT, HEAD, FOOT = 0.45, 0.3, 1.75, 0.3
BESIDE, BETWEEN, ABOVE = 0.28, 0.42, 0.55
"""Room between D and g, between maps, and above a map [inch]."""

NOTE_HEIGHT, MOST_NOTES = 0.15, 24
"""Height of a line of the reasons [inch], and the largest number of lines."""

Colour = tuple[float, float, float]


def plot_structure(structure: Structure, path: str | Path) -> None:
    """Draw what the elements of D, h and g depend on to a .png, .pdf or .svg file."""
    save_picture(path, _figure, structure)


def _figure(structure: Structure) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = len(structure.joints)
    columns = n if n <= 3 else int(np.ceil(np.sqrt(n)))
    rows = -(-n // columns)
    big, small = _cell_sizes(n)
    beside = LEFT + (n + 1) * big + BESIDE + 2 * BETWEEN
    width = max(beside + columns * (n * small + BETWEEN) - BETWEEN + RIGHT, 7.6)
    notes = _notes(structure, (beside if n > 3 else width) - 2 * BETWEEN)
    left_side = n * big + NOTE_HEIGHT * (len(notes) + 2)
    height = HEAD + max(left_side, rows * (n * small + ABOVE) - ABOVE) + FOOT
    figure = Figure(figsize=(width, height), facecolor="white")

    def place(left: float, top: float, across: float, down: float) -> Any:
        return figure.add_axes(
            (left / width, 1 - (top + down) / height, across / width, down / height)
        )

    axes = place(LEFT, HEAD, n * big, n * big)
    _draw(axes, structure.D, big, n, "D  mass matrix")
    axes = place(LEFT + n * big + BESIDE, HEAD, big, n * big)
    _draw(axes, structure.g[:, None], big, n, "g  gravity")
    for i, grid in enumerate(structure.h):
        row, column = divmod(i, columns)
        left = beside + column * (n * small + BETWEEN)
        axes = place(left, HEAD + row * (n * small + ABOVE), n * small, n * small)
        half = grid.copy()
        half[np.tril_indices(n, -1)] = None
        title = f"h$_{{{i + 1}}}$" + ("  velocities" if i == 0 else "")
        _draw(axes, half, small, n, title)
    _words(figure, structure, width, height)
    figure.text(
        0.2 / width, 1 - (HEAD + n * big + 1.5 * NOTE_HEIGHT) / height, "\n".join(notes), color=INK,
        fontsize=8, va="top", linespacing=1.3,
    )  # fmt: skip
    return figure


def _notes(structure: Structure, width: float) -> list[str]:
    """Why elements of D and g are zero or constant, in lines of a width [inch]."""
    lines: list[str] = []
    for owner, elements, reason in reasons(structure):
        if owner != "h":
            lines += textwrap.wrap(
                f"{elements}: {reason}", int(width / 0.068), subsequent_indent="    "
            )
    return lines if len(lines) <= MOST_NOTES else [*lines[: MOST_NOTES - 1], "and other reasons"]


def _cell_sizes(n: int) -> tuple[float, float]:
    """Sides of a cell of D and of h [inch]."""
    for most, sizes in ((3, (0.8, 0.62)), (5, (0.66, 0.5)), (MOST_JOINTS_WITH_TEXT, (0.58, 0.44))):
        if n <= most:
            return sizes
    return max(4.2 / n, 0.1), max(2.4 / n, 0.045)


def _colour(element: StructureElement | None, n: int) -> Colour:
    from matplotlib.colors import to_rgb  # noqa: PLC0415 (an extra)

    if element is None:
        return to_rgb(MIRROR)
    if element.rounding:
        return to_rgb(CANCELS)
    if element.status != "varies":
        return to_rgb(ZERO if element.status == "zero" else CONSTANT)
    return _shade(len(element.joints), n)


def _shade(joints: int, n: int) -> Colour:
    """The colour of an element that depends on so many joints."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 (an extra)

    part = (joints - 1) / max(n - 1, 1)
    red, green, blue = (
        few + part * (many - few)
        for few, many in zip(to_rgb(ONE_JOINT), to_rgb(ALL_JOINTS), strict=True)
    )
    return red, green, blue


def _draw(axes: Any, cells: Array, side: float, n: int, title: str) -> None:
    """One map of cells, with joint numbers at its edges."""
    rows, columns = cells.shape
    colours = np.array([[_colour(element, n) for element in row] for row in cells])
    axes.imshow(colours, interpolation="nearest", aspect="auto", extent=(0, columns, rows, 0))
    few = n <= MOST_JOINTS_WITH_TEXT
    line = dict(color=PALE, linewidth=0.6 if few else 0.25, clip_on=False)
    axes.hlines(range(rows + 1), 0, columns, **line)
    axes.vlines(range(columns + 1), 0, rows, **line)
    if few:
        _write_labels(axes, cells, colours, side)
    shown = range(0, n) if n <= 12 else range(4, n, 5)
    places, labels = [k + 0.5 for k in shown], [str(k + 1) for k in shown]
    axes.set_yticks(places, labels)
    axes.set_xticks(places if columns > 1 else [], labels if columns > 1 else [])
    axes.tick_params(
        length=0, pad=2, labelsize=8 if n <= 12 else 6, top=True, labeltop=True, labelbottom=False
    )
    axes.spines[:].set_visible(False)
    axes.set_title(title, fontsize=10, weight="bold", color=INK, pad=6 if columns > 1 else 16.5)


def _write_labels(axes: Any, cells: Array, colours: Array, side: float) -> None:
    for (i, j), element in np.ndenumerate(cells):
        if element is not None:
            text = _label(element, short=side < 0.5)
            dark = sum(colours[i, j]) < 1.75
            ink = "white" if dark else GREY if element.status == "zero" else INK
            size = min(9.5, 72 * side * 0.88 / (0.56 * max(len(text), 3)))
            place = dict(ha="center", va="center", fontsize=size, color=ink)
            axes.text(j + 0.5, i + 0.5, text, **place)


def _label(element: StructureElement, short: bool) -> str:
    if element.status == "zero":
        return "0"
    if element.status == "constant":
        return "c" if short else "const"
    runs = spans(element.joints).replace("-", "–")
    return runs if short else " ".join(f"q{run}" for run in runs.split(","))


def _words(figure: Any, structure: Structure, width: float, height: float) -> None:
    """Title, what the map shows, and the legend."""
    left, counts = 0.2 / width, []
    for name, count in structure.counts.items():
        constant = f", {count['constant']} constant" if count["constant"] else ""
        counts.append(f"{name}: {count['zero']} of {sum(count.values())} zero{constant}")
    figure.text(
        left, 1 - 0.3 / height, f"{structure.title}: structure of the dynamics", fontsize=13,
        weight="bold", color=INK, va="center",
    )  # fmt: skip
    figure.text(
        left, 1 - 0.58 / height, f"{EQUATION}      {'  ·  '.join(counts)}", color=GREY,
        va="center",
    )  # fmt: skip
    handles = _legend(structure)
    figure.legend(
        handles=handles, loc="center left", bbox_to_anchor=(left, 1 - 0.88 / height),
        ncols=len(handles), frameon=False, borderpad=0, borderaxespad=0, handlelength=1.2,
        columnspacing=1.2, labelcolor=INK,
    )  # fmt: skip


def _legend(structure: Structure) -> list[Any]:
    """A patch for each colour of the maps."""
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    every = [element for *_, element in structure.different()]
    counts = sorted({len(e.joints) for e in every if e.status == "varies" and not e.rounding})
    if len(counts) > 7:
        counts = [counts[round(k)] for k in np.linspace(0, len(counts) - 1, 5)]
    names: dict[str, Any] = {"zero": ZERO, "constant": CONSTANT}
    for k, count in enumerate(counts):
        word = ("depends on " if k == 0 else "") + counted(count, "joint")
        names[word] = _shade(count, len(structure.joints))
    if any(e.rounding for e in every):
        names["cancels in these numbers"] = CANCELS
    names["by symmetry"] = MIRROR
    return [
        Patch(facecolor=colour, label=name, edgecolor=PALE, linewidth=0.8)
        for name, colour in names.items()
    ]
