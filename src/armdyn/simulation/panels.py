"""What pictures of simulations share: a page of panels over time, lines with bands, their head."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.report.figures import GREY, INK, PALE, thinned
from armdyn.simulation.motion import SimulatedMotion

WIDTH = 12.6
_LEFT, _RIGHT, _BETWEEN = 0.86, 0.2, 0.92
"""Margins, and what is free between panels [inch]."""
HEAD, OVERVIEW, _LEGEND, _FOOT = 1.42, 2.2, 1.1, 0.5
"""Heights of the head, the panels on the arm, the legend below them and the foot [inch]."""
_PANEL, _GAP, _BLOCK_GAP = 1.75, 0.52, 0.35
"""Height of the panel of a joint, of the gap below it, and of that below a block [inch]."""
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


@dataclass(frozen=True, slots=True)
class Page:
    """A figure of which panels take their places from the top [inch]."""

    figure: Any
    t: Array
    n: int
    """How many joints there are, with a panel each in a block."""

    @classmethod
    def of(cls, simulation: SimulatedMotion, t: Array, blocks: int) -> "Page":
        """A page with a head, panels on the arm, and blocks with a panel for each joint."""
        from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

        height = HEAD + OVERVIEW + _FOOT + blocks * _block_height(simulation.robot.n) - _BLOCK_GAP
        page = cls(Figure((WIDTH, height), facecolor="white"), t, simulation.robot.n)
        name = simulation.robot.model.title or simulation.robot.name
        page.text(0.26, f"{name}: simulated motion", fontsize=13, weight="bold", color=INK)
        page.text(0.52, _subtitle(simulation), color=GREY)
        return page

    def text(self, top: float, words: str, **look: Any) -> None:
        """Words at the left edge."""
        height = self.figure.get_figheight()
        self.figure.text(_LEFT / WIDTH, 1 - top / height, words, va="center", **look)

    def panel(self, column: int, columns: int, top: float, tall: float) -> Any:
        """Axes over time in one of the columns."""
        height = self.figure.get_figheight()
        wide = (WIDTH - _LEFT - _RIGHT - (columns - 1) * _BETWEEN) / columns
        left, low = _LEFT + column * (wide + _BETWEEN), height - top - tall
        place = (left / WIDTH, low / height, wide / WIDTH, tall / height)
        return _time_axis(self.figure.add_axes(place), self.t)

    def joints(self, block: int) -> list[Any]:
        """The panels of a block, one for each joint."""
        top, columns = self._top(block), _columns(self.n)
        panels = []
        for i in range(self.n):
            row, column = divmod(i, columns)
            panels.append(self.panel(column, columns, top + row * (_PANEL + _GAP), _PANEL))
            panels[i].set_xlabel("time [s]" if i + columns >= self.n else "")
        return panels

    def entitle(self, block: int, title: str, lines: dict[str, Any]) -> None:
        """The title of a block and beside it what its lines are."""
        at = self._top(block) - 0.6
        self.text(at, title, fontsize=11, weight="bold", color=INK)
        height, left = self.figure.get_figheight(), _LEFT + 0.35 + 0.0855 * len(title)
        self.figure.legend(
            lines.values(), lines.keys(), loc="center left", frameon=False, borderaxespad=0,
            bbox_to_anchor=(left / WIDTH, 1 - at / height), ncols=len(lines) or 1,
            borderpad=0, handlelength=1.5, columnspacing=1.2, fontsize=8.5,
        )  # fmt: skip

    def _top(self, block: int) -> float:
        return HEAD + OVERVIEW + _LEGEND + block * _block_height(self.n)


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


def _columns(n: int) -> int:
    return {1: 1, 2: 2, 4: 2}.get(n, 3 if n <= 6 else 4)


def _block_height(n: int) -> float:
    """Height of a panel for each joint, and of what is above and below them [inch]."""
    rows = -(-n // _columns(n))
    return _LEGEND + rows * _PANEL + (rows - 1) * _GAP + _BLOCK_GAP


def _subtitle(simulation: SimulatedMotion) -> str:
    last, arms = simulation.t[-1], ""
    if simulation.q.ndim > 2:
        arms = f"{counted(simulation.arms, 'arm')}, their median and the bands of 50 % and 90 %; "
    ended = "" if simulation.status == "finished" else f", {simulation.status} there"
    count = len(simulation.events)
    events = f", {counted(count, 'event')}" if count else ""
    drift = f"energy drift {simulation.energy_drift:.1e}".replace("-", "\N{MINUS SIGN}")
    return f"{arms}{last:.4g} s by {simulation.method}{ended}, {drift}{events}"


def _time_axis(axes: Any, t: Array) -> Any:
    """Axes over the time of a simulation."""
    axes.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    axes.set_xlim(*(t[[0, -1]] if len(t) > 1 else t[0] + np.array([-0.5, 0.5])))
    axes.margins(y=0.08)
    axes.locator_params(axis="x", nbins=6)
    axes.locator_params(axis="y", nbins=5)
    return axes


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
    front = 3 if colour == INK else 2
    for density, low, high in zip(BANDS, values[1::2], values[2::2], strict=False):
        axes.fill_between(t, low, high, color=colour, alpha=density, linewidth=0)
    front = 4 if look.get("linestyle", "-") != "-" else front
    points = thinned(t, values[0])
    (drawn,) = axes.plot(*points, color=colour, linewidth=width, zorder=front, **look)
    return drawn
