"""Cutting a program into segments, with a place in memory for what lives from one to the next.

One long block of code waits for its own results and spills registers. So a program is cut where few
values are alive, and each piece runs over several vectors of states before the next one begins.
"""

from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from armdyn.backends.llvm.lower import Angles, Layer, Lowered, Operation

LENGTHS = 100, 200
"""Fewest and most operations in a segment."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Straight-line operations on values loaded from slots, some of which are stored in slots."""

    operations: tuple[Operation, ...]
    loads: dict[int, int]
    """Slot of each value that comes from memory."""
    stores: dict[int, int]
    """Slot of each value that goes to memory."""


@dataclass(frozen=True, slots=True)
class SineCosine:
    """Sines and cosines of angles that lie in consecutive slots."""

    angles: int
    """First slot of the angles."""
    sines: int
    cosines: int
    count: int


@dataclass(slots=True)
class Plan:
    """Segments, sines and cosines in order, and where the outputs are at the end."""

    steps: list[Segment | SineCosine] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    """Slot of each output."""
    slots: int = 0
    """Slots in all; the inputs are in the first ones, in order."""


def plan(lowered: Lowered, lengths: tuple[int, int] = LENGTHS) -> Plan:
    """Where to cut, and what is where."""
    return _Planner(lowered).plan(*lengths)


class _Planner:
    """Gives every value that outlives its piece a slot, and slots that are free again to others."""

    def __init__(self, lowered: Lowered):
        self.lowered, self.program = lowered, lowered.program
        self.inputs = len(self.program.symbols)
        self.constants = range(self.inputs, self.inputs + len(self.program.constants))
        self.slot: dict[int, int] = {i: i for i in range(self.inputs)}
        self.free: list[int] = []
        self.slots = self.inputs
        self.last: dict[int, int] = {}

    def plan(self, shortest: int, longest: int) -> Plan:
        pieces: list[Layer] = []  # of operations, or of angles
        for layer in self.lowered.layers:
            cut = _cut(layer.operations, set(self.program.outputs), shortest, longest)
            pieces += [Layer(operations, ()) for operations in cut]
            pieces += [Layer((), layer.angles)] if layer.angles else []
        for place, piece in enumerate(pieces):  # after its last use a value has no slot any more
            for _, _, args in piece.operations:
                self.last |= dict.fromkeys(args, place)
            self.last |= dict.fromkeys((angle for angle, _, _ in piece.angles), place)
        self.last |= dict.fromkeys(self.program.outputs, len(pieces))
        result = Plan()
        for place, piece in enumerate(pieces):
            if piece.angles:
                result.steps += self._sine_cosine(piece.angles, place)
            else:
                result.steps.append(self._segment(piece.operations, place))
        constant = sorted({k for k in self.program.outputs if k in self.constants})
        if constant:
            result.steps.append(Segment((), {}, {k: self._take(k) for k in constant}))
        result.outputs, result.slots = [self.slot[k] for k in self.program.outputs], self.slots
        return result

    def _segment(self, operations: tuple[Operation, ...], place: int) -> Segment:
        made = [value for value, _, _ in operations]
        read = {a for _, _, args in operations for a in args if a not in self.constants}
        read.difference_update(made)
        loads = {a: self.slot[a] for a in sorted(read)}
        self._release(read, place)
        kept = [value for value in made if self.last.get(value, -1) > place]
        return Segment(operations, loads, {value: self._take(value) for value in kept})

    def _sine_cosine(self, angles: Angles, place: int) -> list[Segment | SineCosine]:
        """The angles brought side by side, if they are not yet; then their sines and cosines."""
        count = len(angles)
        start = self.slot.get(angles[0][0], -1)
        steps: list[Segment | SineCosine] = []
        if [self.slot.get(a, -1) for a, _, _ in angles] != list(range(start, start + count)):
            start, self.slots = self.slots, self.slots + count
            loads = {a: self.slot[a] for a, _, _ in angles if a in self.slot}
            steps.append(Segment((), loads, {a: start + i for i, (a, _, _) in enumerate(angles)}))
        sines, self.slots = self.slots, self.slots + 2 * count
        for i, (_, sine, cosine) in enumerate(angles):
            self.slot |= {sine: sines + i, cosine: sines + count + i}
        self.slot.pop(-1, None)
        self._release({a for a, _, _ in angles}, place)
        steps.append(SineCosine(start, sines, sines + count, count))
        return steps

    def _take(self, value: int) -> int:
        if not self.free:
            self.free, self.slots = [self.slots], self.slots + 1
        self.slot[value] = self.free.pop()
        return self.slot[value]

    def _release(self, values: set[int], place: int) -> None:
        for value in sorted(values):
            if self.last.get(value, -1) <= place and value in self.slot:
                self.free.append(self.slot[value])


def _cut(
    operations: tuple[Operation, ...], kept: set[int], shortest: int, longest: int
) -> list[tuple[Operation, ...]]:
    """The operations in pieces, so that the values alive at all cuts together are fewest.

    Only the last piece may be shorter than the shortest.
    """
    count = len(operations)
    if not count:
        return []
    cost = np.full(count + 1, np.inf)
    cost[0] = 0.0
    before = np.zeros(count + 1, dtype=int)
    alive = [*_alive(operations, kept)[:count], 0]
    for end in range(min(shortest, count), count + 1):
        first = max(0, end - longest)
        last = end - 1 if end == count else end - shortest
        before[end] = first + int(np.argmin(cost[first : last + 1]))
        cost[end] = cost[before[end]] + alive[end]
    ends = [count]
    while ends[-1] > 0:
        ends.append(int(before[ends[-1]]))
    return [operations[a:b] for a, b in pairwise(reversed(ends))]


def _alive(operations: tuple[Operation, ...], kept: set[int]) -> list[int]:
    """Before each operation, how many values made so far are used later."""
    last: dict[int, int] = {}
    for place, (value, _, args) in enumerate(operations):
        last[value] = len(operations) if value in kept else place
        last |= {a: max(place, last[a]) for a in args if a in last}
    change = [0] * (len(operations) + 2)
    for place, (value, _, _) in enumerate(operations):
        change[place + 1] += 1
        change[last[value] + 1] -= 1
    return list(accumulate(change[: len(operations) + 1]))
