"""Print the speed table with its goals, and write it as JSON where told."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import speed_robots
from growth import chain_times

from armdyn.bench.bench import SETTINGS, BenchReport, Machine, Speed, bench, duration
from armdyn.cli.console import print_line, print_table, status, table
from armdyn.errors import check_known
from armdyn.io.atomic import write_text

FASTER = "times as fast"
TABLE: dict[tuple[str, str], dict[str, tuple[str, float]]] = {
    ("panda", "inverse_dynamics"): {"pin.rneaInParallel": ("≥", 52)},
    ("panda", "forward_dynamics"): {"pin.abaInParallel": ("≥", 50)},
    ("panda", "mass_matrix"): {"pin.crba in a loop": ("≥", 36)},
    ("panda", "derivatives"): {"pin.computeRNEADerivatives in a loop": ("≥", 30)},
    ("panda", "configuration_space"): {"batch configuration space": ("≤", 0.3e-6)},
    ("panda", "christoffel"): {"batch christoffel": ("≤", 0.25e-6)},
    ("panda", "cartesian"): {"batch cartesian": ("≤", 0.4e-6)},
    ("panda", "one_state"): {
        "one state, robot.inverse_dynamics": ("≥", 4.5),
        "one state, robot.kernel": ("≥", 7.1),
    },
    ("panda", "peak"): {},
    ("panda", "threads"): {"one thread": ("≥", 1.8)},
    ("panda", "compile"): {
        f"{way}, until the first torques of {use}": ("≤", most)
        for way, most in (("compile", 0.150), ("load", 0.015))
        for use in ("one state", "a batch")
    },
    ("ur5", "inverse_dynamics"): {"pin.rneaInParallel": ("≥", 60)},
    ("ur5", "forward_dynamics"): {"pin.abaInParallel": ("≥", 70)},
    ("talos", "inverse_dynamics"): {"pin.rneaInParallel": ("≥", 35)},
    ("puma560", "inverse_dynamics"): {},
}
"""Robot and case of each measurement, and the goals of its rows by peer or by what is measured."""
PEAK_SHARE = {("of the multipliers", False): ("≥", 0.58), ("of the multipliers", True): ("≥", 0.66)}
"""Goals for the share of what the multipliers can do, by rows and in blocks."""
CHAINS, QUICK_CHAINS = (10, 20, 50, 100), (10, 20, 40)
"""Joints of the chains."""
NAMES = (*(f"{robot}_{case}" for robot, case in TABLE), "chain")
"""Every measurement by the name it is asked for with."""
NOTES = (
    "Pinocchio's batch functions run on one thread, in blocks of which the fastest counts; where "
    "it has no batch function it is called in a loop in Python",
    "computeRNEADerivatives gives the mass matrix as well",
    "mj_inverse also prepares what a simulation needs, such as tendons, the mass matrix and its "
    "factors; contacts, limits and other constraints are off",
    "the peak is that of fused multiply-adds; an operation that cannot be fused with another one "
    "takes as long as two that can",
)


@dataclass(frozen=True)
class Judged:
    """A row of the table and its goal."""

    row: Speed
    value: float | None
    """The number that is compared with the goal."""
    unit: str
    sense: str | None = None
    """"≥" or "≤"; None if there is no goal."""
    limit: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None where there is none, or no value."""
        if self.limit is None or self.value is None:
            return None
        return self.value >= self.limit if self.sense == "≥" else self.value <= self.limit

    def data(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self) | {"met": self.met}


def speed(
    only: Sequence[str] = (),
    seconds: float | None = None,
    quick: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[list[Judged], list[str]]:
    """The rows of the table, and notes.

    Args:
        only: Names of `NAMES`; none: all.
        seconds: How long to measure a row; None: 1.5, or 0.2 if quick.
        quick: Whether to use smaller batches and shorter chains.
        tell: Called with the name of each measurement before it starts.
    """
    for name in only:
        check_known("benchmark", name, NAMES)
    default, _ = SETTINGS[quick]
    time = default if seconds is None else seconds
    rows: list[Judged] = []
    notes = list(NOTES)
    for (name, case), goals in TABLE.items():
        if only and f"{name}_{case}" not in only:
            continue
        robot = speed_robots.robot(name)
        if robot is None:
            notes.append(f"{speed_robots.PACKAGE} is not installed, so {name} is not measured")
            continue
        report = bench([robot], [case], time, quick, tell)
        rows += _judged(report, goals)
        notes += report.notes
    if not only or "chain" in only:
        rows.append(_chain(QUICK_CHAINS if quick else CHAINS, time, tell))
    return rows, list(dict.fromkeys(notes))


def _judged(report: BenchReport, goals: dict[str, tuple[str, float]]) -> Iterator[Judged]:
    for row in report.rows:
        goal = goals.get(row.against or "", goals.get(row.what, (None, None)))
        if row.case == "peak":
            of = "of the multipliers" if row.against == "multipliers" else "of the peak"
            goal = PEAK_SHARE.get((of, row.what.endswith(" in blocks")), (None, None))
            yield Judged(row, row.ratio, of, *goal)
        elif row.theirs is None:
            yield Judged(row, row.ours, "s", *goal)
        else:
            yield Judged(row, row.ratio, FASTER, *goal)


def _chain(sizes: tuple[int, ...], seconds: float, tell: Callable[[str], None]) -> Judged:
    times, power = chain_times(sizes, seconds, tell)
    each = ", ".join(f"{n}: {1e9 * t:.0f} ns" for n, t in zip(sizes, times, strict=True))
    row = Speed("chains", "chain", f"{sizes[0]} to {sizes[-1]} joints", times[-1], each)
    return Judged(row, power, "exponent", "≤", 1.05)


def print_speed(machine: Machine, rows: list[Judged], notes: list[str]) -> None:
    """The machine, the table and the notes."""
    for line in machine.lines:
        print_line(line)
    text = ("robot", "what", "against", "")
    found = table(*text[:2], "ours", "against", "theirs", "result", "", "goal", "met", left=text)
    for judged in rows:
        row = judged.row
        goal = "" if judged.limit is None else f"{judged.sense} {judged.limit:g}"
        met = {True: "yes", False: "no", None: ""}[judged.met]
        value = "" if judged.value is None else f"{judged.value:.3g}"
        times = duration(row.ours), row.against or "", duration(row.theirs)
        found.add_row(row.robot, row.what, *times, value, judged.unit, goal, met)
    print_table(found)
    for note in notes:
        print_line(f"note: {note}")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller batches, less time")
    parser.add_argument("--only", action="append", default=[], help="a name, as panda_mass_matrix")
    parser.add_argument("--seconds", type=float, help="how long to measure each row")
    parser.add_argument("-o", "--output", type=Path, help="a .json file")
    given = parser.parse_args()
    machine = Machine.here()
    with status("starting") as tell:
        rows, notes = speed(given.only, given.seconds, given.quick, tell)
    print_speed(machine, rows, notes)
    if given.output is not None:
        data = {
            "machine": asdict(machine), "rows": [row.data() for row in rows], "notes": notes,
        }  # fmt: skip
        write_text(given.output, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
