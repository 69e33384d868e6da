"""Batches of states, and what armdyn does with them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bench.peak import kernel_flops, peak_loop
from armdyn.bench.report import Speed
from armdyn.bench.timing import Contender, alternate
from armdyn.kernels.threads import set_threads, threads
from armdyn.loops.coordinates import coordinates_of
from armdyn.robot import Robot

CACHED_STATES = 2048
"""States that stay in the caches."""
MANY_STATES = 10
"""Times as many states as in a batch, on one thread and on all."""


def random_states(robot: Robot, count: int) -> list[Array]:
    """Positions, velocities and accelerations (or torques), each (count, n)."""
    rng = np.random.default_rng(count)
    q = coordinates_of(robot.model).drawn(rng, count)
    return [q, *rng.uniform(-1.0, 1.0, (2, count, robot.n))]


def batch_contender(robot: Robot, quantity: str, states: list[Array]) -> Contender:
    """The kernel of a quantity on a whole batch."""
    kernel = robot.kernel(quantity, friction=False)
    out = kernel(*states)

    def run() -> Array:
        return kernel(*states, out=out)

    return Contender(f"{quantity} of {robot.name!r} by armdyn", run, len(out), run)


def peak_share(robot: Robot, seconds: float, count: int) -> Iterator[Speed]:
    """Inverse dynamics beside the shortest time in which the processor can do its operations."""
    kernel: Any = robot.kernel("inverse_dynamics", friction=False)
    flops = kernel_flops(kernel.__self__)
    for states in (CACHED_STATES, count):
        ours = batch_contender(robot, "inverse_dynamics", random_states(robot, states))
        time, operation = alternate([ours, peak_loop().contender()], seconds)
        what = f"{flops} operations of inverse dynamics, {states} states"
        peak = f"peak of {1e-9 / operation:.1f} GFLOP/s"
        yield Speed(robot.name, "peak", what, time, peak, flops * operation)


def on_threads(robot: Robot, seconds: float, count: int) -> Iterator[Speed]:
    """Inverse dynamics of many states on all threads beside one."""
    many, count = threads(), MANY_STATES * count
    alone = batch_contender(robot, "inverse_dynamics", random_states(robot, count))

    def together() -> None:
        set_threads(many)
        alone.run()
        set_threads(1)

    times = alternate([Contender("", together, count), alone], seconds)
    what = f"batch inverse dynamics, {count} states, {many} threads"
    yield Speed(robot.name, "threads", what, times[0], "one thread", times[1])
