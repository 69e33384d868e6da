"""`armdyn worst`: which position, speed and payload ask most of which motor."""

from functools import partial

from armdyn.cli.console import deliver, status
from armdyn.cli.options import Friction, Plot, RobotSource, one_or_each, option


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

    arm = robot.open()
    with status("compiling the torques", "motors") as tell:
        found = worst_case(
            arm,
            lift=lift,
            speed=speed,
            acceleration=one_or_each("--acceleration", acceleration, (1, arm.n)),
            friction=friction,
            progress=partial(tell, "searching"),
        )
    deliver(found, plot=plot)
