"""How the time of a sweep divides into making states, evaluating and reducing them."""

from collections.abc import Callable
from time import thread_time

from armdyn.sweeping.compiled import reduce_block
from armdyn.sweeping.job import SweepJob

TIMED_STATES = 2**17
"""States that are timed."""
WORTH_TIMING = 2**20
"""States of a sweep that is worth it."""
REPEATS = 3

Shares = dict[str, float]


def measured_shares(job: SweepJob) -> Shares:
    """The shares of "generating", "evaluating" and "reducing", by parts of one block run alone."""
    block = job.plan.part(len(job.plan) // 2, TIMED_STATES)

    def generate() -> None:
        job.sweeper.run(job.states(block)[0])

    def evaluate() -> None:
        job.sweeper.run(job.states(block)[0] | {"evaluate": 1})

    def reduce() -> None:
        states, shift = job.states(block)
        reduce_block(job.sweeper, states, block, job.reductions, shift)

    made, evaluated, whole = map(_shortest, (generate, evaluate, reduce))
    evaluated = min(max(evaluated, made), whole)
    return {
        "generating": made / whole,
        "evaluating": (evaluated - made) / whole,
        "reducing": (whole - evaluated) / whole,
    }


def _shortest(run: Callable[[], None]) -> float:
    """Processor time of this thread [s]."""
    times = []
    for _ in range(REPEATS):
        start = thread_time()
        run()
        times.append(thread_time() - start)
    return min(times)
