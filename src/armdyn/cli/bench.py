"""`armdyn bench`: how fast the kernels are, here and now, beside other libraries."""

from typing import Any

from armdyn.cli.console import print_table, print_text, printed_as_json, status, table
from armdyn.cli.options import argument, flag, optional
from armdyn.errors import counted


def bench(
    robots: list[str] | None = argument(
        "[ROBOT]...", "Names or files of robots; without any, panda.", None
    ),
    *,
    quick: bool = flag("--quick", "Smaller batches, less time."),
    only: list[str] | None = optional("Measure this alone, as one_state; repeatable.", "NAME"),
    seconds: float | None = optional("How long to measure each case, in s.", min=0.0),
) -> None:
    """Measure speed beside Pinocchio, MuJoCo and the Robotics Toolbox."""
    from armdyn.bench.bench import bench as measure

    with status("starting") as tell:
        report = measure(robots or ("panda",), only or (), seconds, quick, tell)
    if printed_as_json(report.data):
        return
    print_machine(report.machine)
    text = ("robot", "what", "against")
    rows = table(*text[:2], "armdyn", "states/s", "against", "there", "times as fast", left=text)
    for row in report.rows:
        rate = "" if row.case == "compile" else f"{1 / row.ours:.3g}"
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        times = duration(row.ours), rate, row.against or "", duration(row.theirs)
        rows.add_row(row.robot, row.what, *times, ratio)
    print_table(rows)
    for note in report.notes:
        print_text(f"note: {note}")


def print_machine(machine: Any) -> None:
    """The processor and its load, and the versions of the libraries."""
    load = " ".join(f"{value:.2f}" for value in machine.load) or "unknown"
    versions = {"armdyn": machine.armdyn, "Python": machine.python} | machine.versions
    cores = counted(machine.cores, "core")
    processor = f"{machine.cpu}, {cores}, vectors of {machine.vector_bits} bits"
    print_text(f"{processor}, load average {load}")
    print_text(", ".join(f"{name} {found or 'not installed'}" for name, found in versions.items()))


def duration(seconds: float | None) -> str:
    """A time with the unit that fits it."""
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
