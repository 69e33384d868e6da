"""A simulation as a picture, and the phase plane of a fastest motion.

Of one arm lines are drawn as they are, of many their spread: the median, and bands that hold a half
and nine tenths of them.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.report.figures import (
    ALARM,
    COLOURS,
    GREY,
    INK,
    LIMIT,
    LIMIT_ROOM,
    PALE,
    draw_limit,
    peak_words,
    thinned,
    time_axis,
)
from armdyn.report.panels import sheet
from armdyn.simulation.system import WORK

QUANTILES = (0.5, 0.05, 0.95, 0.25, 0.75)
"""What is drawn of many arms: the middle, and two bands about it."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Lines, (k, m, n) for each joint and (k, m) for the arm: k is 1, or 5 for `QUANTILES`."""

    t: Array
    q: Array
    tau: Array
    terms: dict[str, Array]
    """What the torques are made of."""
    energy: dict[str, Array]
    """Energies, potential energy counted from the lowest there was, and work [J]."""
    power: dict[str, Array]
    """What gives kinetic energy and takes it, and how fast it changes in all [W]."""


MAX_INSTANTS = 301
"""Instants at which many arms are drawn, at most."""
BLOCK_STATES = 100_000
"""States whose torques are computed at once."""
INVISIBLE = 1e-9
"""A line below this part of the largest one is not drawn."""


def curves(simulation: Any) -> Curves:
    """The lines of a simulation, without those that are zero throughout."""
    many = simulation.q.ndim > 2
    chosen = np.arange(len(simulation.t))
    if many and len(chosen) > MAX_INSTANTS:
        chosen = np.linspace(0, len(chosen) - 1, MAX_INSTANTS).astype(int)
    pieces = -(-len(chosen) * max(simulation.arms, 1) // BLOCK_STATES) if many else 1
    lowest = simulation.potential.min()
    blocks = [_lines(_part(simulation, b), lowest) for b in np.array_split(chosen, pieces)]
    states, *others = (
        {name: np.concatenate([block[name] for block in group], axis=1) for name in group[0]}
        for group in zip(*blocks, strict=True)
    )
    terms, energy, power = map(_acting, others)
    if len(power) <= 2:
        power.pop("total", None)
    return Curves(simulation.t[chosen], **states, terms=terms, energy=energy, power=power)


def _part(simulation: Any, chosen: Array) -> Any:
    """Some instants of a simulation, with all arms on one axis."""
    names = ["q", "qd", "qdd", "tau", "friction", "stop", "external", "base", "work"]
    lead = () if simulation.q.ndim == 2 else (simulation.arms,)
    names += ["floating"] * (simulation.floating is not None)
    parts = {name: getattr(simulation, name)[..., chosen, :] for name in names}
    parts = {name: values.reshape(*lead, *values.shape[-2:]) for name, values in parts.items()}
    return replace(simulation, t=simulation.t[chosen], **parts)


def _lines(part: Any, lowest: float) -> list[dict[str, Array]]:
    """Positions and torques, terms, energies and powers of a part, by name."""
    terms = part.terms()
    potential = part.potential - lowest
    energy = {"total": part.kinetic + potential, "kinetic": part.kinetic, "potential": potential}
    energy |= {name: part.work[..., k] for k, name in enumerate(WORK)}
    forces = {"actuators": part.tau, "gravity": -terms["gravity"], "friction": -part.friction}
    forces["environment"] = part.external + part.base
    power = {name: np.sum(force * part.qd, axis=-1) for name, force in forces.items()}
    if part.floating is not None:  # where the base falls, weight is felt by no joint alone
        h = part.robot.free_base.centroidal_momentum(part.base_state, part.q, part.qd)
        power["gravity"] = h[..., :3] @ part.robot.gravity
    power = {"total": sum(power.values(), np.zeros_like(potential))} | power
    groups = {"q": part.q, "tau": part.tau}, terms, energy, power
    if part.q.ndim == 2:
        return [{name: values[None] for name, values in group.items()} for group in groups]
    return [
        {name: np.quantile(values, QUANTILES, axis=0) for name, values in group.items()}
        for group in groups
    ]


def _acting(lines: dict[str, Array]) -> dict[str, Array]:
    """The lines without those that stay at zero."""
    sizes = {name: float(np.abs(values).max(initial=0.0)) for name, values in lines.items()}
    return {name: lines[name] for name in lines if sizes[name] > INVISIBLE * max(sizes.values())}


WIDTH, LEFT = 12.6, 0.02
"""Width [inch], and where titles begin, as a part of it."""
HEAD, OVERVIEW, TITLE, PANEL = 0.8, 3.0, 0.5, 2.2
"""Heights of head, panels on the arm, title of a block and its rows of panels [inch]."""
BANDS = 0.1, 0.2
"""How dense the outer and the inner band about a line are."""
JOINTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C3A", "#8C6BB1")
"""The colours of joints, again from the first after the last."""
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


def draw(simulation: Any, lines: Curves) -> Any:
    """The figure: panels on the arm as a whole, and blocks with a panel for each joint.

    Of one arm they show positions, energies, powers, and the torque of each joint with its terms;
    of many energies, powers, and the spread of each joint's positions and torques.
    """
    model, n = simulation.robot.model, simulation.robot.n
    many = simulation.q.ndim > 2
    blocks = {"Position of each joint": draw_spread} if many else {}
    if not many or lines.tau.any():
        blocks["Torque of each joint"] = draw_torque
    columns = {1: 1, 2: 2, 4: 2}.get(n, 3 if n <= 6 else 4)
    heights = [OVERVIEW] + [TITLE - (-n // columns) * PANEL] * len(blocks)
    height = HEAD + sum(heights)
    title = f"{model.title or model.name}: simulated motion"
    figure = sheet(WIDTH, height, title, _subtitle(simulation), LEFT, 0.26)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - HEAD / height), w_pad=0.1, h_pad=0.1)
    first, *others = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False).flat
    panels = _panels(first, lines.t, 3 - many, 3 - many)
    if not many:
        draw_positions(panels.pop(0), simulation, lines)
    draw_shares(panels[0], "Energy", "J", lines.t, lines.energy)
    draw_shares(panels[1], "Power", "W", lines.t, lines.power)
    for block, (title, draw_joint) in zip(others, blocks.items(), strict=True):
        shown = band_words() if many and block is others[0] else {}
        for i, panel in enumerate(_panels(block, lines.t, n, columns)):
            shown |= draw_joint(panel, simulation, lines, i)
            panel.set_xlabel("time [s]" if i + columns >= n else "")
        block.suptitle(title, x=LEFT, ha="left", fontsize=11, weight="bold", color=INK)
        block.legend(
            shown.values(), shown.keys(), loc="outside upper right", ncols=len(shown) or 1,
            frameon=False, fontsize=8.5, handlelength=1.5, columnspacing=1.2, labelcolor=INK,
        )  # fmt: skip
    return figure


def _panels(block: Any, t: Array, count: int, columns: int) -> list[Any]:
    """So many panels over time in a part of a figure."""
    places = block.subplots(-(-count // columns), columns, squeeze=False).ravel()
    for place in places[count:]:
        place.remove()
    for panel in places[:count]:
        time_axis(panel, t)
        panel.locator_params(axis="x", nbins=6)
    return list(places[:count])


def band_words() -> dict[str, Any]:
    """What a legend says of a line with bands about it."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 (an extra)
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    outer, inner = BANDS
    return {
        "median": Line2D([], [], color=GREY, linewidth=1.6),
        "half of the arms": Patch(color=GREY, alpha=outer + inner, linewidth=0),
        "nine tenths": Patch(color=GREY, alpha=outer, linewidth=0),
    }


def _subtitle(simulation: Any) -> str:
    last, arms = simulation.t[-1], ""
    if simulation.q.ndim > 2:
        arms = f"{counted(simulation.arms, 'arm')}, their median and the bands of 50 % and 90 %; "
    ended = "" if simulation.status == "finished" else f", {simulation.status} there"
    count = len(simulation.events)
    events = f", {counted(count, 'event')}" if count else ""
    drift = f"energy drift {simulation.energy_drift:.1e}".replace("-", "\N{MINUS SIGN}")
    return f"{arms}{last:.4g} s by {simulation.method}{ended}, {drift}{events}"


def draw_shares(axes: Any, title: str, unit: str, t: Array, lines: dict[str, Array]) -> None:
    """Energies or powers by name; works are dashed among energies."""
    energies = "kinetic" in lines or "potential" in lines
    for name, values in lines.items():
        work = energies and name in WORDS
        draw_line(
            axes, t, values, SHARES[name], 2.0 if name == "total" else 1.3,
            label=WORDS[name] if work else name, linestyle=(0, (4, 1.5)) if work else "-",
        )  # fmt: skip
    entitle(axes, title, unit)
    if lines:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False, fontsize=8,
            borderpad=0.2, borderaxespad=0, handlelength=1.5, columnspacing=1.0, labelspacing=0.25,
        )  # fmt: skip


def entitle(axes: Any, title: str, unit: str) -> None:
    """The title of a panel on the arm as a whole, and its unit."""
    axes.annotate(
        title, (0, 1), (0, 34), xycoords="axes fraction", textcoords="offset points",
        fontsize=11, weight="bold", color=INK, va="center",
    )  # fmt: skip
    axes.set_ylabel(f"[{unit}]")


def draw_line(axes: Any, t: Array, values: Array, colour: str, width: float, **look: Any) -> Any:
    """A line of values (k, m), and the bands about it that the other rows are the edges of."""
    for density, low, high in zip(BANDS, values[1::2], values[2::2], strict=False):
        axes.fill_between(t, low, high, color=colour, alpha=density, linewidth=0)
    front = 4 if look.get("linestyle", "-") != "-" else 3 if colour == INK else 2
    points = thinned(t, values[0])
    (drawn,) = axes.plot(*points, color=colour, linewidth=width, zorder=front, **look)
    return drawn


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


def draw_positions(axes: Any, simulation: Any, lines: Curves) -> None:
    """Positions of all joints, each line with its name at its end and ticks at its events."""
    robot = simulation.robot
    units = [joint.type.unit for joint in robot.model.coordinate_joints]
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


def draw_spread(axes: Any, simulation: Any, lines: Curves, i: int) -> dict[str, Any]:
    """The positions of a joint of many arms, between its limits; returns what the legend shows."""
    robot = simulation.robot
    q = lines.q[..., i]
    joint = robot.model.coordinate_joints[i]
    draw_line(axes, lines.t, q, JOINTS[i % len(JOINTS)], 1.6)
    low, high = q.min(), q.max()
    room = LIMIT_ROOM * (high - low)
    near = [edge for edge in robot.limits[i] if high - room < edge < low + room]
    edges = [axes.axhline(edge, **LIMIT) for edge in near]
    _name(axes, joint.name, i)
    axes.set_ylabel(f"[{joint.type.unit}]")
    return {"limit": edges[0]} if edges else {}


def draw_torque(axes: Any, simulation: Any, lines: Curves, i: int) -> dict[str, Any]:
    """The torque of a joint, its terms and its events; returns what the legend shows."""
    robot = simulation.robot
    shown = {}
    joint = robot.model.coordinate_joints[i]
    total = draw_line(axes, lines.t, lines.tau[..., i], INK, 2.0)
    if simulation.q.ndim == 2:
        shown["total"] = total
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
    unit = joint.type.torque_unit
    limit = robot.effort_limits[i]
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

    Less k times the gap they must not decrease: an isotonic regression.
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 (slow to import)

    order = np.argsort(heights, kind="stable")
    ladder = gap * np.arange(len(heights))
    result = np.empty(len(heights))
    result[order] = ladder + np.maximum(isotonic_regression(heights[order] - ladder).x, low)
    return result


def draw_phase_plane(fastest: Any) -> Any:
    """The figure of a `TimeOptimal`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(9.5, 4.2), layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.12))
    plane, torques = figure.subplots(1, 2)
    figure.suptitle(
        f"{fastest.robot.name}: along the path in {fastest.duration:.3f} s", x=0.016, ha="left",
        fontsize=13, weight="bold", color=INK,
    )  # fmt: skip
    part = 100 * fastest.s / fastest.s[-1]
    peak = fastest.speed.max()
    top = 1.25 * max(peak, np.minimum(fastest.highest, 4 * peak).max())
    plane.fill_between(part, np.minimum(fastest.allowed, top), top, color=PALE, lw=0)
    plane.plot(part, fastest.allowed, color=GREY, lw=1, label="torques and speeds allow")
    plane.plot(part, fastest.highest, color=ALARM, lw=1, ls="--", label="the rest can be followed")
    plane.plot(part, fastest.speed, color=COLOURS["inertial"], lw=2, label="fastest motion")
    plane.set(xlabel="part of the path [%]", ylabel="speed along the path [1/s]")
    plane.set(xlim=(0, 100), ylim=(0, top))
    plane.legend(loc="upper right", fontsize=8, frameon=True, facecolor="white", edgecolor="none")
    plane.set_title("Phase plane", weight="bold", fontsize=9.5)
    share = 100 * fastest.tau / fastest.effort
    for i, name in enumerate(fastest.robot.joint_names):
        colour = JOINTS[i % len(JOINTS)]
        torques.plot(fastest.t, share[:, i], color=colour, lw=1.4, label=name)
    for side in (-100, 100):
        torques.axhline(side, **LIMIT)
    torques.set(xlabel="time [s]", ylabel="torque [% of its limit]", xlim=(0, fastest.t[-1]))
    torques.set_title("Torques", weight="bold", fontsize=9.5)
    torques.legend(fontsize=7, frameon=False, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
