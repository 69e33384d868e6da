"""`armdyn size`: motors and gears for a motion, chosen from a list."""

from pathlib import Path
from typing import Any

from armdyn.cli.console import deliver
from armdyn.cli.motion_options import Degrees, read_motion
from armdyn.cli.options import (
    Plot,
    RobotSource,
    argument,
    asking,
    checked_robot_file,
    file_option,
)


def size(
    robot: RobotSource,
    trajectory: Path = argument(
        "TRAJECTORY.csv", "Columns t, q1..qn and, where known, qd and qdd."
    ),
    motors: Path = argument("MOTORS.toml", "Motors and gears, as docs/sizing.md says."),
    *,
    degrees: Degrees = False,
    sized: Any = asking("armdyn.study.sizing.size:size", "minimise margin friction"),
    output: Path | None = file_option(
        "Write the robot with its drives to a .toml or .urdf file.", callback=checked_robot_file
    ),
    plot: Plot = None,
) -> None:
    """Choose a motor and a gear for each joint, so that it can follow a trajectory."""
    arm = robot.open()
    found = sized(arm, read_motion(arm, trajectory, degrees), motors)
    if output is not None:
        found.robot.save(output)
    deliver(found, output, plot=plot)
