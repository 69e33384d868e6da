"""`armdyn simplify --by springs`: balance the weight of an arm by springs."""

from functools import partial
from pathlib import Path

import typer

from armdyn.cli import console
from armdyn.cli.options import RobotSource


def balance_by_springs(
    robot: RobotSource,
    goal: str,
    springs: str | None,
    free_length: float,
    reach: float | None,
    plot: Path | None,
    json: bool,
) -> None:
    """Find springs, print them, and end with 0 if the balance is exact, with 1 if it is not."""
    from armdyn.study.simplify.springs import spring_balance

    if goal not in ("gravity-balanced", "constant"):  # the default goal is that of masses
        raise typer.BadParameter(f"--goal {goal}: springs are for the goal gravity-balanced")
    between = None if springs is None else [_pair(word) for word in springs.split(",")]
    with console.status("balancing"):
        found = spring_balance(robot.open(), between, free_length=free_length, reach=reach)
        if plot is not None:
            found.plot(plot)
    show = partial(console.print_sections, found.sections(), "green" if found.exact else "red")
    console.print_result(found.data(), show, (plot,), json)
    raise typer.Exit(int(not found.exact))


def _pair(word: str) -> tuple[str, str]:
    link, sign, other = word.partition(":")
    if not sign or not link.strip() or not other.strip():
        raise typer.BadParameter(f"--springs: expected LINK:OTHER,..., got {word!r}")
    return link.strip(), other.strip()
