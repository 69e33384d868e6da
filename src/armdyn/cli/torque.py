"""`armdyn torque`: torques along a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import console
from armdyn.cli.motion_options import EACH_JOINT, Degrees, given_motion
from armdyn.cli.options import (
    BASE_MOTION,
    Friction,
    Json,
    Plot,
    RobotSource,
    check_outputs,
    file_option,
    flag,
    numbers,
    option,
    takes_robot,
)
from armdyn.errors import counted
from armdyn.report.result import unrounded, zero

if TYPE_CHECKING:
    from armdyn.simulation.limits import Excess
    from armdyn.study.terms.torques import TorqueReport


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
    output: Path | None = file_option("Write t, torques, terms and the hand to a CSV file."),
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
    with console.progress("computing", len(motion)) as tell:
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
        with console.progress(f"writing {output.name}", len(motion)) as tell:
            write_csv(output, columns, progress=tell)
    if plot is not None:
        drawn = behind or report.reactions
        drawn.plot(plot) if drawn else plot_torques(report, plot)
    summary = report.summary() | {"motors": behind.data()["motors"] if behind else []}

    def show() -> None:
        print_torques(report)
        if behind:
            console.print_line()
            console.print_sections(behind.sections())

    console.print_result(summary, show, (output, plot), json)


def print_torques(report: TorqueReport) -> None:
    """Peak and mean of every torque and its terms, limits that are exceeded, and reactions."""
    summary, terms = report.summary(), list(report.acting)
    move = summary["trajectory"]
    along = f" along {move['file']}: {counted(move['rows'], 'instant')}, {move['duration']:.6g} s, "
    console.print_styled(
        (summary["robot"], "bold"),
        " at one state, " if len(report.trajectory) == 1 else along,
        f"by {summary['formulation']}",
        ("" if summary["friction"] else ", without friction"),
    )
    if report.trajectory.note:
        console.print_text(f"note: {report.trajectory.note}")
    print_excesses(report.excesses)
    if len(report.trajectory) == 1:
        _print_state(summary["joints"], terms)
    else:
        _print_table(summary["joints"], terms)
        _print_hand(summary["hand"])
    if summary["reactions"]:
        _print_reactions(summary["reactions"])


def _print_hand(fastest: dict[str, Any]) -> None:
    units = ("m/s", "rad/s", "m/s²", "rad/s²")
    hand = (
        f"{fast['peak']:.4g} {unit} at {fast['peak_time']:.3f} s"
        for fast, unit in zip(fastest.values(), units, strict=True)
    )
    console.print_text(f"the hand at its fastest: {'; '.join(hand)}")


def _print_table(joints: list[dict[str, Any]], terms: list[str]) -> None:
    limited = ["limit"] if any(joint["limit"] for joint in joints) else []
    rows = console.table("joint", "", "total", *limited, *terms, "at [s]", left=("joint", ""))
    for joint in joints:
        parts = [joint["terms"][term] for term in terms]
        # four digits of the largest number, six decimals at most
        digits = next((d for d in range(1, 6) if abs(joint["peak"]) >= 10.0 ** (3 - d)), 6)
        peak, *peaks = (f"{part['peak']:z.{digits}f}" for part in (joint, *parts))
        mean, *means = (f"{part['rms']:z.{digits}f}" for part in (joint, *parts))
        limit = [f"{joint['limit']:.6g}" if joint["limit"] else "none"] if limited else []
        over = joint["limit"] is not None and abs(joint["peak"]) > joint["limit"]
        marked = console.styled((peak, "yellow" if over else ""))
        rows.add_row(joint["name"], "peak", marked, *limit, *peaks, f"{joint['peak_time']:.3f}")
        blank = [""] * len(limited)
        rows.add_row(f"  {joint['unit']}", "RMS", mean, *blank, *means, "", end_section=True)
    console.print_table(rows)
    console.print_line("peak: the value of largest magnitude, each term at its own time")


def _print_state(joints: list[dict[str, Any]], terms: list[str]) -> None:
    """The torques of one state: each is its own peak."""
    limited = ["limit"] if any(joint["limit"] for joint in joints) else []
    rows = console.table("joint", "torque", *limited, *terms, "", left=("joint", ""))
    largest = max(abs(joint["peak"]) for joint in joints)
    for joint in joints:
        size, peak = abs(joint["peak"]), unrounded(joint["peak"], largest)
        limit = [f"{joint['limit']:.6g}" if joint["limit"] else "none"] if limited else []
        parts = (zero(unrounded(joint["terms"][term]["peak"], largest), size) for term in terms)
        style = "yellow" if joint["limit"] is not None and size > joint["limit"] else ""
        rows.add_row(
            joint["name"], console.styled((f"{peak:.6g}", style)), *limit, *parts, joint["unit"]
        )
    console.print_table(rows)


def print_excesses(excesses: Sequence[Excess], *, given: bool = True) -> None:
    """By how much and when limits are exceeded, by a motion that was given; nothing if none is."""
    if not excesses:
        return
    console.print_styled(("warning", "yellow"), ": beyond limits")
    rows = console.table("joint", "what", "limit", "reached", "beyond", "", "at [s]", "from [s]",
                 left=("joint", "what", ""))  # fmt: skip
    for excess in excesses:
        numbers = (f"{v:.4g}" for v in (excess.limit, excess.value, excess.beyond))
        times = (f"{excess.t:.3f}", f"{excess.first:.3f}")
        rows.add_row(excess.joint, excess.what, *numbers, excess.unit, *times)
    console.print_table(rows)
    if given and any(excess.looks_like_degrees for excess in excesses):
        console.print_line(
            "angles so far beyond their limits may be in degrees; armdyn takes radians"
        )


def _print_reactions(links: list[dict[str, Any]]) -> None:
    columns = ("link", "force [N]", "at [s]", "axial", "radial", "moment [N·m]", "at [s]")
    rows = console.table(*columns, "tilting", "twisting", left=("link",))
    for link in links:
        cells = (
            f"{link[part][name]:.3f}"
            for part, name in (
                *(("force", "peak"), ("force", "peak_time"), ("axial", "peak"), ("radial", "peak")),
                *(("moment", "peak"), ("moment", "peak_time"), ("tilting", "peak")),
                ("twisting", "peak"),
            )
        )
        rows.add_row(link["link"], *cells)
    console.print_table(rows)
    console.print_text(
        "largest force and moment on each link from its parent, the moment about its joint, and on "
        "the base (first row) from the ground, the moment about its origin; axial: along the axis "
        "of the joint (z of the base), radial and tilting: across it, twisting: about it"
    )
