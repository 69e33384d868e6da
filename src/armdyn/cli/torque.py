"""`armdyn torque`: torques along a trajectory."""

from pathlib import Path
from typing import Annotated

import typer

from armdyn.cli.console import print_line, print_result, print_sections, progress
from armdyn.cli.motion_options import EACH_JOINT, Degrees, given_motion
from armdyn.cli.options import (
    BASE_MOTION,
    Friction,
    Json,
    Plot,
    RobotSource,
    check_outputs,
    flag,
    numbers,
    option,
    takes_robot,
)


@takes_robot
def torque(
    robot: RobotSource,
    trajectory: Annotated[
        Path | None,
        typer.Argument(
            metavar="TRAJECTORY.csv",
            help="Columns t, q1..qn or names of joints; where known qd and qdd; fx, fy, fz, nx, "
            "ny, nz of a wrench; - reads standard input. Instead, --q gives one state.",
        ),
    ] = None,
    *,
    q: str | None = option(None, "Positions of one state, in rad and m.", EACH_JOINT),
    qd: str | None = option(None, "Velocities of that state; zeros if unset.", EACH_JOINT),
    qdd: str | None = option(None, "Accelerations of that state; zeros if unset.", EACH_JOINT),
    degrees: Degrees = False,
    output: Path | None = option(
        None, "Write t, torques, terms and the hand to a CSV file.", None, "-o", "--output"
    ),
    plot: Plot = None,
    formulation: str | None = option(None, "A method as it is written; all give the same torque."),
    friction: Friction = True,
    wrench: str | None = option(
        None,
        "Force and moment of the environment on the tool, in N and N·m, all along the motion.",
        "FX,FY,FZ,NX,NY,NZ",
    ),
    wrench_link: str = option("tool", "The link at whose origin the wrench acts.", "LINK"),
    wrench_frame: str = option(
        "world", "Axes of the wrench: world, tool or the name of a link.", "FRAME"
    ),
    base_motion: Path | None = option(None, BASE_MOTION, "FILE.csv"),
    reactions: bool = flag(
        "--reactions", "Add the force and moment in each joint; the plot is of them then."
    ),
    motors: bool = flag(
        "--motors", "Add torque, speed, power and duty behind the gears, and plot these."
    ),
    json: Json = False,
) -> None:
    """Compute the torque of each joint along a trajectory, or at one state, by its terms."""
    from armdyn.cli.torque_output import print_torques
    from armdyn.io.csv.table import write_csv
    from armdyn.study.sizing.motors import motors as motor_report
    from armdyn.study.terms.torques import plot_torques, torque_report

    read = None if trajectory is None else str(trajectory)
    check_outputs(
        (output, plot), (robot.source, read), "the trajectory itself, or read by this run"
    )
    if plot is not None and motors and reactions:
        raise typer.BadParameter("a plot is of the motors or of the reactions; leave one out")
    pull = None if wrench is None else numbers("--wrench", wrench, (6,))
    arm = robot.open()
    motion = given_motion(arm, trajectory, {"q": q, "qd": qd, "qdd": qdd}, degrees)
    with progress("computing", len(motion)) as tell:
        report = torque_report(
            *(arm, motion),
            friction=friction,
            formulation=formulation,
            reactions=reactions,
            external_wrench=pull,
            wrench_link=wrench_link,
            wrench_frame=wrench_frame,
            base_motion=base_motion,
            progress=tell,
        )
    behind = motor_report(arm, motion, friction=friction, torque=report.total) if motors else None
    if output is not None:
        columns = report.columns() | (behind.columns() if behind else {})
        with progress(f"writing {output.name}", len(motion)) as tell:
            write_csv(output, columns, progress=tell)
    if plot is not None:
        drawn = behind or report.reactions
        drawn.plot(plot) if drawn else plot_torques(report, plot)
    summary = report.summary() | {"motors": behind.data()["motors"] if behind else []}

    def show() -> None:
        print_torques(report)
        if behind:
            print_line()
            print_sections(behind.sections())

    print_result(summary, show, (output, plot), json)
