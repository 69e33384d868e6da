"""`armdyn terms`: which terms of the equations of motion matter."""

from typing import Any

from armdyn.cli.console import deliver, status
from armdyn.cli.motion_options import MotionSource
from armdyn.cli.options import Plot, RobotSource, asking

OPTIONS = "tolerance reference listed friction limits"


def terms(
    robot: RobotSource,
    motion: MotionSource,
    *,
    ranked: Any = asking("armdyn.study.terms.terms:terms", OPTIONS),
    plot: Plot = None,
) -> None:
    """Rank the terms of the torques along a motion or over the workspace.

    Also tells up to which speed gravity and friction alone are a model within the tolerance.
    """
    arm = robot.open()
    over = motion.states(arm)
    with status("computing"):
        found = ranked(arm, over)
    deliver(found, plot=plot)
