"""Sweeps from end to end, beside the kernel alone."""

from collections.abc import Callable, Iterator
from functools import partial

from armdyn.bench.batches import batch_contender, random_states
from armdyn.bench.report import Speed
from armdyn.bench.timing import Contender, alternate
from armdyn.robot import Robot
from armdyn.sweeping.grid import Grid
from armdyn.sweeping.samples import Random, Sobol
from armdyn.sweeping.sweep import sweep

SWEPT = 20
"""Times as many states as in a batch."""


def sweep_rates(robot: Robot, seconds: float, count: int) -> Iterator[Speed]:
    """States made, evaluated and reduced to extremes in one loop, beside evaluated alone."""
    points = max(2, round((SWEPT * count) ** (1 / min(robot.n, 6))))
    moving = {f"q{k + 1}": (-1.0, 1.0, points) for k in range(min(robot.n, 6))}
    states = SWEPT * count
    ways = {
        f"grid of {points ** len(moving)} states": Grid(qd=0.5, qdd=1.0, **moving),
        f"{states} random states": Random(states, q=(-1, 1), qd=(-1, 1)),
        f"{states} points of Sobol": Sobol(states, q=(-1, 1), qd=(-1, 1)),
    }
    alone = batch_contender(robot, "inverse_dynamics", random_states(robot, count))

    def batches() -> None:
        for _ in range(SWEPT):
            alone.run()

    kernel = Contender("kernel", batches, states)  # as long, so that both are disturbed as often
    for what, over in ways.items():
        run: Callable[[], object] = partial(
            sweep, robot, "inverse_dynamics", over, "extremes", friction=False
        )
        size = points ** len(moving) if isinstance(over, Grid) else states
        times = alternate([Contender(what, run, size), kernel], seconds)
        told = f"sweep with extremes, {what}"
        yield Speed(robot.name, "sweep", told, times[0], "the kernel on a batch", times[1])
