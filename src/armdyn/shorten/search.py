"""Searching among the ways to write a model for the one with the fewest operations.

The search knows nothing of robots: it is given a space of choices and the cost of a point in it. It
is deterministic.
"""

import math
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar

C = TypeVar("C", bound=Hashable)

Progress = Callable[[int, int, int], object]
"""Called with steps done, steps in all, and the lowest cost so far; the search ends if it returns
True."""

Price = Callable[[C], int]

POINTS_TRIED, KICKS, PLACES_KICKED = 450, 50, 4
"""A search leaves its best point by changing places at random: so many times, and so many places
each time, unless so many different points have been tried before."""


class Space(Protocol[C]):
    """What can be chosen: a number of places with a few values each."""

    @property
    def starts(self) -> Sequence[C]:
        """Where to begin; of those of equal cost only the first is used."""

    @property
    def size(self) -> int:
        """How many places there are."""

    def vary(self, at: C, place: int) -> Sequence[C]:
        """The points that differ from a point in one place at most, in a fixed order."""


def search(
    space: Space[C],
    cost: Price[C],
    *,
    deep: bool = False,
    progress: Progress | None = None,
    points: int = POINTS_TRIED,
    steps: int = 4000,
    seed: int = 0,
) -> dict[C, int]:
    """The points met in a space of choices with their costs, the cheapest first.

    Later passes may prefer another one than the cheapest. After `points` different points the best
    one is not left any more. A deep search goes on by annealing; `steps` and `progress` belong to
    it.
    """
    known: dict[C, int] = {}

    def price(point: C) -> int:
        if point not in known:
            known[point] = cost(point)
        return known[point]

    starts = {price(start): start for start in reversed(space.starts)}
    best = min((_descend(space, start, price) for start in starts.values()), key=price)
    draw = random.Random(seed)
    for _ in range(KICKS):
        if len(known) < points:
            best = _kick(space, best, price, draw)
    if deep:
        best = _anneal(space, best, price, steps, draw, progress)
    return {c: known[c] for c in sorted(known, key=lambda c: (known[c], c != best))}


def _descend(space: Space[C], at: C, price: Price[C]) -> C:
    """Coordinate descent: sweep over all places until a whole sweep saves nothing."""
    while True:
        before = price(at)
        for place in range(space.size):
            at = min((at, *space.vary(at, place)), key=price)
        if price(at) == before:
            return at


def _kick(space: Space[C], best: C, price: Price[C], draw: random.Random) -> C:
    """The lowest point of a descent from near the best point, if it is no higher."""
    at = best
    for _ in range(PLACES_KICKED):
        at = draw.choice(space.vary(at, draw.randrange(space.size)))
    return min((_descend(space, at, price), best), key=price)


def _anneal(
    space: Space[C],
    at: C,
    price: Price[C],
    steps: int,
    draw: random.Random,
    progress: Progress | None,
) -> C:
    """Annealing with falling temperature, and a descent from every new best point."""
    best = at
    for step in range(steps):
        temperature = 2.5 * (1.0 - step / steps) + 0.1
        other = draw.choice(space.vary(at, draw.randrange(space.size)))
        rise = price(other) - price(at)
        if rise <= 0 or draw.random() < math.exp(-rise / temperature):
            at = other
        if price(at) < price(best):
            best = at = _descend(space, at, price)
        if progress is not None and step % 50 == 0 and progress(step, steps, price(best)) is True:
            break
    return best
