"""`armdyn check`: what is suspicious in a description."""

from dataclasses import asdict

import typer

from armdyn.cli.options import Json, RobotSource, takes_robot

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@takes_robot
def check(robot: RobotSource, *, json: Json = False) -> None:
    """Report everything suspicious in a description.

    Exit code 0: nothing, or notes only. 1: warnings. 2: errors.
    """
    from rich.markup import escape

    from armdyn.check.check import check_report, exit_code
    from armdyn.cli.console import console, print_json

    source = robot.source
    findings = check_report(source, robot.read)
    code = exit_code(findings)
    if json:
        print_json({"source": source, "exit_code": code, "findings": list(map(asdict, findings))})
        raise typer.Exit(code)
    screen = console()
    for finding in findings:
        level = f"[{STYLES[finding.level]}]{finding.level}[/]"
        screen.print(
            f"{level}: [bold]{escape(finding.where)}[/]: {escape(finding.message)}", soft_wrap=True
        )
    counts = ", ".join(
        f"{count} {level}{'s' * (count != 1)}"
        for level in STYLES
        if (count := sum(finding.level == level for finding in findings))
    )
    screen.print(f"{escape(source)}: {counts or 'nothing to report'}", soft_wrap=True)
    raise typer.Exit(code)
