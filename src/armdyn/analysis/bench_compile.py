"""How long it takes until a kernel can be called: made anew, and loaded from the cache."""

import gc
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from armdyn.analysis.bench_robots import Arm
from armdyn.dynamics import Robot
from armdyn.io.folders import VARIABLE

FEWEST = 3
"""Robots that are compiled at least."""


def compile_and_load(arm: Arm, seconds: float) -> tuple[float, float]:
    """Seconds to make the kernel of inverse dynamics, and to load it from the cache.

    Each robot is another one by a gram in its hand, so nothing of the one before can be used.

    Args:
        arm: The robot.
        seconds: How long to go on.
    """
    made: list[float] = []
    loaded: list[float] = []
    with _empty_cache():
        _ready(arm.robot)  # LLVM itself is warm from here on
        end = perf_counter() + seconds
        while len(made) < FEWEST or perf_counter() < end:
            model = arm.robot.with_payload(1e-3 * (1 + len(made))).model
            made.append(_timed(Robot(model)))
            loaded.append(_timed(Robot(model)))
    return min(made), min(loaded)


def _timed(robot: Robot) -> float:
    """The time to the first call that is possible; the kernel is gone afterwards."""
    gc.collect()
    start = perf_counter()
    _ready(robot)
    return perf_counter() - start


def _ready(robot: Robot) -> None:
    robot.kernel("inverse_dynamics", friction=False)


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
