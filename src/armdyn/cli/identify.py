"""`armdyn identify`: the parameters of a robot from logs of its motion."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli.console import deliver, print_line, steps_bar
from armdyn.cli.options import (
    Json,
    Plot,
    RobotSource,
    check_outputs,
    check_robot_file,
    file_option,
    numbers,
    option,
    takes_robot,
)

if TYPE_CHECKING:
    from armdyn.robot import Robot


@takes_robot
def identify(
    robot: RobotSource,
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            help="Logs as .csv, .parquet or .npz: columns t, q1..qn, tau1..taun (or by joint name, "
            "as ROS has them) and, where known, qd1..qdn.",
        ),
    ],
    *,
    validate: list[str] | None = option(
        None, "Another log to validate with, repeatable; or a share of each log, as 0.4 for its "
        "end and -0.4 for its beginning; 0: none. The last 30 % if unset.", "OTHER|SHARE",
    ),
    method: str = option("entropic", "entropic, least_squares or robust."),
    project: bool = typer.Option(
        False, "--project", help="Make base parameters of the last two methods the nearest robot "
        "whose links can exist.",
    ),
    cutoff: float | None = option(None, "Cut-off of the filter, in Hz; chosen if unset."),
    friction: str = option("choose", "choose, keep (the terms that the robot has) or none."),
    only: str | None = option(None, "friction: keep the links; payload: what the tool holds; "
                              "gravity: from poses at rest.", "WHAT"),
    prior_weight: float = option(1.0, "Weight of the robot as it was given, for entropic."),
    degrees: bool = typer.Option(False, "--degrees", help="Angles of the logs are in degrees."),
    gains: str | None = option(None, "Torque by current of each drive, in N m/A.", "K1,K2,..."),
    rate: float | None = option(None, "Samples a second of logs without time stamps."),
    time_unit: str | None = option(None, "Unit of the time stamps: s, ms, us or ns."),
    coupled: list[str] | None = option(
        None, "A motor that turns with several joints, repeatable.", "JOINT+JOINT"
    ),
    output: Path | None = file_option("Write the robot to a .toml or .urdf file."),
    plot: Plot = None,
    report: Path | None = option(None, "Write a page with tables and pictures (.html)."),
    json: Json = False,
) -> None:  # fmt: skip
    """Find the parameters of a robot from logs of its motion, and check them on held-out data."""
    from armdyn.identification.result import check_page

    check_robot_file(output)
    if report is not None:
        check_page(report)
    if only == "payload" and (plot or report):
        raise typer.BadParameter("--only payload has no --plot and no --report")
    held = _validation(validate)
    others = held if isinstance(held, list) else []
    inputs = (robot.source, *map(str, data), *others)
    check_outputs((output, plot, report), inputs, "a file that is read")
    opened = _coupled(robot.open(), coupled or [])
    options: dict[str, Any] = {
        "method": method, "project": project, "cutoff": cutoff, "friction": friction,
        "prior_weight": prior_weight, "degrees": degrees, "rate": rate, "time_unit": time_unit,
        "gains": None if gains is None else numbers("--gains", gains, (1, opened.n)),
    }  # fmt: skip
    asked, taken = _special(only, options)
    logs = [str(path) for path in data]
    try:
        with steps_bar("identifying", "samples") as tell:
            found = asked(opened, logs, held, progress=tell, **taken)
    except KeyboardInterrupt:
        print_line("stopped from the keyboard; nothing was written", stderr=True)
        raise typer.Exit(130) from None
    deliver(found, json, save=output, plot=plot, save_report=report)


def _special(only: str | None, options: dict[str, Any]) -> tuple[Callable[..., Any], Any]:
    """The function for a special case, None being the usual one, and the options that it takes."""
    import armdyn
    from armdyn.errors import check_known

    cases: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
        "friction": (armdyn.identify_friction, tuple(options)),
        "payload": (_payload, ("cutoff", "degrees", "rate", "time_unit", "gains")),
        "gravity": (armdyn.identify_gravity, ("prior_weight", "degrees", "gains")),
    }
    if only is None:
        return armdyn.identify, options
    check_known("special case", only, cases)
    function, names = cases[only]
    usual = {"method": "entropic", "friction": "choose", "prior_weight": 1.0}
    for name in options.keys() - set(names):
        if options[name] not in (None, False, usual.get(name)):
            raise typer.BadParameter(f"--only {only} has no --{name.replace('_', '-')}")
    return function, {name: options[name] for name in names}


def _payload(robot: "Robot", data: Any, validate: Any = None, **options: Any) -> Any:
    """The payload of loaded runs; those to validate with are taken for the unloaded ones."""
    import armdyn

    unloaded = validate if isinstance(validate, list) else None
    return armdyn.identify_payload(robot, data, unloaded, **options)


def _validation(given: list[str] | None) -> Any:
    """Other logs, a share, or None."""
    if not given:
        return None
    try:
        shares = [float(text) for text in given]
    except ValueError:
        return given
    if len(shares) > 1:
        raise typer.BadParameter("--validate: expected one share, or files")
    return shares[0] or False


def _coupled(robot: "Robot", given: list[str]) -> "Robot":
    if not given:
        return robot
    drives = [{"name": text, "joints": dict.fromkeys(text.split("+"), 1.0)} for text in given]
    return robot.with_drives(drives)
