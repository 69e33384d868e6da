"""`armdyn torque`: torques along a trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from armdyn.cli import console
from armdyn.cli.motion_options import EACH_JOINT, BaseTwist, Degrees, base_start, given_motion
from armdyn.cli.options import (
    BASE_MOTION,
    Friction,
    Plot,
    RobotSource,
    argument,
    file_option,
    flag,
    numbers,
    option,
    optional,
)


def torque(
    robot: RobotSource,
    trajectory: Path | None = argument(
        "TRAJECTORY.csv",
        "Columns t, q1..qn or names of joints; where known qd and qdd; fx, fy, fz, nx, ny, nz of a "
        "wrench; base_x..base_wz of a base that floats; - reads standard input. Instead, --q gives "
        "one state.",
        None,
    ),
    *,
    q: str | None = optional("Positions of one state, in rad and m.", EACH_JOINT),
    qd: str | None = optional("Velocities of that state; zeros if unset.", EACH_JOINT),
    qdd: str | None = optional("Accelerations of that state; zeros if unset.", EACH_JOINT),
    degrees: Degrees = False,
    output: Path | None = file_option("Write t, torques, terms and the hand to a CSV file."),
    plot: Plot = None,
    formulation: str | None = optional("A method as it is written; all give the same torque."),
    friction: Friction = True,
    wrench: str | None = optional(
        "Force and moment of the environment on the tool, in N and N·m, all along the motion.",
        "FX,FY,FZ,NX,NY,NZ",
    ),
    wrench_link: str = option("tool", "The link at whose origin the wrench acts.", "LINK"),
    wrench_frame: str = option(
        "world", "Axes of the wrench: world, tool or the name of a link.", "FRAME"
    ),
    base_motion: Path | None = optional(BASE_MOTION, "FILE.csv"),
    base_twist: BaseTwist = None,
    reactions: bool = flag(
        "--reactions", "Add the force and moment in each joint; the plot is of them then."
    ),
    motors: bool = flag(
        "--motors", "Add torque, speed, power and duty behind the gears, and plot these."
    ),
) -> None:
    """Compute the torque of each joint along a trajectory, or at one state, by its terms."""
    from armdyn.io.csv.table import write_csv
    from armdyn.study.sizing.motors import motors as motor_report
    from armdyn.study.terms.torques import torque_report

    if plot is not None and motors and reactions:
        raise typer.BadParameter("a plot is of the motors or of the reactions; leave one out")
    pull = numbers("--wrench", wrench, (6,))
    arm = robot.open()
    motion = given_motion(arm, trajectory, {"q": q, "qd": qd, "qdd": qdd}, degrees)
    with console.progress("computing", len(motion)) as tell:
        report = torque_report(
            *(arm, motion),
            friction=friction,
            formulation=formulation,  # type: ignore[arg-type]
            reactions=reactions,
            external_wrench=pull,
            wrench_link=wrench_link,
            wrench_frame=wrench_frame,
            base_motion=base_motion,
            base=base_start(arm, base_twist),
            progress=tell,
        )
    behind = motor_report(arm, motion, friction=friction, torque=report.total) if motors else None
    if output is not None:
        columns = report.columns() | (behind.columns() if behind else {})
        with console.progress(f"writing {output.name}", len(motion)) as tell:
            write_csv(output, columns, progress=tell)
    if plot is not None:
        (behind or report.reactions or report).plot(plot)
    parts = (*report.sections(), *(behind.sections() if behind else ()))

    def data() -> dict[str, Any]:
        return report.data() | {"motors": behind.data()["motors"] if behind else []}

    console.print_result(data, lambda: console.print_sections(parts), (output, plot))
