"""Searching among the ways to write a model for the one with the fewest operations.

The search knows nothing of robots: it is given places in which a point may change, and the cost of
a point. It is deterministic.
"""

import math
import random
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

C = TypeVar("C", bound=Hashable)

Progress = Callable[[int, int, int], object]
"""Called with steps done, steps in all, and the lowest cost so far; the search ends if it returns
True."""

Price = Callable[[C], int]
Place = Callable[[C], Sequence[C]]
"""Gives the points that differ from a point in one place at most, in a fixed order."""

POINTS_TRIED, KICKS, PLACES_KICKED = 450, 50, 4
"""A search leaves its best point by changing places at random: so many times, and so many places
each time, unless so many different points have been tried before."""
STEPS = 4000
"""Steps of annealing."""


def search(
    starts: Sequence[C],
    places: Sequence[Place[C]],
    cost: Price[C],
    *,
    deep: bool = False,
    progress: Progress | None = None,
    points: int = POINTS_TRIED,
) -> dict[C, int]:
    """The points met from some starts on with their costs, the cheapest first.

    Later passes may prefer another one than the cheapest. Of starts of equal cost only the first is
    used. After `points` different points the best one is not left any more. A deep search goes on
    by annealing, which `progress` belongs to.
    """
    known: dict[C, int] = {}

    def price(point: C) -> int:
        found = known.get(point)  # hashing a point takes longer than anything else here
        if found is None:
            found = known[point] = cost(point)
        return found

    first = {price(start): start for start in reversed(starts)}
    best = min((_descend(places, start, price) for start in first.values()), key=price)
    draw = random.Random(0)
    for _ in range(KICKS):
        if len(known) < points:
            best = _kick(places, best, price, draw)
    if deep:
        best = _anneal(places, best, price, draw, progress)
    return {c: known[c] for c in sorted(known, key=lambda c: (known[c], c != best))}


def _descend(places: Sequence[Place[C]], at: C, price: Price[C]) -> C:
    """Coordinate descent: sweep over all places until a whole sweep saves nothing."""
    while True:
        before = price(at)
        for vary in places:
            at = min((at, *vary(at)), key=price)
        if price(at) == before:
            return at


def _kick(places: Sequence[Place[C]], best: C, price: Price[C], draw: random.Random) -> C:
    """The lowest point of a descent from near the best point, if it is no higher."""
    at = best
    for _ in range(PLACES_KICKED):
        at = draw.choice(draw.choice(places)(at))
    return min((_descend(places, at, price), best), key=price)


def _anneal(
    places: Sequence[Place[C]],
    at: C,
    price: Price[C],
    draw: random.Random,
    progress: Progress | None,
) -> C:
    """Annealing with falling temperature, and a descent from every new best point."""
    best = at
    for step in range(STEPS):
        temperature = 2.5 * (1.0 - step / STEPS) + 0.1
        other = draw.choice(draw.choice(places)(at))
        rise = price(other) - price(at)
        if rise <= 0 or draw.random() < math.exp(-rise / temperature):
            at = other
        if price(at) < price(best):
            best = at = _descend(places, at, price)
        if progress is not None and step % 50 == 0 and progress(step, STEPS, price(best)) is True:
            break
    return best
