"""`armdyn torque`: torques along a trajectory."""

from pathlib import Path
from typing import Annotated, Any

import typer

from armdyn.cli.console import print_line, print_result, print_styled, print_table, progress, table
from armdyn.cli.motors import print_motors
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
    summary, terms = report.summary(), list(report.acting)
    summary["motors"] = behind.summary() if behind else []

    def show() -> None:
        _print(summary, motion.note, terms)
        if behind:
            print_motors(summary["motors"], behind.excesses)

    print_result(summary, show, (output, plot), json)


def _print(summary: dict[str, Any], note: str, terms: list[str]) -> None:
    move = summary["trajectory"]
    print_styled(
        (summary["robot"], "bold"),
        f" along {move['file']}: {move['rows']} instants, {move['duration']:.6g} s, ",
        f"by {summary['formulation']}",
        ("" if summary["friction"] else ", without friction"),
    )
    if note:
        print_line(f"note: {note}")
    for excess in summary["excesses"]:
        print_styled(("warning", "yellow"), f": {excess}")
    rows = table("joint", "", "total", *terms, "at [s]", left=("joint", ""))
    for joint in summary["joints"]:
        parts = [joint["terms"][term] for term in terms]
        # four digits of the largest number, six decimals at most
        digits = next((d for d in range(1, 6) if abs(joint["peak"]) >= 10.0 ** (3 - d)), 6)
        peaks = [f"{part['peak']:z.{digits}f}" for part in (joint, *parts)]
        means = [f"{part['rms']:z.{digits}f}" for part in (joint, *parts)]
        when = f"{joint['peak_time']:.3f}"
        rows.add_row(joint["name"], "peak", *peaks, when)
        rows.add_row(f"  {joint['unit']}", "RMS", *means, "", end_section=True)
    print_table(rows)
    print_line("peak: the value of largest magnitude, each term at its own time")
    if summary["reactions"]:
        rows = table("link", "force [N]", "at [s]", "moment [N·m]", "at [s]", left=("link",))
        for link in summary["reactions"]:
            parts = [link["force"], link["moment"]]
            cells = (f"{v:.{d}f}" for p in parts for v, d in ((p["peak"], 3), (p["peak_time"], 3)))
            rows.add_row(link["link"], *cells)
        print_table(rows)
        print_line(
            "largest force and moment on each link from its parent, the moment about its joint"
        )
