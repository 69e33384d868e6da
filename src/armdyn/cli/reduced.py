"""`armdyn reduced`: the approximate model within a stated error."""

from pathlib import Path
from typing import Any

from armdyn.cli.console import deliver, status
from armdyn.cli.motion_options import MotionSource
from armdyn.cli.options import Plot, RobotSource, asking, file_option

OPTIONS = "tolerance reference parameters_only limits"


def reduced(
    robot: RobotSource,
    motion: MotionSource,
    *,
    shortened: Any = asking("armdyn.study.terms.reduced:reduced", OPTIONS, tolerance=0.01),
    folder: Path | None = file_option("Write the torques as C into a folder.", "FOLDER"),
    plot: Plot = None,
) -> None:
    """Drop the terms of the torques that may be dropped within a stated error.

    The error is verified at states that were not used to choose the model.
    """
    arm = robot.open()
    over = motion.states(arm)
    with status("dropping terms"):
        found = shortened(arm, over=over)
    files = () if folder is None else found.export(folder).files
    deliver(found, *files, plot=plot)
