"""`armdyn check`: what is suspicious in a description."""

from dataclasses import asdict

import typer

from armdyn.cli.console import print_json, print_line, print_styled
from armdyn.cli.options import Json, RobotSource, takes_robot
from armdyn.errors import counted

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@takes_robot
def check(robot: RobotSource, *, json: Json = False) -> None:
    """Report everything suspicious in a description.

    Exit code 0: nothing, or notes only. 1: warnings. 2: errors.
    """
    from armdyn.study.check.check import check_report, exit_code

    source = robot.source
    findings = check_report(source, robot.read)
    code = exit_code(findings)
    if json:
        print_json({"source": source, "exit_code": code, "findings": list(map(asdict, findings))})
        raise typer.Exit(code)
    for finding in findings:
        level = finding.level, STYLES[finding.level]
        print_styled(level, ": ", (finding.where, "bold"), f": {finding.message}")
    counts = ", ".join(
        counted(count, level)
        for level in STYLES
        if (count := sum(finding.level == level for finding in findings))
    )
    print_line(f"{source}: {counts or 'nothing to report'}")
    raise typer.Exit(code)
