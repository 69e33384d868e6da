"""`armdyn check`: what is suspicious in a description."""

import typer

from armdyn.cli.console import print_json, print_line, print_styled
from armdyn.cli.options import Json, RobotSource, takes_robot

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@takes_robot
def check(robot: RobotSource, *, json: Json = False) -> None:
    """Report everything suspicious in a description.

    Exit code 0: nothing, or notes only. 1: warnings. 2: errors.
    """
    from armdyn.study.check.check import check as checked

    result = checked(robot.source, read=robot.read)
    if json:
        print_json(result.data())
        raise typer.Exit(result.exit_code)
    for finding in result.findings:
        level = finding.level, STYLES[finding.level]
        print_styled(level, ": ", (finding.where, "bold"), f": {finding.message}")
    print_line(f"{result.source}: {result.summary}")
    raise typer.Exit(result.exit_code)
