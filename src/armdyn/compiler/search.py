"""Searching among the ways to write a model for the one with the fewest operations.

The search knows nothing of robots: it is given a space of choices and the cost of a point in it. It
is deterministic.
"""

import math
import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

C = TypeVar("C", bound=Hashable)

Progress = Callable[[int, int, int], object]
"""Called with steps done, steps in all, and the lowest cost so far; the search ends if it returns
True."""

Price = Callable[[C], int]

RUNNERS_UP = 99
"""How many points are kept besides the best."""


class Space(Protocol[C]):
    """What can be chosen: a number of places with a few values each."""

    @property
    def starts(self) -> Sequence[C]:
        """Where to begin; of those of equal cost only the first is used."""

    @property
    def size(self) -> int:
        """How many places there are."""

    @property
    def drifting(self) -> int:
        """How many of them, from the first, have values of equal cost that may lead further."""

    def vary(self, at: C, place: int) -> Sequence[C]:
        """The points that differ from a point in one place at most, in a fixed order."""


@dataclass(frozen=True, slots=True)
class Found(Generic[C]):
    """The result of a search."""

    choices: C
    cost: int
    tried: int
    """How many different points were evaluated."""
    near: tuple[C, ...]
    """Up to a hundred of the cheapest points met, the best first; later passes may prefer another
    one than the best."""


def search(
    space: Space[C],
    cost: Price[C],
    *,
    deep: bool = False,
    progress: Progress | None = None,
    steps: int = 4000,
    seed: int = 0,
) -> Found[C]:
    """The cheapest point found in a space of choices.

    A deep search goes on by annealing after the descent, which takes minutes instead of seconds;
    `steps`, `seed` and `progress` belong to it.
    """
    known: dict[C, int] = {}

    def price(point: C) -> int:
        if point not in known:
            known[point] = cost(point)
        return known[point]

    starts = {price(start): start for start in reversed(space.starts)}
    best = min((_descend(space, start, price) for start in starts.values()), key=price)
    if deep:
        best = _anneal(space, best, price, steps, random.Random(seed), progress)
    near = sorted((c for c in known if c != best), key=lambda c: known[c])[:RUNNERS_UP]
    return Found(best, price(best), len(known), (best, *near))


def _descend(space: Space[C], at: C, price: Price[C]) -> C:
    """Coordinate descent: sweep over all places until a whole sweep saves nothing.

    Once it stands still, a sweep moves on among values of equal cost, which crosses plateaus.
    """
    drift = False
    while True:
        found = _sweep(space, at, price, drift)
        if price(found) < price(at):
            at, drift = found, False
        elif drift:
            return at
        else:
            drift = True


def _sweep(space: Space[C], at: C, price: Price[C], drift: bool) -> C:
    """One pass over all places; with drift, to the next of several values of equal cost."""
    for place in range(space.drifting if drift else space.size):
        points = space.vary(at, place)
        lowest = min(map(price, points))
        if drift:
            equal = [point for point in points if price(point) == lowest]
            at = equal[(equal.index(at) + 1) % len(equal)] if at in equal else equal[0]
        elif lowest < price(at):
            at = min(points, key=price)
    return at


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
