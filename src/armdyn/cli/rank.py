"""`armdyn rank`: several arms on one task."""

from typing import Any

from armdyn.cli.console import deliver, status
from armdyn.cli.motion_options import Degrees, motion_or_workspace
from armdyn.cli.options import Plot, RobotSource, argument, asking, complete_robot, option


def rank(
    robots: list[str] = argument(
        "ROBOT", "Names from `armdyn robots`, or files of robots.", autocompletion=complete_robot
    ),
    *,
    task: str = option(
        ..., "The motion of the joints, or that of random states.", "TRAJECTORY.csv|workspace"
    ),
    ranked: Any = asking("armdyn.study.terms.rank:rank", "by limits"),
    degrees: Degrees = False,
    plot: Plot = None,
) -> None:
    """Rank arms with the same joints by what one task asks of them."""
    arms = [RobotSource(source).open() for source in robots]
    over = motion_or_workspace(arms[0], task, degrees)
    with status("computing"):
        ranking = ranked(arms, over)
    deliver(ranking, plot=plot)
