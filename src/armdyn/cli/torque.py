"""`armdyn torque`: torques along a trajectory."""

from pathlib import Path
from typing import Annotated

import typer

from armdyn.cli.console import print_line, print_result, print_sections, progress
from armdyn.cli.options import Friction, Json, Plot, RobotSource, option, takes_robot


@takes_robot
def torque(
    robot: RobotSource,
    trajectory: Annotated[
        Path,
        typer.Argument(
            metavar="TRAJECTORY.csv", help="Columns t, q1..qn and, where known, qd and qdd."
        ),
    ],
    *,
    output: Path | None = option(
        None, "Write t, torques and terms to a CSV file.", None, "-o", "--output"
    ),
    plot: Plot = None,
    formulation: str | None = option(None, "A method as it is written; all give the same torque."),
    friction: Friction = True,
    reactions: bool = option(False, "Add the force and moment in each joint, in world axes."),
    motors: bool = option(
        False, "Add torque, speed, power and duty behind the gears; the plot is of motors then."
    ),
    json: Json = False,
) -> None:
    """Compute the torque of each joint along a trajectory, split into its terms."""
    from armdyn.cli.torque_output import print_torques
    from armdyn.io.csv.table import write_csv
    from armdyn.io.csv.trajectory import trajectory_from_csv
    from armdyn.sizing.motors import motors as motor_report
    from armdyn.terms.picture import plot_torques
    from armdyn.terms.torques import torque_report

    if output is not None and output.exists() and output.samefile(trajectory):
        raise typer.BadParameter(f"{output} is the trajectory itself; write to another file")
    arm = robot.open()
    motion = trajectory_from_csv(trajectory, arm.n)
    with progress("computing", len(motion)) as tell:
        report = torque_report(
            *(arm, motion),
            friction=friction,
            formulation=formulation,
            reactions=reactions,
            progress=tell,
        )
    behind = motor_report(arm, motion, friction=friction) if motors else None
    if output is not None:
        columns = report.columns() | (behind.columns() if behind else {})
        with progress(f"writing {output.name}", len(motion)) as tell:
            write_csv(output, columns, progress=tell)
    if plot is not None:
        behind.plot(plot) if behind else plot_torques(report, plot)
    summary = report.summary() | {"motors": behind.data()["motors"] if behind else []}

    def show() -> None:
        print_torques(report)
        if behind:
            print_line()
            print_sections(behind.sections())

    print_result(summary, show, (output, plot), json)
