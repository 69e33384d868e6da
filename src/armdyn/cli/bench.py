"""`armdyn bench`: how fast the kernels are, here and now, beside other libraries."""

from armdyn.cli.console import deliver, status
from armdyn.cli.options import argument, flag, optional


def bench(
    robots: list[str] | None = argument(
        "[ROBOT]...", "Names or files of robots; without any, panda.", None
    ),
    *,
    quick: bool = flag("--quick", "Smaller batches, less time."),
    only: list[str] | None = optional("Measure this alone, as one_state; repeatable.", "NAME"),
    seconds: float | None = optional("How long to measure each case, in s.", min=0.0),
) -> None:
    """Measure speed beside Pinocchio, MuJoCo and the Robotics Toolbox."""
    from armdyn.bench.bench import bench as measure

    with status("starting") as tell:
        report = measure(robots or ("panda",), only or (), seconds, quick, tell)
    deliver(report)
