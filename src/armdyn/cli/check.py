"""`armdyn check`: what is suspicious in a description."""

from dataclasses import asdict

import typer

from armdyn.cli.console import escape, print_json, print_markup
from armdyn.cli.options import Json, RobotSource, takes_robot

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@takes_robot
def check(robot: RobotSource, *, json: Json = False) -> None:
    """Report everything suspicious in a description.

    Exit code 0: nothing, or notes only. 1: warnings. 2: errors.
    """
    from armdyn.check.check import check_report, exit_code

    source = robot.source
    findings = check_report(source, robot.read)
    code = exit_code(findings)
    if json:
        print_json({"source": source, "exit_code": code, "findings": list(map(asdict, findings))})
        raise typer.Exit(code)
    for finding in findings:
        level = f"[{STYLES[finding.level]}]{finding.level}[/]"
        print_markup(f"{level}: [bold]{escape(finding.where)}[/]: {escape(finding.message)}")
    counts = ", ".join(
        f"{count} {level}{'s' * (count != 1)}"
        for level in STYLES
        if (count := sum(finding.level == level for finding in findings))
    )
    print_markup(f"{escape(source)}: {counts or 'nothing to report'}")
    raise typer.Exit(code)
