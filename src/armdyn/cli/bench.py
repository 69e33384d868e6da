"""`armdyn bench`: how fast the kernels are, here and now, beside other libraries."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from armdyn.cli.options import Json


def bench(
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller batches, shorter chains, less time.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure this alone, as one_state; repeatable."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, help="How long to measure each row, in s.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw how cost grows with the joints to a .png, .pdf or .svg file."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure speed beside Pinocchio, MuJoCo and the Robotics Toolbox."""
    from armdyn.bench.bench import bench as measure
    from armdyn.cli.console import print_json, status
    from armdyn.figures import check_plot

    if plot is not None:
        check_plot(plot)
    with status("starting") as tell:
        report = measure(only or (), seconds, quick, tell)
        series = None if plot is None else _grown(plot, tell)
    if json:
        print_json(report.data() | ({} if series is None else {"growth": series}))
        return
    print_report(report)
    if plot is not None:
        print(f"wrote {plot}")


def _grown(plot: Path, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    from armdyn.bench.growth import growth
    from armdyn.bench.plot_growth import plot_growth

    series = growth(tell)
    plot_growth(series, plot)
    return [one.data() for one in series]


def print_report(report: Any) -> None:
    """The machine, the table and the notes."""
    from armdyn.cli.console import print_line, print_table, table

    for line in _heading(report.machine):
        print_line(line)
    text = ("what", "against", "")
    rows = table("what", "ours", "against", "theirs", "result", "", "wanted", "met", left=text)
    for row in report.rows:
        wanted = "-" if row.goal is None else f"{row.goal.sense} {_number(row.goal.limit)}"
        met = {True: "yes", False: "no", None: "-"}[row.met]
        value = "-" if row.value is None else _number(row.value)
        times = duration(row.ours), row.against, duration(row.theirs)
        rows.add_row(row.what, *times, value, row.unit, wanted, met)
    print_table(rows)
    for note in report.notes:
        print_line(f"note: {note}")


def _heading(machine: Any) -> list[str]:
    load = " ".join(f"{value:.2f}" for value in machine.load) or "unknown"
    versions = {"armdyn": machine.armdyn, "Python": machine.python} | machine.versions
    return [
        f"{machine.cpu}, {machine.cores} cores, vectors of {machine.vector_bits} bits, "
        f"load average {load}",
        ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items()),
    ]


def duration(seconds: float | None) -> str:
    """A time with the unit that fits it."""
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
