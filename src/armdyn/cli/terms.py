"""`armdyn terms`: which terms of the equations of motion matter."""

from armdyn.cli.console import deliver, status
from armdyn.cli.motion_options import LimitsOption, MotionSource, ReferenceOption
from armdyn.cli.options import Friction, Plot, RobotSource, option


def terms(
    robot: RobotSource,
    motion: MotionSource,
    *,
    tolerance: float = option(0.05, "What the quasi-static model may neglect, between 0 and 1."),
    reference: ReferenceOption = "peak",
    listed: int = option(8, "How many terms of each joint are printed.", min=1),
    friction: Friction = True,
    limits: LimitsOption = "error",
    plot: Plot = None,
) -> None:
    """Rank the terms of the torques along a motion or over the workspace.

    Also tells up to which speed gravity and friction alone are a model within the tolerance.
    """
    from armdyn.study.terms.terms import terms as ranked

    arm = robot.open()
    over = motion.states(arm)
    with status("computing"):
        found = ranked(
            *(arm, over),
            tolerance=tolerance,
            reference=reference,
            friction=friction,
            limits=limits,
            listed=listed,
        )
    deliver(found, plot=plot)
