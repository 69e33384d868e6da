"""`armdyn compare`: the same states through other libraries, and why they differ."""

from typing import Any

import typer

from armdyn.cli.console import deliver
from armdyn.cli.motion_options import Degrees, read_motion
from armdyn.cli.options import RobotSource, number, option, optional

COLOURS = ("green", "yellow", "red")
"""Of what is told, by the exit code."""


def compare(
    robot: RobotSource,
    *,
    with_: str | None = optional(
        "Of pinocchio, mujoco, drake, rtb; without it, all that are installed.",
        "NAME,...",
        "--with",
    ),
    states: str = option(
        "16", "How many random states within the limits, or a trajectory with the states.", "N|CSV"
    ),
    degrees: Degrees = False,
    seed: int = option(0, "What random states are drawn with.", min=0),
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
    deliver(report, colour=COLOURS[report.exit_code])
    raise typer.Exit(report.exit_code)
