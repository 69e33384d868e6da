"""`armdyn excite`: the motion that shows the parameters of an arm best."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armdyn.cli.console import deliver, status
from armdyn.cli.options import (
    Plot,
    RobotSource,
    asking,
    file_option,
    number,
    numbers,
    one_or_each,
    option,
    optional,
    pairs,
)

if TYPE_CHECKING:
    from armdyn.identification.excitation.search import Progress

_EACH = "V[,V,...]|JOINT=V,..."


OPTIONS = """
duration harmonics periods criterion margin clearance table obstacles geometry radius starts seed
"""


def excite(
    robot: RobotSource,
    *,
    excited: Any = asking("armdyn.identification.excitation.excite:excite", OPTIONS),
    output: Path | None = file_option(
        "Write the motion as t, q1..qn, qd1..qdn, qdd1..qddn.", "CSV"
    ),
    rate: float = option(100.0, "Lines of the file in a second."),
    parameters: str = option(
        "all", "What is to be found: all, links, or names of parameters, links and joints."
    ),
    position: str | None = optional(
        "Positions of joints; those of the robot by default.", "JOINT=LOW:HIGH,..."
    ),
    speed: str | None = optional("Largest speeds; those of the robot by default.", _EACH),
    acceleration: str | None = optional("Largest accelerations; none by default.", _EACH),
    torque: str | None = optional("Largest torques; those of the robot by default.", _EACH),
    start: str | None = optional("Where the motion starts and ends.", "Q1,..,QN"),
    plot: Plot = None,
) -> None:
    """Design a periodic motion for identification, within all limits and from rest to rest.

    Ctrl-C ends the search with the best motion so far.
    """
    if not rate > 0:
        raise typer.BadParameter(f"--rate: expected a positive number of lines, got {rate:g}")
    names = parameters.split(",")
    options: dict[str, Any] = {
        "parameters": names[0] if len(names) == 1 else names,
        "position": _ranges(position),
        "speed": _limits("--speed", speed),
        "acceleration": _limits("--acceleration", acceleration),
        "torque": _limits("--torque", torque),
    }
    arm = robot.open()
    options["start"] = numbers("--start", start, (arm.n,))
    with status("compiling the regressor") as say, _until_interrupted(say) as progress:
        motion = excited(arm, **options, progress=progress)
    if output is not None:
        motion.save(output, 1 / rate)
    deliver(motion, output, plot=plot)


@contextmanager
def _until_interrupted(say: Any) -> Iterator[Progress]:
    """Progress that is told on the terminal, and ends the search after the first Ctrl-C."""
    asked: list[int] = []

    def stop(number: int, _: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    def progress(share: float, condition: float) -> bool:
        say(f"searching: {100 * share:.0f} %, condition number {condition:.4g}")
        return bool(asked)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield progress
    finally:
        signal.signal(signal.SIGINT, before)


def _limits(option: str, text: str | None) -> Any:
    """One number for all joints, one for each, or some by the names of joints."""
    if text is None or "=" not in text:
        return one_or_each(option, text)
    return {name: number(option, value) for name, value in pairs(option, text, "JOINT=VALUE")}


def _ranges(text: str | None) -> dict[str, tuple[float, float]] | None:
    ranges = {}
    for name, value in pairs("--position", text, "JOINT=VALUE"):
        low, sign, high = value.partition(":")
        if not sign:
            raise typer.BadParameter(f"--position {name}: expected LOW:HIGH, got {value!r}")
        ranges[name] = number("--position", low), number("--position", high)
    return ranges or None
