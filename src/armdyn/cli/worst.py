"""`armdyn worst`: which position, speed and payload ask most of which motor."""

from functools import partial

from armdyn.cli.console import deliver, steps_bar
from armdyn.cli.options import (
    Friction,
    Plot,
    RobotSource,
    check_outputs,
    numbers,
    option,
    takes_robot,
)


@takes_robot
def worst(
    robot: RobotSource,
    *,
    lift: float = option(
        0.0,
        "The heaviest point mass to lift beside --payload, in kg.",
        "KG",
        min=0.0,
    ),
    speed: float = option(
        1.0, "The share of the velocity limits that is allowed.", "0..1", min=0.0, max=1.0
    ),
    acceleration: str = option(
        "0",
        "The largest accelerations, in rad/s² or m/s²: one for all, or one a joint.",
        "A[,A...]",
    ),
    friction: Friction = True,
    plot: Plot = None,
) -> None:
    """Find the state that asks most of each motor, over all that the limits allow."""
    from armdyn.study.sizing.worst_case import worst_case

    check_outputs((plot,), (robot.source,), "the robot")
    arm = robot.open()
    bends = numbers("--acceleration", acceleration, (1, arm.n))
    with steps_bar("compiling the torques", "motors") as tell:
        found = worst_case(
            arm,
            lift=lift,
            speed=speed,
            acceleration=bends if len(bends) > 1 else bends[0],
            friction=friction,
            progress=partial(tell, "searching"),
        )
    deliver(found, plot=plot)
