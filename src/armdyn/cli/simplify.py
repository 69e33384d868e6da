"""`armdyn simplify`: change an arm so that its dynamics become simple."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import typer

from armdyn.cli import console
from armdyn.cli.options import (
    Plot,
    RobotSource,
    asking,
    checked_robot_file,
    file_option,
    number,
    option,
    optional,
    pairs,
)
from armdyn.errors import check_known


def simplify(
    robot: RobotSource,
    *,
    free: str | None = optional(
        "What may change: link2.com, link2.inertia.xx, link2.mass, link1.length, *.mass, "
        "or symbols such as x2; centres of mass and inertias of all links by default.",
        "WORD,...",
    ),
    goal: str = option(
        "constant",
        "constant, diagonal, decouple=1,2, gravity-balanced, shaking-force or shaking-moment, "
        "joined by +.",
    ),
    bounds: str | None = optional(
        "Limits of what may change; an end may be left open.", "WORD=LOW:HIGH,..."
    ),
    weights: str | None = optional(
        "What a squared change costs; 1 for the others.", "WORD=NUMBER,..."
    ),
    by: str = option("masses", "masses, or springs: balance gravity by springs alone."),
    springs: str | None = optional(
        "Where springs may be; from every link to the base by default.", "LINK:OTHER,..."
    ),
    balanced: Any = asking("armdyn.study.simplify.springs:spring_balance", "free_length"),
    simplified: Any = asking(
        "armdyn.study.simplify.simplify:simplify",
        "margin kept reach add_only counter_rotors symbolic",
    ),
    trajectory: Path | None = optional("The motion on which torques are compared.", "CSV"),
    output: Path | None = file_option(
        "Write the new robot to a .toml or .urdf file.", callback=checked_robot_file
    ),
    plot: Plot = None,
) -> None:
    """Find the smallest change of an arm that makes its dynamics simple.

    Exit code 0: the goal is reached. 1: it is not, and the design that comes nearest is given.
    2: bad input.
    """
    check_known("way to simplify by", by, ("masses", "springs"))
    if by == "springs":
        if output is not None:
            raise typer.BadParameter("--output: springs are no part of a robot file; take --json")
        if goal not in ("gravity-balanced", "constant"):  # the default goal is that of masses
            raise typer.BadParameter(f"--goal {goal}: springs are for the goal gravity-balanced")
        ends = [*pairs("--springs", springs, "LINK:OTHER,...", ":")]
        with console.status("balancing"):
            balance = balanced(robot.open(), ends or None, reach=simplified.keywords["reach"])
        console.deliver(balance, plot=plot, colour="green" if balance.exact else "red")
        raise typer.Exit(int(not balance.exact))
    ranges = pairs("--bounds", bounds, "WORD=LOW:HIGH,...")
    limits = {word: _pair(word, text) for word, text in ranges}
    costs = pairs("--weights", weights, "WORD=NUMBER,...")
    options: dict[str, Any] = {"bounds": limits, "over": trajectory}
    options["weights"] = {word: number(f"--weights {word}", text) for word, text in costs}
    arm = robot.open()
    with console.status("designing") as say:
        options["progress"] = lambda done, steps: say(f"searching lengths: {done} of {steps}")
        result = simplified(arm, free, goal, **options)
        say("comparing both arms")
        result.sections()
        if output is not None:
            result.robot.save(output)
    colour = "green" if result.feasible else "red"
    console.deliver(result, output, colour=colour, save=plot)
    raise typer.Exit(result.exit_code)


def _pair(word: str, text: str) -> tuple[float | None, float | None]:
    low, sign, high = text.partition(":")
    if not sign:
        raise typer.BadParameter(f"--bounds {word}: expected LOW:HIGH, got {text!r}")
    ends = [number(f"--bounds {word}", end) if end.strip() else None for end in (low, high)]
    if any(end is not None and math.isnan(end) for end in ends):
        raise typer.BadParameter(f"--bounds {word}: expected numbers, got {text!r}")
    return ends[0], ends[1]
