"""`armdyn check`: what is suspicious in a description."""

import typer

from armdyn.cli.console import print_line, print_styled, printed_as_json
from armdyn.cli.options import RobotSource

STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def check(robot: RobotSource) -> None:
    """Report everything suspicious in a description.

    Exit code 0: nothing, or notes only. 1: warnings. 2: errors.
    """
    from armdyn.study.check.check import check as checked

    result = checked(robot.source, read=robot.read)
    if not printed_as_json(result.data):
        for finding in result.findings:
            level = finding.level, STYLES[finding.level]
            print_styled(level, ": ", (finding.where, "bold"), f": {finding.message}")
        print_line(f"{result.source}: {result.summary}")
    raise typer.Exit(result.exit_code)
