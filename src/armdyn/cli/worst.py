"""`armdyn worst`: which position, speed and payload ask most of which motor."""

from functools import partial
from typing import Any

from armdyn.cli.console import deliver, status
from armdyn.cli.options import Plot, RobotSource, asking, one_or_each, option


def worst(
    robot: RobotSource,
    *,
    search: Any = asking("armdyn.study.sizing.worst_case:worst_case", "lift speed friction"),
    acceleration: str = option(
        "0",
        "The largest accelerations, in rad/s² or m/s²: one for all, or one a joint.",
        "A[,A...]",
    ),
    plot: Plot = None,
) -> None:
    """Find the state that asks most of each motor, over all that the limits allow."""
    arm = robot.open()
    bends = one_or_each("--acceleration", acceleration, (1, arm.n))
    with status("compiling the torques", "motors") as tell:
        found = search(arm, acceleration=bends, progress=partial(tell, "searching"))
    deliver(found, plot=plot)
