"""Annealing of choices: over barriers that a descent stays below, and never worse than its start."""

import random

import pytest

from armdyn.shorten.search import STEPS, _anneal

HEIGHTS = (2, 3, 5, 3, 2, 4, 6, 1, 0, 4)
"""Two valleys that no descent leaves, and the lowest point behind them."""
WAYS = [
    lambda x: [max(x - 1, 0)],
    lambda x: [min(x + 1, len(HEIGHTS) - 1)],
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("start", [0, 4, 9])
def test_annealing_finds_the_lowest_of_several_valleys(start, seed):
    found = _anneal(WAYS, start, HEIGHTS.__getitem__, random.Random(seed), None)
    assert HEIGHTS[found] == 0


def test_no_rise_is_so_high_that_annealing_ends_worse_than_it_began():
    steep = [1e6 * x for x in HEIGHTS]
    for start, end in ((0, 0), (1, 0), (3, 4), (5, 4), (7, 8), (9, 8)):
        assert _anneal(WAYS, start, steep.__getitem__, random.Random(1), None) == end


def test_progress_is_told_every_fifty_steps_and_ends_it():
    told = []
    found = _anneal(WAYS, 0, HEIGHTS.__getitem__, random.Random(0), lambda *step: told.append(step))
    assert [step for step, *_ in told] == list(range(0, STEPS, 50))
    assert {most for _, most, _ in told} == {STEPS}
    best = [value for *_, value in told]
    assert best == sorted(best, reverse=True)
    assert best[-1] == HEIGHTS[found]
    told.clear()
    _anneal(
        WAYS,
        0,
        HEIGHTS.__getitem__,
        random.Random(0),
        lambda *step: bool(told.append(step)) or len(told) == 3,
    )
    assert len(told) == 3
