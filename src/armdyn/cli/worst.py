"""`armdyn worst`: which position, speed and payload ask most of which motor."""

from functools import partial
from typing import Any

from armdyn.cli.console import deliver, status
from armdyn.cli.options import EACH, Form, Plot, RobotSource, asking, number

SHARE = Form("G[%]", lambda o, x: number(o, x.removesuffix("%")) / (100 if "%" in x else 1))


def worst(
    robot: RobotSource,
    *,
    search: Any = asking(
        *("armdyn.study.sizing.worst_case:worst_case", "lift speed friction prove"),
        acceleration=EACH,
        gap=SHARE,
    ),
    plot: Plot = None,
) -> None:
    """Find the state that asks most of each motor, over all that the limits allow."""
    arm = robot.open()
    with status("compiling the torques", "motors") as tell:
        found = search(arm, progress=partial(tell, "searching"))
    deliver(found, plot=plot)
