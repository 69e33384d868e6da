"""A simulation as a picture."""

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.figures import (
    ALARM,
    COLOURS,
    GREY,
    INK,
    PALE,
    draw_limit,
    peak_words,
    save_picture,
    thinned,
)
from armdyn.simulation.curves import Curves, curves
from armdyn.simulation.limits import effort_limits
from armdyn.simulation.motion import SimulatedMotion

WIDTH = 12.6
_LEFT, _RIGHT, _BETWEEN = 0.68, 0.2, 0.85
"""Margins, and what is free between panels [inch]."""
_HEAD, _OVERVIEW, _LEGEND, _TORQUE, _GAP, _FOOT = 1.42, 2.2, 1.1, 1.75, 0.52, 0.5
"""Heights from top to bottom [inch]; rows of torques are repeated, with gaps between them."""
JOINTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C3A", "#8C6BB1")
TERMS = COLOURS | {"dry friction": COLOURS["coulomb"], "stops": "#7A5C3A"}
SHARES = {
    "total": INK,
    "kinetic": "#0072B2",
    "potential": "#009E73",
    "gravity": "#009E73",
    "actuators": "#E69F00",
    "friction": "#D55E00",
    "environment": "#8C6BB1",
    "impacts": "#7A5C3A",
}
WORDS = {
    "actuators": "from actuators",
    "friction": "to friction",
    "environment": "from environment",
    "impacts": "to impacts",
}
"""What work is called among energies."""
EVENTS: dict[str, tuple[str, Any]] = {
    "sticks": (GREY, "-"),
    "starts": (GREY, (0, (2, 2))),
    "hits": (ALARM, "-"),
    "leaves": (ALARM, (0, (2, 2))),
}
"""Colour and dashes of the line that marks an event."""
MANY_EVENTS = 60
"""A joint with more events gets finer lines for them, which do not hide the torques."""
MOST_BANDS, BARS = 2, 5
"""Joints beyond which the bands of many arms are drawn as bars, and how many each has."""
NAME_GAP = 0.075
"""Least distance between the names of lines, as a part of the height."""


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
        arms = f"{counted(simulation.arms, 'arm')}, their median and 5 to 95 % band; "
    ended = "" if simulation.status == "finished" else f", {simulation.status} there"
    count = len(simulation.events)
    events = f", {counted(count, 'event')}" if count else ""
    drift = f"energy drift {simulation.energy_drift:.1e}".replace("-", "\N{MINUS SIGN}")
    return f"{arms}{last:.4g} s by {simulation.method}{ended}, {drift}{events}"


def time_axis(axes: Any, t: Array) -> Any:
    """Axes over the time of a simulation."""
    axes.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    axes.set_xlim(*(t[[0, -1]] if len(t) > 1 else t[0] + np.array([-0.5, 0.5])))
    axes.margins(y=0.08)
    axes.locator_params(axis="x", nbins=6)
    axes.locator_params(axis="y", nbins=5)
    return axes


def draw_positions(axes: Any, simulation: SimulatedMotion, lines: Curves) -> None:
    """Positions of all joints, each line with its name at its end and ticks at its events."""
    robot = simulation.robot
    units = [robot.model.joints[i].type.unit for i in robot.model.independent]
    for i, name in enumerate(robot.joint_names):
        colour = JOINTS[i % len(JOINTS)]
        if robot.n > MOST_BANDS and len(lines.q) == 3:
            _draw_bars(axes, lines.t, lines.q[..., i], colour, i / robot.n)
        else:
            _line(axes, lines.t, lines.q[..., i], colour, 1.5, band=0.1)
        if simulation.reference is not None and simulation.q.ndim == 2:
            wanted = thinned(simulation.t, simulation.reference[:, i])
            axes.plot(*wanted, color=colour, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
        times = [event.t for event in simulation.events if event.joint == name]
        if times:
            at = np.interp(times, lines.t, lines.q[0, :, i])
            axes.plot(times, at, "|", color=colour, markersize=9, markeredgewidth=0.9)
    low, high = axes.get_ylim()
    ends = (lines.q[0, -1] - low) / (high - low)
    for i, height in enumerate(spread(ends)):
        unit = " [m]" if units[i] == "m" and "rad" in units else ""
        axes.text(
            1.015, height, f"q{i + 1}{unit}", color=JOINTS[i % len(JOINTS)],
            transform=axes.transAxes, va="center", fontsize=8,
        )  # fmt: skip
    _entitle(axes, "Position", "m" if set(units) == {"m"} else "rad")


def _draw_bars(axes: Any, t: Array, values: Array, colour: str, share: float) -> None:
    """The median of many arms, and bars for its band where bands would cover each other."""
    middle, low, high = values
    axes.plot(*thinned(t, middle), color=colour, linewidth=1.5, zorder=3)
    places = ((np.arange(BARS) + 0.1 + 0.8 * share) / BARS * (len(t) - 1)).astype(int)
    axes.vlines(t[places], low[places], high[places], color=colour, linewidth=1.6, alpha=0.55)


def draw_shares(axes: Any, title: str, unit: str, t: Array, lines: dict[str, Array]) -> None:
    """Energies or powers by name; works are dashed among energies."""
    energies = "kinetic" in lines or "potential" in lines
    for name, values in lines.items():
        work = energies and name in WORDS
        _line(
            axes, t, values, SHARES[name], 2.0 if name == "total" else 1.3,
            label=WORDS[name] if work else name, linestyle=(0, (4, 1.5)) if work else "-",
        )  # fmt: skip
    _entitle(axes, title, unit)
    if lines:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False, fontsize=8,
            borderpad=0.2, borderaxespad=0, handlelength=1.5, columnspacing=1.0, labelspacing=0.25,
        )  # fmt: skip


def draw_torque(axes: Any, simulation: SimulatedMotion, lines: Curves, i: int) -> dict[str, Any]:
    """The torque of a joint, its terms and its events; returns what the legend shows."""
    robot = simulation.robot
    joint = robot.model.joints[robot.model.independent[i]]
    shown = {"total": _line(axes, lines.t, lines.tau[..., i], INK, 2.0)}
    for name, values in lines.terms.items():
        shown[name] = _line(axes, lines.t, values[:1, :, i], TERMS[name], 1.2)
    marked = [event for event in simulation.events if event.joint == joint.name]
    for kind, (colour, dashes) in EVENTS.items():
        times = [event.t for event in marked if event.kind == kind]
        if times:
            shown[kind] = axes.vlines(
                times, 0, 1, color=colour, linestyle=dashes, zorder=0.5,
                linewidth=0.7 if len(marked) <= MANY_EVENTS else 0.2,
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip
    axes.set_title(f"q{i + 1}  {joint.name}", loc="left", fontsize=9.5, weight="bold", pad=5,
                   color=JOINTS[i % len(JOINTS)])  # fmt: skip
    unit, limit = joint.type.torque_unit, effort_limits(robot.model)[i]
    drawn = draw_limit(axes, lines.t, lines.tau[..., i], limit)
    shown |= {} if drawn is None else {"limit": drawn}
    if simulation.q.ndim == 2:
        peak = float(max(simulation.tau[:, i], key=abs))
        words = peak_words(peak, unit, limit)
        axes.set_title(loc="right", **(words if peak else words | {"label": "no torque"}))
    axes.set_ylabel(f"[{unit}]")
    return shown


def _entitle(axes: Any, title: str, unit: str) -> None:
    axes.annotate(
        title, (0, 1), (0, 34), xycoords="axes fraction", textcoords="offset points",
        fontsize=11, weight="bold", color=INK, va="center",
    )  # fmt: skip
    axes.set_ylabel(f"[{unit}]")


def _line(axes: Any, t: Array, values: Array, colour: str, width: float, **look: Any) -> Any:
    """A line of values (k, m), and a band about it where k is 3."""
    band, front = look.pop("band", 0.15), 3 if colour == INK else 2
    if len(values) == 3:
        axes.fill_between(t, values[1], values[2], color=colour, alpha=band, linewidth=0)
    front = 4 if look.get("linestyle", "-") != "-" else front
    points = thinned(t, values[0])
    (drawn,) = axes.plot(*points, color=colour, linewidth=width, zorder=front, **look)
    return drawn


def spread(heights: Array, gap: float = NAME_GAP) -> Array:
    """The heights nearest to those given, in the same order, of which no two are closer than gap.

    Less k times the gap they must not decrease: a regression by pooling neighbours that do.
    """
    order = np.argsort(heights, kind="stable")
    ladder = gap * np.arange(len(heights))
    pools: list[tuple[float, int]] = []
    for value in heights[order] - ladder:
        pools.append((float(value), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, k) = pools[-2:]
            pools[-2:] = [((m * a + k * b) / (m + k), m + k)]
    result = np.empty(len(heights))
    result[order] = ladder + np.repeat([v for v, _ in pools], [k for _, k in pools])
    return result
