"""Fair times on a shared machine: contenders take turns, and the shortest time of each counts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from armdyn.arrays import Array
from armdyn.backends.threads import set_threads, threads
from armdyn.errors import BenchmarkError

TURN_SECONDS = 0.01
"""How long a contender runs before the next one has its turn."""
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
    """The results of the first states; None: they are not compared with those of the others."""


def alternate(contenders: Sequence[Contender], seconds: float) -> list[float]:
    """The shortest time that each takes for one state [s], on one thread.

    They take turns until the time is over, so that a slow phase of the machine slows all of them.

    Args:
        contenders: The functions.
        seconds: How long all of them are timed together.
    """
    best = [np.inf] * len(contenders)
    rounds, end = 0, perf_counter() + seconds
    with _one_thread():
        while rounds < FEWEST_ROUNDS or perf_counter() < end:
            for k, contender in enumerate(contenders):
                best[k] = min(best[k], _turn(contender.run) / contender.states)
            rounds += 1
    return best


@contextmanager
def _one_thread() -> Iterator[None]:
    before = threads()
    set_threads(1)
    try:
        yield
    finally:
        set_threads(before)


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
    """Raise an error unless all contenders give the results of the first one.

    Raises:
        BenchmarkError: Two results differ.
    """
    ours, *others = [c for c in contenders if c.result is not None]
    found = _computed(ours)
    for other in others:
        theirs = _computed(other)
        common = min(len(found), len(theirs))
        a, b = found[:common], theirs[:common]
        if a.shape != b.shape:
            raise BenchmarkError(
                f"{ours.name} gives shape {a.shape} and {other.name} {b.shape}; they are not given "
                "the same robot, so no time is reported"
            )
        apart = float(np.abs(a - b).max() / np.abs(b).max())
        if not apart <= AGREEMENT:
            raise BenchmarkError(
                f"{ours.name} and {other.name} differ by {apart:.1e} of the largest entry, "
                f"expected at most {AGREEMENT:g}; one of them is wrong, so no time is "
                "reported. Empty the cache with 'armdyn cache --clear' and run again; if they "
                "still differ, report it"
            )


def _computed(contender: Contender) -> Array:
    assert contender.result is not None
    contender.run()
    return contender.result()
