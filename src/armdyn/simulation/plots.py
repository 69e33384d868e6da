"""A simulation as a picture."""

from pathlib import Path
from typing import Any

from armdyn.figures import GREY, INK, save_picture
from armdyn.simulation.curves import Curves, curves
from armdyn.simulation.motion import SimulatedMotion
from armdyn.simulation.panels import draw_positions, draw_shares, draw_torque, time_axis

WIDTH = 12.6
_LEFT, _RIGHT, _BETWEEN = 0.68, 0.2, 0.85
"""Margins, and what is free between panels [inch]."""
_HEAD, _OVERVIEW, _LEGEND, _TORQUE, _GAP, _FOOT = 1.42, 2.2, 1.1, 1.75, 0.52, 0.5
"""Heights from top to bottom [inch]; rows of torques are repeated, with gaps between them."""


def plot(simulation: SimulatedMotion, path: str | Path) -> None:
    """Draw positions, energies, powers and the torques of each joint with their terms to a file.

    Of many arms it shows the median, and a band that holds nine of ten of them.
    """
    save_picture(path, lambda: draw(simulation, curves(simulation)))


def draw(simulation: SimulatedMotion, lines: Curves) -> Any:
    """The figure: three panels on the arm as a whole, and one for the torque of each joint."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = simulation.robot.n
    columns = {1: 1, 2: 2, 4: 2}.get(n, 3 if n <= 6 else 4)
    rows = -(-n // columns)
    height = _HEAD + _OVERVIEW + _LEGEND + rows * _TORQUE + (rows - 1) * _GAP + _FOOT
    figure = Figure(figsize=(WIDTH, height), facecolor="white")

    def text(top: float, words: str, **look: Any) -> None:
        figure.text(_LEFT / WIDTH, 1 - top / height, words, va="center", **look)

    def panel(column: int, columns: int, top: float, tall: float) -> Any:
        wide = (WIDTH - _LEFT - _RIGHT - (columns - 1) * _BETWEEN) / columns
        left, low = _LEFT + column * (wide + _BETWEEN), height - top - tall
        place = (left / WIDTH, low / height, wide / WIDTH, tall / height)
        return time_axis(figure.add_axes(place), lines.t)

    name = simulation.robot.model.title or simulation.robot.name
    text(0.26, f"{name}: simulated motion", fontsize=13, weight="bold", color=INK)
    text(0.52, _subtitle(simulation), color=GREY)
    draw_positions(panel(0, 3, _HEAD, _OVERVIEW), simulation, lines)
    draw_shares(panel(1, 3, _HEAD, _OVERVIEW), "Energy", "J", lines.t, lines.energy)
    draw_shares(panel(2, 3, _HEAD, _OVERVIEW), "Power", "W", lines.t, lines.power)
    top = _HEAD + _OVERVIEW + _LEGEND
    handles: dict[str, Any] = {}
    for i in range(n):
        row, column = divmod(i, columns)
        axes = panel(column, columns, top + row * (_TORQUE + _GAP), _TORQUE)
        handles |= draw_torque(axes, simulation, lines, i)
        if i + columns >= n:
            axes.set_xlabel("time [s]")
    text(top - 0.6, "Torque of each joint", fontsize=11, weight="bold", color=INK)
    figure.legend(
        handles.values(), handles.keys(), loc="center left", frameon=False, borderaxespad=0,
        bbox_to_anchor=((_LEFT + 1.9) / WIDTH, 1 - (top - 0.6) / height), ncols=len(handles) or 1,
        borderpad=0, handlelength=1.5, columnspacing=1.2, fontsize=8.5,
    )  # fmt: skip
    return figure


def _subtitle(simulation: SimulatedMotion) -> str:
    last, arms = simulation.t[-1], ""
    if simulation.q.ndim > 2:
        arms = f"{simulation.arms} arms, their median and 5 to 95 % band; "
    ended = "" if simulation.status == "finished" else f", {simulation.status} there"
    count = len(simulation.events)
    events = f", {count} event{'s' * (count > 1)}" if count else ""
    drift = f"energy drift {simulation.energy_drift:.1e}".replace("-", "\N{MINUS SIGN}")
    return f"{arms}{last:.4g} s by {simulation.method}{ended}, {drift}{events}"
