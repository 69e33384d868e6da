"""`armdyn identify`: the parameters of a robot from logs of its motion."""

from inspect import signature
from pathlib import Path
from typing import Any

import typer

from armdyn.cli.console import deliver, print_line, status
from armdyn.cli.options import (
    Plot,
    RobotSource,
    argument,
    asking,
    checked_robot_file,
    file_option,
    numbers,
    optional,
)

SPECIAL = ("friction", "payload", "gravity")
"""Functions `armdyn.identify_...` for a part of the parameters."""
OPTIONS = "method project cutoff friction prior_weight degrees rate time_unit"
REFUSED = {
    "payload": ("method", "project", "friction", "prior_weight"),
    "gravity": ("method", "project", "friction", "cutoff", "rate", "time_unit"),
}
"""Options that a special case has not."""


def identify(
    robot: RobotSource,
    data: list[Path] = argument(
        "DATA",
        "Logs as .csv, .parquet or .npz: columns t, q1..qn, tau1..taun (or by joint name, as ROS "
        "has them) and, where known, qd1..qdn.",
    ),
    *,
    validate: list[str] | None = optional(
        "Another log to validate with, repeatable; or a share of each log, as 0.4 for its "
        "end and -0.4 for its beginning; 0: none. The last 30 % if unset.", "OTHER|SHARE",
    ),
    usual: Any = asking("armdyn.identification.identify:identify", OPTIONS),
    only: str | None = optional("friction: keep the links; payload: what the tool holds; "
                              "gravity: from poses at rest.", "WHAT"),
    gains: str | None = optional("Torque by current of each drive, in N m/A.", "K1,K2,..."),
    coupled: list[str] | None = optional(
        "A motor that turns with several joints, repeatable.", "JOINT+JOINT"
    ),
    output: Path | None = file_option(
        "Write the robot to a .toml or .urdf file.", callback=checked_robot_file
    ),
    plot: Plot = None,
    report: Path | None = optional("Write a page with tables and pictures (.html)."),
) -> None:  # fmt: skip
    """Find the parameters of a robot from logs of its motion, and check them on held-out data."""
    import armdyn
    from armdyn.errors import check_known
    from armdyn.identification.result import check_page

    if only is not None:
        check_known("special case", only, SPECIAL)
    if report is not None:
        check_page(report)
    if only == "payload" and (plot or report):
        raise typer.BadParameter("--only payload has no --plot and no --report")
    held = _validation(validate)
    others = held if isinstance(held, list) else []
    opened = robot.open()
    if coupled:
        drives = [{"name": x, "joints": dict.fromkeys(x.split("+"), 1.0)} for x in coupled]
        opened = opened.with_drives(drives)
    options = usual.keywords | {"gains": numbers("--gains", gains, (1, opened.n))}
    for name in REFUSED.get(only or "", ()):
        if options.pop(name) != signature(usual.func).parameters[name].default:
            raise typer.BadParameter(f"--only {only} has no --{name.replace('_', '-')}")
    if only == "payload" and not others:  # logs to validate with are those without it
        held = None
    logs = [str(path) for path in data]
    try:
        with status("identifying", "samples") as tell:
            run = getattr(armdyn, f"identify_{only}" if only else "identify")
            result = run(opened, logs, held, progress=tell, **options)
    except KeyboardInterrupt:
        print_line("stopped from the keyboard; nothing was written", stderr=True)
        raise typer.Exit(130) from None
    deliver(result, save=output, plot=plot, save_report=report)


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
