"""`armdyn simplify`: change an arm so that its dynamics become simple."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import typer

from armdyn.cli import console
from armdyn.cli.options import (
    Form,
    Plot,
    RobotSource,
    asking,
    checked_robot_file,
    file_option,
    named_numbers,
    option,
    pairs,
    ranges,
)
from armdyn.errors import check_known

OPTIONS = "free goal margin kept reach add_only counter_rotors symbolic"
RANGES, NUMBERS, LINKS = "WORD=LOW:HIGH,...", "WORD=NUMBER,...", "LINK:OTHER,..."


def simplify(
    robot: RobotSource,
    *,
    simplified: Any = asking(
        "armdyn.study.simplify.simplify:simplify", OPTIONS,
        bounds=Form(RANGES, partial(ranges, form=RANGES, open_ends=True)),
        weights=Form(NUMBERS, partial(named_numbers, form=NUMBERS)),
        trajectory=Form("CSV", lambda _, text: Path(text), "over"),
    ),
    by: str = option("masses", "masses, or springs: balance gravity by springs alone."),
    balanced: Any = asking(
        "armdyn.study.simplify.springs:spring_balance", "free_length",
        springs=Form(LINKS, lambda option, text: [*pairs(option, text, LINKS, ":")], "between"),
    ),
    output: Path | None = file_option(
        "Write the new robot to a .toml or .urdf file.", callback=checked_robot_file
    ),
    plot: Plot = None,
) -> None:  # fmt: skip
    """Find the smallest change of an arm that makes its dynamics simple.

    Exit code 0: the goal is reached. 1: it is not, and the design that comes nearest is given.
    2: bad input.
    """
    check_known("way to simplify by", by, ("masses", "springs"))
    if by == "springs":
        if output is not None:
            raise typer.BadParameter("--output: springs are no part of a robot file; take --json")
        goal = simplified.keywords["goal"]
        if goal not in ("gravity-balanced", "constant"):  # the default goal is that of masses
            raise typer.BadParameter(f"--goal {goal}: springs are for the goal gravity-balanced")
        with console.status("balancing"):
            balance = balanced(robot.open(), reach=simplified.keywords["reach"])
        console.deliver(balance, plot=plot, colour="green" if balance.exact else "red")
        raise typer.Exit(int(not balance.exact))
    arm = robot.open()
    with console.status("designing") as say:
        progress = lambda done, steps: say(f"searching lengths: {done} of {steps}")  # noqa: E731
        result = simplified(arm, progress=progress)
        say("comparing both arms")
        result.sections()
        if output is not None:
            result.robot.save(output)
    colour = "green" if result.feasible else "red"
    console.deliver(result, output, colour=colour, save=plot)
    raise typer.Exit(result.exit_code)
