"""`armdyn torque`: torques along a trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from armdyn.cli import console
from armdyn.cli.motion_options import EACH_JOINT, BaseTwist, Degrees, base_start, given_motion
from armdyn.cli.options import (
    BASE_MOTION,
    WRENCH,
    Plot,
    RobotSource,
    argument,
    asking,
    file_option,
    flag,
    optional,
)

OPTIONS = "friction wrench_link wrench_frame reactions"


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
    computed: Any = asking("armdyn.study.terms.torques:torque_report", OPTIONS, wrench=WRENCH),
    base_motion: Path | None = optional(BASE_MOTION, "FILE.csv"),
    base_twist: BaseTwist = None,
    elastic: float | None = optional(
        "Torques and positions of motors behind transmissions that give, for the motion without "
        "what is faster than this, in Hz."
    ),
    motors: bool = flag(
        "--motors", "Add torque, speed, power and duty behind the gears, and plot these."
    ),
) -> None:
    """Compute the torque of each joint along a trajectory, or at one state, by its terms."""
    from armdyn.io.csv.table import write_csv
    from armdyn.study.sizing.motors import motors as motor_report

    asked = computed.keywords
    if plot is not None and motors and asked["reactions"]:
        raise typer.BadParameter("a plot is of the motors or of the reactions; leave one out")
    arm = robot.open()
    motion = given_motion(arm, trajectory, {"q": q, "qd": qd, "qdd": qdd}, degrees)
    if elastic is not None:
        _elastic(arm, motion, elastic, asked["friction"], output)
        return
    with console.progress("computing", len(motion)) as tell:
        start = base_start(arm, base_twist)
        report = computed(
            arm, motion, formulation=formulation, base_motion=base_motion, base=start, progress=tell
        )
    own = {"friction": asked["friction"], "torque": report.total}
    behind = motor_report(arm, motion, **own) if motors else None
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


def _elastic(arm: Any, motion: Any, cutoff: float, friction: bool, output: Path | None) -> None:
    """What motors must do so that links follow a motion."""
    from armdyn.io.csv.table import numbered_columns, write_csv
    from armdyn.simulation import smoothed

    calm = smoothed(motion.t, motion.q, cutoff)
    rows = calm.derivatives(motion.t - motion.t[0])
    found = arm.elastic.feedforward(motion.t, rows, friction=friction)
    if output is not None:
        columns = {"tau": found.tau, "theta": found.theta, "thetad": found.thetad, "q": rows[0]}
        write_csv(output, {"t": motion.t} | numbered_columns(columns))
    most = {"torque": abs(found.tau).max(0), "wind-up": abs(found.theta - rows[0]).max(0)}
    most["smoothing"] = abs(rows[0] - motion.q).max(0)
    lines = zip(
        arm.joint_names, *([f"{x:.4g}" for x in part] for part in most.values()), strict=True
    )
    shown = console.table(
        *("joint", "torque [N·m]", "wind-up [rad]", "smoothing [rad]"), left=("joint",),
        title="Motors: largest values along the motion, seen from the links", rows=lines,
    )  # fmt: skip

    def data() -> dict[str, Any]:
        return {"joints": list(arm.joint_names), **{k: x.tolist() for k, x in most.items()}}

    console.print_result(data, lambda: console.print_table(shown), (output,))
