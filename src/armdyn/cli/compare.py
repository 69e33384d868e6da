"""`armdyn compare`: the same states through other libraries, and why they differ."""

from typing import Any

import typer

from armdyn.cli.console import print_json, print_line, print_table, styled, table
from armdyn.cli.motion_options import Degrees, read_motion
from armdyn.cli.options import Json, RobotSource, number, option, takes_robot
from armdyn.errors import counted

STYLES = {"agrees": "green", "explained": "yellow", "unexplained": "bold red", "refused": "red"}


@takes_robot
def compare(
    robot: RobotSource,
    *,
    with_: str | None = option(
        None,
        "Of pinocchio, mujoco, drake, rtb; without it, all that are installed.",
        "NAME,...",
        "--with",
    ),
    states: str = option(
        "16", "How many random states within the limits, or a trajectory with the states.", "N|CSV"
    ),
    degrees: Degrees = False,
    seed: int = option(0, "What random states are drawn with.", min=0),
    json: Json = False,
) -> None:
    """Compare inverse dynamics with other libraries and explain the differences.

    Exit code 0: all agree. 1: there are differences, explained or not. 2: bad input, or no library
    to compare with.
    """
    from armdyn.study.compare.compare import compare as compared

    wanted: Any = states
    if not states.lower().endswith(".csv"):
        wanted = int(number("--states", states, int))
        if degrees:
            raise typer.BadParameter("--degrees is for trajectories, not for random states")
    elif degrees:
        motion = read_motion(robot.open(), states, degrees)
        wanted = motion.q, motion.qd, motion.qdd
    names = None if with_ is None else [name.strip() for name in with_.split(",")]
    arm = robot.open() if robot.changed else robot.source  # each library reads a file itself
    report = compared(arm, names, wanted, seed=seed, physical=robot.physical or "error")
    if json:
        print_json(report.data())
    else:
        print_report(report)
    raise typer.Exit(report.exit_code)


def print_report(report: Any) -> None:
    """The table, one row a library, and who agrees."""
    rows = table(
        "library", "joint", "armdyn", "there", "difference", "status", "why",
        left=("library", "joint", "status", "why"), title="Torque of the joint that differs most",
    )  # fmt: skip
    for row in report.rows:
        style = STYLES.get(row.status, "dim")
        rows.add_row(
            f"{row.title} {row.version or ''}".strip(),
            row.joint or "",
            *("" if torque is None else f"{torque:.6g}" for torque in (row.here, row.there)),
            "" if row.difference is None else f"{row.difference:.3g}",
            styled((row.status, style)),
            row.explanation.replace("; ", ";\n").replace(", or it ", ",\nor it "),
        )
    print_table(rows)
    drawn = "as given" if report.seed is None else f"within the limits, seed {report.seed}"
    print_line(f"{report.robot}: {counted(report.states, 'state')}, {drawn}")
    print_line(report.summary)
