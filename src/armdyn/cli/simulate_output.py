"""What `armdyn simulate` shows while it runs and when it has ended."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from armdyn.cli.console import print_line, print_styled, print_table, screen, table
from armdyn.cli.torque_output import print_excesses
from armdyn.errors import counted
from armdyn.report.result import unrounded, zero

if TYPE_CHECKING:
    from armdyn.simulation.result import Simulation

BAR_DELAY = 1.0
"""Time after which a progress bar appears [s]."""
BAR_PERIOD = 0.05
"""Least time between two changes of the progress bar [s]."""
MAX_LISTED_EVENTS = 20


@contextmanager
def telling(duration: float) -> Iterator[Callable[[float], None] | None]:
    """Whom to tell the time reached: a bar on the terminal, if the run is long."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.completed:.4g} of {task.total:.4g} s, ready in"),
        TimeRemainingColumn(),
        TextColumn("(Ctrl-C keeps what is done)"),
    )
    bar = Progress(*columns, console=screen(stderr=True), transient=True)
    task = bar.add_task("", total=duration)
    began = told = time.monotonic()

    def tell(t: float) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told > BAR_PERIOD:
            told = now
            bar.update(task, completed=t)
            if now - began > BAR_DELAY:
                bar.start()

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


def print_simulation(result: Simulation) -> None:
    """How it went, the final state, where energy went, and events."""
    counts = result.statistics
    took = f"{counts['seconds']:.3g} s to compute"
    many = "" if result.q.ndim == 2 else f", {counted(result.arms, 'arm')}"
    name = result.robot.model.title or result.robot.name
    told = [f"{counts[what]:.0f} {what}" for what in ("steps", "evaluations") if counts.get(what)]
    told += [f"residual {counts['residual']:.1e}"] if "residual" in counts else []
    print_styled(
        (name, "bold"),
        f"{many}: {result.t[-1]:.6g} s by {result.method}; ",
        ", ".join([*told, took]),
    )
    if result.status != "finished":
        print_styled((result.message, "yellow"))
        print_line("what was computed until then is kept")
    print_excesses(result.excesses, given=False)
    _print_state(result)
    _print_tracking(result)
    _print_energy(result)
    if result.events:
        print_styled(("Events", "bold"), f": {len(result.events)}")
        for event in result.events[:MAX_LISTED_EVENTS]:
            print_line(f"  {event}")
        if len(result.events) > MAX_LISTED_EVENTS:
            print_line(f"  and {len(result.events) - MAX_LISTED_EVENTS} more")


def _print_state(result: Simulation) -> None:
    final = {name: getattr(result, name)[..., -1, :] for name in ("q", "qd", "qdd", "tau")}
    if result.q.ndim > 2:
        shares = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
        final = {
            f"{name} {share}": np.quantile(final[name].reshape(-1, result.robot.n), part, axis=0)
            for name in ("q", "qd")
            for share, part in shares.items()
        }
    rows = table("joint", *final, "", left=("joint", ""), title="At the end")
    model = result.robot.model
    for i, joint in enumerate(model.joints[k] for k in model.independent):
        values = (_number(value[i], float(np.abs(value).max())) for value in final.values())
        rows.add_row(joint.name, *values, f"{joint.type.unit}, {joint.type.torque_unit}")
    print_table(rows)


def _print_tracking(result: Simulation) -> None:
    """How far the arm was from what its controller was to follow."""
    tracking = result.data()["tracking"]
    if tracking is None:
        return
    rows = table("joint", "largest", "RMS", "", left=("joint", ""), title="Error of tracking")
    model = result.robot.model
    pairs = zip(model.independent, tracking["largest"], tracking["rms"], strict=True)
    for k, largest, rms in pairs:
        joint = model.joints[k]
        rows.add_row(joint.name, _number(largest, 1.0), _number(rms, 1.0), joint.type.unit)
    print_table(rows)


def _number(value: float, scale: float) -> str:
    return f"{unrounded(value, scale):.6g}"


def _print_energy(result: Simulation) -> None:
    many = "" if result.q.ndim == 2 else ", mean of the arms"
    title = f"Energy [J]{many}; drift {result.energy_drift:.1e}"
    rows = table("", "start", "end", "change", left=("",), title=title)
    stored = {"kinetic": result.kinetic, "potential": result.potential, "sum": result.energy}
    scale = float(max(np.abs(values).max() for values in stored.values()))
    for name, values in stored.items():
        first, last = values[..., 0].mean(), values[..., -1].mean()
        rows.add_row(name, *(_number(v, scale) for v in (first, last, last - first)))
    works = result.work[..., -1, :].reshape(-1, 4).mean(axis=0) * (1, -1, 1, -1)
    outside = "from the environment and the base" if result.base.any() else "from the environment"
    words = ("from actuators", "to friction", outside, "to impacts")
    for name, value in zip(words, works, strict=True):
        if value:
            rows.add_row(name, "", "", _number(value, scale))
    rows.add_row("unaccounted for", "", "", zero(result.balance[..., -1].mean(), scale))
    print_table(rows)
