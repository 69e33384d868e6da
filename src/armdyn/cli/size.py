"""`armdyn size`: motors and gears for a motion, chosen from a list."""

from pathlib import Path

from armdyn.cli.console import deliver
from armdyn.cli.motion_options import Degrees, read_motion
from armdyn.cli.options import (
    Friction,
    Plot,
    RobotSource,
    argument,
    checked_robot_file,
    file_option,
    option,
    optional,
)


def size(
    robot: RobotSource,
    trajectory: Path = argument(
        "TRAJECTORY.csv", "Columns t, q1..qn and, where known, qd and qdd."
    ),
    motors: Path = argument("MOTORS.toml", "Motors and gears, as docs/sizing.md says."),
    *,
    degrees: Degrees = False,
    minimise: str = option("mass", "mass, price, power or inertia (J N² at the joint)."),
    margin: float | None = optional("How many times what is asked for must be there; 1.2."),
    friction: Friction = True,
    output: Path | None = file_option(
        "Write the robot with its drives to a .toml or .urdf file.", callback=checked_robot_file
    ),
    plot: Plot = None,
) -> None:
    """Choose a motor and a gear for each joint, so that it can follow a trajectory."""
    from armdyn.study.sizing.size import MARGIN
    from armdyn.study.sizing.size import size as sized

    options = {"minimise": minimise, "margin": MARGIN if margin is None else margin}
    arm = robot.open()
    motion = read_motion(arm, trajectory, degrees)
    found = sized(arm, motion, motors, friction=friction, **options)  # type: ignore[arg-type]
    if output is not None:
        found.robot.save(output)
    deliver(found, output, plot=plot)
