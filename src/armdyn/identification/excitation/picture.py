"""A designed motion as a picture: each joint in its limits, the search, and the clearance."""

from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.report.figures import ALARM, COLOURS, GREY, INK, LIMIT, PALE, draw_head, thinned

LINES = {
    "position": (COLOURS["inertial"], 1.7),
    "speed": (COLOURS["viscous"], 1.2),
    "acceleration": (COLOURS["gravity"], 1.0),
    "torque": (COLOURS["coriolis"], 1.0),
}
"""Colour and width of what is limited."""


def draw_excitation(result: Any) -> Any:
    """The figure of an `Excitation`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = result.robot.n
    columns = 1 if n == 1 else 2 if n <= 8 else 3
    rows = -(-n // columns)
    height = 1.55 + 1.55 * rows + 2.5
    figure = Figure(figsize=((7.2, 9.8, 14.0)[columns - 1], height), facecolor="white")
    outer = figure.add_gridspec(
        2, 1, height_ratios=(1.55 * rows, 2.0), left=0.085, right=0.98, top=1 - 1.25 / height,
        bottom=0.5 / height, hspace=0.85 / (0.5 * (1.55 * rows + 2.0)),
    )  # fmt: skip
    panels = outer[0].subgridspec(rows, columns, hspace=0.42, wspace=0.16)
    lines: dict[str, Any] = {}
    for i in range(n):
        panel = figure.add_subplot(panels[i // columns, i % columns])
        lines |= _draw_joint(panel, result, i)
        last = i + columns >= n
        panel.tick_params(labelbottom=last)
        panel.set_xlabel("time [s]" if last else "")
        if i % columns == 0:
            panel.set_ylabel("share of limit")
    below = outer[1].subgridspec(1, 2, wspace=0.2)
    _draw_search(figure.add_subplot(below[0]), result)
    if result.distances is None:
        _draw_values(figure.add_subplot(below[1]), result)
    else:
        _draw_distances(figure.add_subplot(below[1]), result)
    robot, motion = result.robot.model, result.trajectory
    title = (
        f"{robot.title or robot.name}: excitation of {counted(len(result.parameters), 'parameter')}"
    )
    subtitle = (
        f"condition number {result.condition:.3g}; one period of {motion.period:.4g} s, "
        f"{len(motion.a)} harmonics, from rest to rest"
    )
    draw_head(figure, 0.085, title, subtitle, lines)
    return figure


def _draw_joint(panel: Any, result: Any, i: int) -> dict[str, Any]:
    limits, t = result.limits, result.dense.t
    q, qd, qdd = (x[:, i] for x in result.dense.motion)
    shares = {
        "position": (q - limits.middle[i]) / limits.room[i],
        "speed": qd / limits.speed[i],
        "acceleration": qdd / limits.acceleration[i],
        "torque": result.dense.tau[:, i] / limits.torque[i],
    }
    infinite = {
        "acceleration": np.isinf(limits.acceleration[i]), "torque": np.isinf(limits.torque[i])
    }  # fmt: skip
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    kept = 1 - result.margin
    for sign in (-1.0, 1.0):
        panel.axhspan(sign * kept, sign * 1.3, color=ALARM, alpha=0.07, linewidth=0, zorder=0)
        panel.axhline(sign, **LIMIT, zorder=1)
    drawn = {}
    for what, (colour, width) in LINES.items():
        if not infinite.get(what, False):
            (drawn[what],) = panel.plot(*thinned(t, shares[what]), color=colour, linewidth=width)
    panel.set(xlim=(t[0], t[-1]), ylim=(-1.15, 1.15), yticks=(-1, 0, 1))
    joint = result.robot.model.joints[result.robot.model.independent[i]]
    unit = joint.type.unit
    panel.set_title(joint.name, fontsize=10, weight="bold", color=INK, pad=4)
    words = f"{q.min():.3g} to {q.max():.3g} {unit}, {np.abs(qd).max():.3g} {unit}/s"
    panel.set_title(
        words.replace("-", "\N{MINUS SIGN}"), loc="right", fontsize=8, color=GREY, pad=4
    )
    return drawn


def _draw_search(panel: Any, result: Any) -> None:
    steps = np.arange(1, len(result.conditions) + 1)
    panel.plot(steps, result.conditions, color=COLOURS["inertial"], linewidth=1.4)
    panel.set_yscale("log")
    _name(panel, "search", f"ends at {result.condition:.3g}")
    low, high = min(result.conditions, default=1.0), max(result.conditions, default=10.0)
    panel.set_ylim(low / 1.15, min(high, 200 * low) * 1.15)
    _plain_ticks(panel)
    panel.set_xlim(1, max(len(steps), 2))
    panel.set_xlabel("step from the best start")
    panel.set_ylabel("condition number")


def _draw_values(panel: Any, result: Any) -> None:
    """The singular values: flat is good."""
    values: Array = result.singular_values / result.singular_values[0]
    panel.plot(np.arange(1, len(values) + 1), values, "o-", color=COLOURS["inertial"], markersize=3)
    panel.set_yscale("log")
    panel.set_ylim(top=1.3)
    _plain_ticks(panel)
    panel.set_xlabel("singular value of the regressor")
    panel.set_ylabel("relative to the largest")
    _name(panel, "what is shown", f"{len(values)} base parameters")


def _draw_distances(panel: Any, result: Any) -> None:
    t, distance = result.distances
    top = max(float(distance.max()), 2 * result.clearance)
    panel.fill_between([t[0], t[-1]], 0, result.clearance, color=ALARM, alpha=0.07, linewidth=0)
    panel.axhline(result.clearance, **LIMIT)
    panel.plot(*thinned(t, distance), color=COLOURS["inertial"], linewidth=1.4)
    panel.set(xlim=(t[0], t[-1]), ylim=(0, 1.1 * top))
    panel.set_xlabel("time [s]")
    panel.set_ylabel("least distance [m]")
    _name(panel, "clearance", f"least {distance.min():.3g} m of {result.clearance:g} m asked for")


def _name(panel: Any, title: str, words: str) -> None:
    panel.set_title(title, fontsize=10, weight="bold", color=INK, pad=4)
    panel.set_title(words, loc="right", fontsize=8, color=GREY, pad=4)


def _plain_ticks(panel: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter  # noqa: PLC0415

    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
