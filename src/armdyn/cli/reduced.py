"""`armdyn reduced`: the approximate model within a stated error."""

from pathlib import Path

from armdyn.cli.console import deliver, status
from armdyn.cli.motion_options import LimitsOption, MotionSource, ReferenceOption
from armdyn.cli.options import Plot, RobotSource, file_option, flag, option


def reduced(
    robot: RobotSource,
    motion: MotionSource,
    *,
    tolerance: float = option(0.01, "Largest error of each joint, between 0 and 1."),
    reference: ReferenceOption = "peak",
    parameters_only: bool = flag(
        "--parameters-only", "Drop nothing but parameters, as `equations --drop` does."
    ),
    folder: Path | None = file_option("Write the torques as C into a folder.", "FOLDER"),
    limits: LimitsOption = "error",
    plot: Plot = None,
) -> None:
    """Drop the terms of the torques that may be dropped within a stated error.

    The error is verified at states that were not used to choose the model.
    """
    from armdyn.study.terms.reduced import reduced as shortened

    arm = robot.open()
    over = motion.states(arm)
    with status("dropping terms"):
        found = shortened(
            *(arm, tolerance, over),
            reference=reference,
            parameters_only=parameters_only,
            limits=limits,
        )
    files = () if folder is None else found.export(folder).files
    deliver(found, *files, plot=plot)
