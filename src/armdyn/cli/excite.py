"""`armdyn excite`: the motion that shows the parameters of an arm best."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armdyn.cli.console import deliver, status
from armdyn.cli.options import (
    Form,
    Plot,
    RobotSource,
    asking,
    each_or_named,
    file_option,
    names_in_text,
    numbers,
    option,
    ranges,
)

if TYPE_CHECKING:
    from armdyn.identification.excitation.search import Progress

LIMITS = Form("V[,V,...]|JOINT=V,...", each_or_named)
RANGES = Form("JOINT=LOW:HIGH,...", partial(ranges, form="JOINT=LOW:HIGH,..."))
OPTIONS = """
duration harmonics periods criterion margin clearance table obstacles geometry radius starts seed
"""


def excite(
    robot: RobotSource,
    *,
    excited: Any = asking(
        "armdyn.identification.excitation.excite:excite", OPTIONS,
        parameters=Form("NAME,...", names_in_text), position=RANGES, speed=LIMITS,
        acceleration=LIMITS, torque=LIMITS, start=Form("Q1,..,QN", numbers),
    ),
    output: Path | None = file_option(
        "Write the motion as t, q1..qn, qd1..qdn, qdd1..qddn.", "CSV"
    ),
    rate: float = option(100.0, "Lines of the file in a second."),
    plot: Plot = None,
) -> None:  # fmt: skip
    """Design a periodic motion for identification, within all limits and from rest to rest.

    Ctrl-C ends the search with the best motion so far.
    """
    if not rate > 0:
        raise typer.BadParameter(f"--rate: expected a positive number of lines, got {rate:g}")
    arm = robot.open()
    with status("compiling the regressor") as say, _until_interrupted(say) as progress:
        motion = excited(arm, progress=progress)
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
