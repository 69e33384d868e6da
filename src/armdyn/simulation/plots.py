"""A simulation as a picture."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.report.figures import (
    ALARM,
    COLOURS,
    GREY,
    INK,
    LIMIT,
    LIMIT_ROOM,
    draw_limit,
    peak_words,
    save_picture,
    thinned,
)
from armdyn.simulation.curves import Curves, curves
from armdyn.simulation.limits import effort_limits
from armdyn.simulation.motion import SimulatedMotion
from armdyn.simulation.panels import (
    HEAD,
    JOINTS,
    OVERVIEW,
    Page,
    band_words,
    draw_line,
    draw_shares,
    entitle,
)

TERMS = COLOURS | {"dry friction": COLOURS["coulomb"], "stops": "#7A5C3A"}
EVENTS: dict[str, tuple[str, Any]] = {
    "sticks": (GREY, "-"),
    "starts": (GREY, (0, (2, 2))),
    "hits": (ALARM, "-"),
    "leaves": (ALARM, (0, (2, 2))),
}
"""Colour and dashes of the line that marks an event."""
MANY_EVENTS = 60
"""A joint with more events gets finer lines for them, which do not hide the torques."""
NAME_GAP = 0.075
"""Least distance between the names of lines, as a part of the height."""


def plot(simulation: SimulatedMotion, path: str | Path) -> None:
    """Draw positions, energies, powers and the torques of each joint with their terms to a file.

    Of many arms it shows the median, and bands that hold a half and nine tenths of them.
    """
    save_picture(path, lambda: draw(simulation, curves(simulation)))


def draw(simulation: SimulatedMotion, lines: Curves) -> Any:
    """The figure: panels on the arm as a whole, and for each joint."""
    return (draw_arm if simulation.q.ndim == 2 else draw_arms)(simulation, lines)


def draw_arm(simulation: SimulatedMotion, lines: Curves) -> Any:
    """One arm: positions, energies, powers, and the torque of each joint with its terms."""
    page = Page.of(simulation, lines.t, blocks=1)
    draw_positions(page.panel(0, 3, HEAD, OVERVIEW), simulation, lines)
    draw_shares(page.panel(1, 3, HEAD, OVERVIEW), "Energy", "J", lines.t, lines.energy)
    draw_shares(page.panel(2, 3, HEAD, OVERVIEW), "Power", "W", lines.t, lines.power)
    shown: dict[str, Any] = {}
    for i, panel in enumerate(page.joints(0)):
        shown |= draw_torque(panel, simulation, lines, i)
    page.entitle(0, "Torque of each joint", shown)
    return page.figure


def draw_arms(simulation: SimulatedMotion, lines: Curves) -> Any:
    """Many arms: energies, powers, and the spread of each joint's positions and torques."""
    torques = bool(lines.tau.any())
    page = Page.of(simulation, lines.t, blocks=1 + torques)
    draw_shares(page.panel(0, 2, HEAD, OVERVIEW), "Energy", "J", lines.t, lines.energy)
    draw_shares(page.panel(1, 2, HEAD, OVERVIEW), "Power", "W", lines.t, lines.power)
    shown = band_words()
    for i, panel in enumerate(page.joints(0)):
        shown |= draw_spread(panel, simulation, lines, i)
    page.entitle(0, "Position of each joint", shown)
    if torques:
        shown = {}
        for i, panel in enumerate(page.joints(1)):
            shown |= draw_torque(panel, simulation, replace(lines, terms={}), i)
        page.entitle(1, "Torque of each joint", {k: v for k, v in shown.items() if k != "total"})
    return page.figure


def draw_positions(axes: Any, simulation: SimulatedMotion, lines: Curves) -> None:
    """Positions of all joints, each line with its name at its end and ticks at its events."""
    robot = simulation.robot
    units = [robot.model.joints[i].type.unit for i in robot.model.independent]
    for i, name in enumerate(robot.joint_names):
        colour = JOINTS[i % len(JOINTS)]
        draw_line(axes, lines.t, lines.q[..., i], colour, 1.5)
        if simulation.reference is not None:
            wanted = thinned(simulation.t, simulation.reference[:, i])
            axes.plot(*wanted, color=colour, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
        times = [event.t for event in simulation.events if event.joint == name]
        if times:
            at = np.interp(times, lines.t, lines.q[0, :, i])
            axes.plot(times, at, "|", color=colour, markersize=9, markeredgewidth=0.9)
    low, high = axes.get_ylim()
    ends = (lines.q[0, -1] - low) / (high - low)
    for i, height in enumerate(spread(ends, low=NAME_GAP / 2)):
        unit = " [m]" if units[i] == "m" and "rad" in units else ""
        axes.text(
            1.015, height, f"q{i + 1}{unit}", color=JOINTS[i % len(JOINTS)],
            transform=axes.transAxes, va="center", fontsize=8,
        )  # fmt: skip
    entitle(axes, "Position", "m" if set(units) == {"m"} else "rad")


def draw_spread(axes: Any, simulation: SimulatedMotion, lines: Curves, i: int) -> dict[str, Any]:
    """The positions of a joint of many arms, between its limits; returns what the legend shows."""
    robot, colour = simulation.robot, JOINTS[i % len(JOINTS)]
    joint = robot.model.joints[robot.model.independent[i]]
    draw_line(axes, lines.t, lines.q[..., i], colour, 1.6)
    low, high = lines.q[..., i].min(), lines.q[..., i].max()
    room = LIMIT_ROOM * (high - low)
    near = [edge for edge in robot.limits[i] if high - room < edge < low + room]
    edges = [axes.axhline(edge, **LIMIT) for edge in near]
    _name(axes, joint.name, i)
    axes.set_ylabel(f"[{joint.type.unit}]")
    return {"limit": edges[0]} if edges else {}


def draw_torque(axes: Any, simulation: SimulatedMotion, lines: Curves, i: int) -> dict[str, Any]:
    """The torque of a joint, its terms and its events; returns what the legend shows."""
    robot = simulation.robot
    joint = robot.model.joints[robot.model.independent[i]]
    shown = {"total": draw_line(axes, lines.t, lines.tau[..., i], INK, 2.0)}
    for name, values in lines.terms.items():
        shown[name] = draw_line(axes, lines.t, values[:1, :, i], TERMS[name], 1.2)
    marked = [event for event in simulation.events if event.joint == joint.name]
    for kind, (colour, dashes) in EVENTS.items():
        times = [event.t for event in marked if event.kind == kind]
        if times:
            shown[kind] = axes.vlines(
                times, 0, 1, color=colour, linestyle=dashes, zorder=0.5,
                linewidth=0.7 if len(marked) <= MANY_EVENTS else 0.2,
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip
    _name(axes, joint.name, i)
    unit, limit = joint.type.torque_unit, effort_limits(robot.model)[i]
    drawn = draw_limit(axes, lines.t, lines.tau[..., i], limit)
    shown |= {} if drawn is None else {"limit": drawn}
    if simulation.q.ndim == 2:
        peak = float(max(simulation.tau[:, i], key=abs))
        words = peak_words(peak, unit, limit)
        axes.set_title(loc="right", **(words if peak else words | {"label": "no torque"}))
    axes.set_ylabel(f"[{unit}]")
    return shown


def _name(axes: Any, joint: str, i: int) -> None:
    look: Any = {"loc": "left", "fontsize": 9.5, "weight": "bold", "pad": 5}
    axes.set_title(f"q{i + 1}  {joint}", **look, color=JOINTS[i % len(JOINTS)])


def spread(heights: Array, gap: float = NAME_GAP, low: float = -np.inf) -> Array:
    """The heights from `low` on nearest to those given, in the same order, no two closer than gap.

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
    pooled = np.repeat([v for v, _ in pools], [k for _, k in pools])
    result[order] = ladder + np.maximum(pooled, low)
    return result
