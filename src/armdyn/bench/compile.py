"""How long it takes until a kernel can be called: made anew, and loaded from the cache."""

import gc
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from armdyn.bench.robots import Arm
from armdyn.dynamics import Robot
from armdyn.io.folders import VARIABLE

FEWEST = 3
"""Robots that are compiled at least."""


def compile_and_load(arm: Arm, batch: tuple[int, ...], seconds: float) -> tuple[float, float]:
    """Seconds to the first torques of a robot: with nothing kept, and with the cache on disk.

    Each robot is another one by a gram in its hand, so nothing of the one before can be used.

    Args:
        arm: The robot.
        batch: Shape of the states, () for one; one state and batches have code of their own.
        seconds: How long to go on.
    """
    made: list[float] = []
    loaded: list[float] = []
    with _empty_cache():
        _first_torques(Robot(arm.robot.model), batch)  # LLVM itself is warm from here on
        end = perf_counter() + seconds
        while len(made) < FEWEST or perf_counter() < end:
            model = arm.robot.with_payload(1e-3 * (1 + len(made))).model
            made.append(_first_torques(Robot(model), batch))
            loaded.append(_first_torques(Robot(model), batch))
    return min(made), min(loaded)


def _first_torques(robot: Robot, batch: tuple[int, ...]) -> float:
    """The time of the first call, in which the code is made ready; it is gone with the robot."""
    still = np.zeros((*batch, robot.n))
    gc.collect()
    start = perf_counter()
    robot.inverse_dynamics(still, still, still, friction=False)
    return perf_counter() - start


@contextmanager
def _empty_cache() -> Iterator[None]:
    """A cache on disk of our own, and the user's afterwards."""
    before = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix="armdyn-bench-") as folder:
        os.environ[VARIABLE] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = before
