"""The panels of the picture of a simulation."""

from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import COLOURS, GREY, INK, PALE, thinned
from armdyn.simulation.curves import Curves
from armdyn.simulation.motion import SimulatedMotion

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
    "hits": ("#B2182B", "-"),
    "leaves": ("#B2182B", (0, (2, 2))),
}
"""Colour and dashes of the line that marks an event."""
MANY_EVENTS = 60
"""A joint with more events gets finer lines for them, which do not hide the torques."""
NAME_GAP = 0.075
"""Least distance between the names of lines, as a part of the height."""


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
        _line(axes, lines.t, lines.q[..., i], colour, 1.5, band=0.1)
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


def draw_shares(axes: Any, title: str, unit: str, t: Array, lines: dict[str, Array]) -> None:
    """Energies or powers by name; works are dashed among energies."""
    energies = "kinetic" in lines or "potential" in lines
    for name, values in lines.items():
        work = energies and name in WORDS
        _line(
            axes, t, values, SHARES[name], 2.0 if name == "total" else 1.3,
            label=WORDS[name] if work else name, dashes=(0, (4, 1.5)) if work else "-",
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
    shown = {}
    for name, values in lines.terms.items():
        shown[name] = _line(axes, lines.t, values[:1, :, i], TERMS[name], 1.2)
    shown = {"total": _line(axes, lines.t, lines.tau[..., i], INK, 2.0)} | shown
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
    unit = "N·m" if joint.kind == "revolute" else "N"
    if simulation.q.ndim == 2:
        axes.set_title(
            _peak(simulation.tau[:, i], unit), loc="right", fontsize=8, color=GREY, pad=5
        )
    axes.set_ylabel(f"[{unit}]")
    return shown


def _peak(torque: Array, unit: str) -> str:
    peak = torque[np.abs(torque).argmax()]
    return f"peak {peak:.3g} {unit}".replace("-", "\N{MINUS SIGN}") if peak else "no torque"


def _entitle(axes: Any, title: str, unit: str) -> None:
    axes.annotate(
        title, (0, 1), (0, 34), xycoords="axes fraction", textcoords="offset points",
        fontsize=11, weight="bold", color=INK, va="center",
    )  # fmt: skip
    axes.set_ylabel(f"[{unit}]")


def _line(
    axes: Any,
    t: Array,
    values: Array,
    colour: str,
    width: float,
    label: str | None = None,
    dashes: Any = "-",
    band: float = 0.15,
) -> Any:
    """A line of values (k, m), and a band about it where k is 3."""
    if len(values) == 3:
        axes.fill_between(t, values[1], values[2], color=colour, alpha=band, linewidth=0)
    front = 4 if dashes != "-" else 3 if colour == INK else 2
    (drawn,) = axes.plot(
        *thinned(t, values[0]), color=colour, linewidth=width, label=label, linestyle=dashes,
        zorder=front,
    )  # fmt: skip
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
