"""`armdyn rank`: several arms on one task."""

from armdyn.cli.console import deliver, status
from armdyn.cli.motion_options import Degrees, LimitsOption, motion_or_workspace
from armdyn.cli.options import Plot, RobotSource, argument, complete_robot, option


def rank(
    robots: list[str] = argument(
        "ROBOT", "Names from `armdyn robots`, or files of robots.", autocompletion=complete_robot
    ),
    *,
    task: str = option(
        ..., "The motion of the joints, or that of random states.", "TRAJECTORY.csv|workspace"
    ),
    by: str = option(
        "peak_torque",
        "peak_torque, rms_torque, peak_force, rms_force, peak_power, mean_power, load, coupling, "
        "condition or operations.",
    ),
    degrees: Degrees = False,
    limits: LimitsOption = "error",
    plot: Plot = None,
) -> None:
    """Rank arms with the same joints by what one task asks of them."""
    from armdyn.study.terms.rank import rank as ranked

    arms = [RobotSource(source).open() for source in robots]
    over = motion_or_workspace(arms[0], task, degrees)
    with status("computing"):
        found = ranked(arms, over, by=by, limits=limits)
    deliver(found, plot=plot)
