"""Fair times on a shared machine: contenders take turns, and the shortest time of each counts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import BenchmarkError
from armdyn.kernels.threads import set_threads, threads

TURN_SECONDS = 0.01
"""How long a contender runs before the next one has its turn."""
LOOP = 500
"""States that are computed in one run of a loop in Python."""
FEWEST_ROUNDS = 3
"""Every contender has at least as many turns."""
AGREEMENT = 1e-9
"""Largest difference of two results, relative to the largest entry."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A function that is timed."""

    name: str
    run: Callable[[], object]
    states: int
    """How many states one run computes."""
    result: Callable[[], Array] | None = None
    """Computes the results of the first states; None: they are not compared with others."""


def loop(
    name: str,
    compute: Callable[..., Any],
    rows: Sequence[Sequence[Array]],
    ordered: Callable[[Any], Array] = np.array,
) -> Contender:
    """A function that is called for one state after the other; `ordered` copies its result."""

    def run() -> None:
        for row in rows:
            compute(*row)

    def result() -> Array:
        return np.array([ordered(compute(*row)) for row in rows])

    return Contender(name, run, len(rows), result)


def alternate(contenders: Sequence[Contender], seconds: float) -> list[float]:
    """The shortest time that each takes for one state [s], on one thread.

    They take turns until the time is over, so that a slow phase of the machine slows all of them.
    """
    best = [np.inf] * len(contenders)
    rounds, end, before = 0, perf_counter() + seconds, threads()
    set_threads(1)
    try:
        while rounds < FEWEST_ROUNDS or perf_counter() < end:
            for k, contender in enumerate(contenders):
                best[k] = min(best[k], _turn(contender.run) / contender.states)
            rounds += 1
    finally:
        set_threads(before)
    return best


def _turn(run: Callable[[], object]) -> float:
    """The shortest run of a turn; a long run is a turn by itself."""
    best, before = np.inf, perf_counter()
    end = before + TURN_SECONDS
    while before < end:
        run()
        after = perf_counter()
        best, before = min(best, after - before), after
    return best


def check_agreement(contenders: Iterable[Contender]) -> None:
    """Raise a BenchmarkError unless all contenders give the results of the first one."""
    (ours, found), *others = [(c.name, c.result()) for c in contenders if c.result is not None]
    for name, theirs in others:
        common = min(len(found), len(theirs))
        a, b = found[:common], theirs[:common]
        if a.shape != b.shape:
            raise BenchmarkError(
                f"{ours} gives shape {a.shape} and {name} {b.shape}; they are not given "
                "the same robot, so no time is reported"
            )
        apart = float(np.abs(a - b).max() / np.abs(b).max())
        if not apart <= AGREEMENT:
            raise BenchmarkError(
                f"{ours} and {name} differ by {apart:.1e} of the largest entry, "
                f"expected at most {AGREEMENT:g}; one of them is wrong, so no time is "
                "reported. Empty the cache with 'armdyn cache --clear' and run again; if they "
                "still differ, report it"
            )
