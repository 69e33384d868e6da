"""Measure how the cost of every formulation grows with the joints; write and draw it where told."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from growth_picture import plot_growth
from growth_series import Series, exponent

from armdyn.bench.bench import random_states
from armdyn.bench.peers import Contender, alternate
from armdyn.cli.console import status
from armdyn.io.atomic import write_text
from armdyn.loading import from_dh
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from armdyn.robot import Robot
from armdyn.study.operations.count import METHODS, Method, stage_count

SIZES = (2, 3, 4, 6, 8, 11, 16, 23, 32)
"""Joints for which formulations are compared."""
MEMORY = 4_000_000
"""Bytes of the states of one run for any number of joints, so that caches have the same effect."""
PATIENCE = 3.0
"""A formulation stops at the size that takes longer than this [s]."""
SHOWN = ("inverse_dynamics", "mass_matrix", "coriolis")


def random_chain(n: int) -> Robot:
    """A serial arm of n revolute joints, general in every length, angle and inertia."""
    rng = np.random.default_rng(n)

    def row(first: bool) -> dict[str, Any]:
        spread = rng.uniform(-0.15, 0.15, (3, 3))
        moments = spread @ spread.T  # any mass distribution has such second moments
        return {
            "joint": "revolute",
            "a": 0.0 if first else rng.uniform(0.1, 0.3),
            "alpha": 0.0 if first else rng.uniform(0.3, 1.2),
            "d": 0.0 if first else rng.uniform(0.05, 0.2),
            "theta": 0.0,
            "mass": rng.uniform(0.5, 2.0),
            "com": rng.uniform(-0.1, 0.1, 3),
            "inertia": np.trace(moments) * np.eye(3) - moments,
        }

    return from_dh([row(i == 0) for i in range(n)], "modified", name=f"chain of {n} joints")


def chain_times(
    sizes: Sequence[int], seconds: float, tell: Callable[[str], None]
) -> tuple[list[float], float]:
    """Seconds of one state of inverse dynamics for chains of these sizes, and the exponent."""
    contenders = []
    for n in sizes:
        tell(f"compiling a chain of {n} joints")
        contenders.append(_contender(random_chain(n), None))
    tell("timing the chains")
    times = alternate(contenders, seconds)
    return times, exponent(sizes, times)


def growth(
    tell: Callable[[str], None],
    sizes: Sequence[int] = SIZES,
    patience: float = PATIENCE,
    seconds: float = 0.15,
) -> list[Series]:
    """Operations of every method for general arms, and times of the compiled formulations.

    Args:
        tell: Called with what is done next.
        sizes: Numbers of joints, growing.
        patience: A method stops at the size that took longer than this [s].
        seconds: How long each kernel is timed.
    """
    chosen = [m for m in METHODS if m.quantity in SHOWN and (m.function or m.quantity == SHOWN[0])]
    return [_series(method, tell, sizes, patience, seconds) for method in chosen]


def _series(
    method: Method,
    tell: Callable[[str], None],
    sizes: Sequence[int],
    patience: float,
    seconds: float,
) -> Series:
    found = Series(method.quantity, method.name, [], [], [], [])
    counting, timing = True, method.quantity == "inverse_dynamics"
    for n in sizes:
        tell(f"{method.quantity} by {method.name}, {n} joints")
        robot = random_chain(n)
        start = perf_counter()
        if counting:
            found.joints.append(n)
            found.operations.append(_operations(robot, method))
            counting = perf_counter() - start < patience
        start = perf_counter()
        if timing:
            contender = _contender(robot, method.name if method.function else None)
            timing = perf_counter() - start < patience
            found.timed.append(n)
            found.seconds.extend(alternate([contender], seconds))
    return found


def _operations(robot: Robot, method: Method) -> int:
    if method.function is None:
        program = quantity_program(robot.model, Request(method.quantity, friction=False))
        return program.operations.total
    counted = stage_count(robot.model, method, "written")
    assert counted is not None
    return counted.total


def _contender(robot: Robot, method: str | None) -> Contender:
    """The compiled inverse dynamics by a method."""
    kernel = robot.kernel("inverse_dynamics", friction=False, formulation=method).__self__
    states = max(64, MEMORY // (4 * 8 * robot.n))
    arrays = random_states(robot, states)
    out = np.empty((states, robot.n))
    kernel(*arrays, out=out)  # compiled here, where it counts against patience
    return Contender(robot.name, lambda: kernel(*arrays, out=out), states)


def main() -> None:
    """Measure, print, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="a .json file")
    parser.add_argument("--plot", type=Path, help="a .png, .pdf or .svg file")
    given = parser.parse_args()
    with status("starting") as tell:
        series = growth(tell)
    for one in series:
        print(f"{one.quantity:17} {one.method:25} operations grow as n^{one.exponent:.2f}")
    if given.output is not None:
        data = [one.data() for one in series]
        write_text(given.output, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    if given.plot is not None:
        plot_growth(series, given.plot)


if __name__ == "__main__":
    main()
